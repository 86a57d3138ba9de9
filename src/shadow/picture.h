// Picture: what a driver knows of a cluster, with the changes of the last while, so that any object can be what it was
// before one of them, or what it will be after one that is still to come.
//
// A pod that its scheduler has announced for a node, though it is not bound yet (nominatedNodeName while volumes or
// devices are made ready), counts as being there: that is how that scheduler sees it.
//
// Not thread-safe. Nothing is ever scheduled by the driver.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/clock.h"
#include "scheduler/driver.h"

namespace berth::shadow {

// What happened to an object of the cluster.
struct Change {
  base::Time time{};
  bool deleted = false;
  api::Object object;  // the last known state of one that was deleted
};

// A change of something that scheduling reads. Of an announced pod the objects are as if it were bound.
struct PastChange {
  uint64_t number = 0;
  base::Time time{};
  std::optional<api::Object> before;  // unset: it was not there
  std::optional<api::Object> after;   // unset: it is gone
  std::string node;                   // that it is about; "" for what is about all of them

  const api::Object& object() const { return after ? *after : *before; }
  // A pod got its node.
  bool is_bind() const;
  // "pod shop/web-3 bound to n7"
  std::string Text() const;
};

// One object in another state.
struct OtherState {
  std::optional<api::Object> state;  // unset: it is not there
  const PastChange* because = nullptr;
};

// The same object, whatever its state: the UID of a pod, kind, namespace and name of anything else.
std::string IdentityOf(const api::Object& object);

class Picture {
 public:
  struct Limits {
    base::Duration age = std::chrono::minutes(2);
    size_t changes = 20'000;
  };
  // A pod without a node.
  struct Pending {
    std::shared_ptr<const api::Pod> pod;  // as the API has it
    base::Time since{};                   // seen first, or given up last
    std::string announced;                // the node that its scheduler means to bind it to; "" when unknown
  };

  // The driver outlives it.
  explicit Picture(scheduler::Driver& driver) : Picture(driver, Limits{}) {}
  Picture(scheduler::Driver& driver, Limits limits) : driver_(driver), limits_(limits) {}

  void Apply(const Change& change);
  // The scheduler means to bind the pod there, its nominated node; until it is bound or the API takes the word back. ""
  // takes it back.
  void Announce(const std::string& uid, const std::string& node, base::Time time);
  // The decision about this pod was made after this.
  void NoteDecided(const std::string& uid, base::Time time);
  // Old changes are forgotten; not while one of them is referred to.
  void Forget(base::Time now);

  // What a change would do; nothing is applied.
  PastChange Preview(const Change& change) const;
  // Null when the pod is not known to be pending.
  const Pending* FindPending(const std::string& uid) const;
  // The oldest first. Pointers to them last until Forget.
  const std::deque<PastChange>& history() const { return history_; }
  scheduler::Driver& driver() { return driver_; }
  const scheduler::Driver& driver() const { return driver_; }

  // As long as it lives, the objects are in these states; afterwards they are as before. One at a time.
  class [[nodiscard]] Alternative {
   public:
    Alternative(Picture& picture, const std::vector<OtherState>& states);
    Alternative(const Alternative&) = delete;
    Alternative& operator=(const Alternative&) = delete;
    ~Alternative();

   private:
    Picture& picture_;
    std::vector<std::pair<std::optional<api::Object>, std::optional<api::Object>>> undone_;  // there and back
  };

 private:
  // As it counts in the driver; unset when it is not there.
  std::optional<api::Object> Current(const api::Object& object) const;
  std::optional<api::Object> AsCounted(const api::Object& object) const;
  void Set(const std::optional<api::Object>& from, const std::optional<api::Object>& to);
  void Remember(PastChange change);

  scheduler::Driver& driver_;
  const Limits limits_;
  std::map<std::string, Pending> pending_;  // by UID
  std::deque<PastChange> history_;
  uint64_t next_number_ = 1;
};

}  // namespace berth::shadow
