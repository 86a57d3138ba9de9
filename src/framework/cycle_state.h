// CycleState: what plugins precompute for one pod in one scheduling cycle.
// Each plugin instance gets a typed slot from its Handle when it is made, so reading state is an array access and a
// plugin cannot touch another's data. Clone() serves preemption, which tries changes on a copy.
// Not thread-safe while being written; Filter and Score only read it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/ticket.h"
#include "framework/pod_in_pre_bind.h"

namespace berth::framework {

class StateData {
 public:
  virtual ~StateData() = default;
  // A copy that may be changed without affecting the original. Data that no AddPod or RemovePod changes may be shared:
  // return std::make_unique of a thin wrapper around a shared_ptr.
  virtual std::unique_ptr<StateData> Clone() const = 0;
};

// Derive state from this to get Clone from the copy constructor.
template <class T>
class CopyableState : public StateData {
 public:
  std::unique_ptr<StateData> Clone() const override { return std::make_unique<T>(static_cast<const T&>(*this)); }
};

// One plugin's typed place in every CycleState of its profile.
template <class T>
class StateKey {
 public:
  explicit StateKey(uint32_t slot) : slot_(slot) {}
  uint32_t slot() const { return slot_; }

 private:
  uint32_t slot_;
};

class CycleState {
 public:
  explicit CycleState(uint32_t slots = 0) : data_(slots) {}
  CycleState(CycleState&&) = default;
  CycleState& operator=(CycleState&&) = default;

  // Null when the plugin stored nothing in this cycle.
  template <class T>
  const T* Find(StateKey<T> key) const {
    return key.slot() < data_.size() ? static_cast<const T*>(data_[key.slot()].get()) : nullptr;
  }
  template <class T>
  T* FindMutable(StateKey<T> key) {
    return key.slot() < data_.size() ? static_cast<T*>(data_[key.slot()].get()) : nullptr;
  }
  // For data the plugin's own earlier extension point must have stored.
  template <class T>
  const T& Get(StateKey<T> key) const {
    const T* data = Find(key);
    CHECK_WHY(data != nullptr, "cycle state read before its plugin wrote it");
    return *data;
  }
  template <class T>
  void Put(StateKey<T> key, std::unique_ptr<T> data) {
    if (key.slot() >= data_.size()) data_.resize(key.slot() + 1);
    data_[key.slot()] = std::move(data);
  }

  CycleState Clone() const {
    CycleState copy(static_cast<uint32_t>(data_.size()));
    for (size_t i = 0; i < data_.size(); ++i) {
      if (data_[i]) copy.data_[i] = data_[i]->Clone();
    }
    copy.skip_filter = skip_filter;
    copy.skip_score = skip_score;
    copy.skip_pre_bind = skip_pre_bind;
    copy.attempt = attempt;
    copy.exhaustive_preemption = exhaustive_preemption;
    copy.verify_incremental = verify_incremental;
    return copy;
  }

  // Plugins that returned Skip in PreFilter or PreScore, as bits by position in the profile; maintained by the runtime.
  uint64_t skip_filter = 0;
  uint64_t skip_score = 0;
  // The same for PreBindPreFlight; unset until it has run.
  std::optional<uint64_t> skip_pre_bind{};
  // Which attempt to schedule the pod this is; set from Reserve on. Answers about the waiting pod may carry it.
  base::Ticket attempt = base::Ticket::kNone;
  // Whether the binding has been cancelled, for plugins that wait in PreBind. Set in the binding cycle only; null where
  // the binding cannot be cancelled.
  std::shared_ptr<PodInPreBind> in_pre_bind{};
  // Preemption looks at every candidate, in node order, instead of a bounded random sample; for explanations and
  // replay.
  bool exhaustive_preemption = false;
  // Plugins that answer from kept state compare it with an answer from scratch; a difference ends the program.
  bool verify_incremental = false;

 private:
  std::vector<std::unique_ptr<StateData>> data_;
};

}  // namespace berth::framework
