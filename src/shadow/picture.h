// Picture: what a driver knows about a cluster, with its recent changes, so that any object can be reset to its state
// before one of them, or advanced to its state after one that is still to come.
//
// A pod that its scheduler has announced for a node but not bound yet (nominatedNodeName while volumes or devices are
// prepared) counts as being on it, because that is how that scheduler sees it.
//
// Not thread-safe. The driver never schedules anything.
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

// A change to an object of the cluster.
struct Change {
  base::Time time{};
  bool deleted = false;
  api::Object object;  // the last known state if it was deleted
};

// A change of something that scheduling reads. The objects of an announced pod are as if it were bound.
struct PastChange {
  uint64_t number = 0;
  base::Time time{};
  std::optional<api::Object> before;  // unset: it did not exist
  std::optional<api::Object> after;   // unset: it is gone
  std::string node;                   // that it concerns; "" if it concerns all of them

  const api::Object& object() const { return after ? *after : *before; }
  // A pod got its node.
  bool is_bind() const;
  // "pod shop/web-3 bound to n7"
  std::string Text() const;
};

// One object in another state.
struct OtherState {
  std::optional<api::Object> state;  // unset: it does not exist
  const PastChange* because = nullptr;
};

// Identifies an object whatever its state: a pod by UID, anything else by kind, namespace and name.
std::string IdentityOf(const api::Object& object);

class Picture {
 public:
  struct Limits {
    base::Duration age = std::chrono::minutes(2);
    size_t changes = 20'000;
  };
  // A pod without a node.
  struct Pending {
    std::shared_ptr<const api::Pod> pod;  // as in the API
    base::Time since{};                   // when it was first seen, or last reported unschedulable
    std::string announced;                // the node that its scheduler intends to bind it to; "" if unknown
  };

  // The driver must outlive it.
  explicit Picture(scheduler::Driver& driver) : Picture(driver, Limits{}) {}
  Picture(scheduler::Driver& driver, Limits limits) : driver_(driver), limits_(limits) {}

  void Apply(const Change& change);
  // The scheduler intends to bind the pod there, its nominated node; valid until it is bound or the API withdraws the
  // nomination. "" withdraws it.
  void Announce(const std::string& uid, const std::string& node, base::Time time);
  // The next decision about this pod is made after this time.
  void NoteDecided(const std::string& uid, base::Time time);
  // Drops old changes; must not be called while one of them is referred to.
  void Forget(base::Time now);

  // What a change would do, without applying it.
  PastChange Preview(const Change& change) const;
  // Null if the pod is not known to be pending.
  const Pending* FindPending(const std::string& uid) const;
  // The oldest first. Pointers to them are valid until Forget.
  const std::deque<PastChange>& history() const { return history_; }
  scheduler::Driver& driver() { return driver_; }
  const scheduler::Driver& driver() const { return driver_; }

  // While it exists, the objects are in these states; then they are restored. Only one at a time.
  class [[nodiscard]] Alternative {
   public:
    Alternative(Picture& picture, const std::vector<OtherState>& states);
    Alternative(const Alternative&) = delete;
    Alternative& operator=(const Alternative&) = delete;
    ~Alternative();

   private:
    Picture& picture_;
    std::vector<std::pair<std::optional<api::Object>, std::optional<api::Object>>> undone_;  // states: from, to
  };

 private:
  // As it counts in the driver; unset if it does not exist there.
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
