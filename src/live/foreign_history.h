// ForeignHistory: what a cluster's own scheduler does, whichever it is, as the API shows it: pods that get a node, and
// pods of which it says that it found none (the PodScheduled condition). Written down as attempts, each with what berth
// would have said of the node at that moment.
//
// Not thread-safe; on the thread of the driver whose picture is looked at.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "api/object.h"
#include "base/clock.h"
#include "framework/pod_info.h"
#include "scheduler/attempt_journal.h"
#include "scheduler/driver.h"

namespace berth::live {

class ForeignHistory {
 public:
  // A pod without a node.
  struct Pending {
    framework::PodInfoPtr pod;
    base::Time since{};
    std::string message;  // why it has none, as its scheduler says; "" when it has not said anything
    int attempts = 0;     // that its scheduler has told of
  };

  explicit ForeignHistory(size_t journal_bytes) : journal_(journal_bytes) {}

  // A change that is about to be applied to the driver. `live`: it has happened just now, and was not there before.
  void Note(const scheduler::Driver& driver, const api::Object& object, bool deleted, bool live, base::Time now);

  const scheduler::AttemptJournal& journal() const { return journal_; }
  const std::map<std::string, Pending>& pending() const { return pending_; }  // by UID
  // The profile that judges pods of this scheduler: its own, or the first where none has that name.
  static engine::Profile& ProfileFor(const scheduler::Driver& driver, const api::Pod& pod);

 private:
  void NoteBound(const scheduler::Driver& driver, const api::Pod& pod, base::Time now);
  void NotePending(const scheduler::Driver& driver, std::shared_ptr<const api::Pod> pod, base::Time now);
  // What berth says of the node, unless that has taken too much time lately.
  void Judge(const scheduler::Driver& driver, scheduler::Attempt& attempt);

  scheduler::AttemptJournal journal_;
  std::map<std::string, Pending> pending_;
  std::chrono::steady_clock::time_point next_judgement_{};
};

}  // namespace berth::live
