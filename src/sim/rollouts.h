// Rollouts: replaces pods of older templates by newer ones at the pace that each workload allows (input/rollout.h), as
// its controller would. A pod with a node counts as available; one without keeps the older ones where they are.
//
// Runs between scheduling attempts, when no pod is ready. Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "input/rollout.h"

namespace berth::sim {

// How far a rollout got.
struct RolloutReport {
  std::string workload;  // "Deployment shop/web"
  size_t wanted = 0;
  size_t updated = 0;   // pods of the newer template that have a node
  size_t old_left = 0;  // pods of the older template that could not be removed

  bool complete() const { return old_left == 0 && updated >= wanted; }
};

class Rollouts {
 public:
  // What a controller can do and see.
  struct Hooks {
    // Empty, or why the API server refuses to create the pod.
    std::function<std::string(const std::shared_ptr<const api::Pod>& pod)> create;
    std::function<void(const std::string& uid)> remove;
    std::function<bool(const std::string& uid)> has_node;
  };

  Rollouts(std::vector<input::Rollout> rollouts, Hooks hooks);

  // Advances every rollout by one step; false when none can proceed.
  bool Advance();

  // Newer pods that have not been created, each with the reason: the API server refuses it, or its turn has not come.
  template <class Visit>
  void ForEachWaiting(Visit visit) const {
    for (const State& state : states_) {
      for (size_t i = state.created; i < state.rollout.new_pods.size(); ++i)
        visit(state.rollout.new_pods[i], WhyWaiting(state, i));
    }
  }
  std::vector<RolloutReport> Report() const;

 private:
  struct State {
    input::Rollout rollout;
    size_t created = 0;        // of new_pods
    size_t removed = 0;        // of old_uids
    std::string refusal = {};  // of the next new pod
  };

  static std::string WhyWaiting(const State& state, size_t position);
  bool AdvanceAnyFirst(State& state);
  bool AdvanceInTurn(State& state);
  bool CreateNext(State& state);
  bool RemoveNext(State& state);
  size_t NewWithNode(const State& state) const;
  size_t UpdatedWithNode(const State& state) const;
  // Among the older pods that have not been removed; others may have evicted them.
  size_t OldWithNode(const State& state) const;

  std::vector<State> states_;
  const Hooks hooks_;
};

}  // namespace berth::sim
