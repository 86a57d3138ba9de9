// ForeignHistory: what a cluster's own scheduler does, whichever it is, as far as the API shows it: pods that get a
// node, and pods it reports as unschedulable (the PodScheduled condition). Recorded as attempts, each with berth's
// verdict on the node at that moment.
//
// Not thread-safe; used on the thread of the driver that it reads.
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
    std::string message;  // why it has none, as its scheduler reports; "" if it has not reported anything
    int attempts = 0;     // that its scheduler has reported
  };

  explicit ForeignHistory(size_t journal_bytes) : journal_(journal_bytes) {}

  // A change that is about to be applied to the driver. `live`: it has just happened, and is not part of the first
  // list.
  void Note(const scheduler::Driver& driver, const api::Object& object, bool deleted, bool live, base::Time now);

  const scheduler::AttemptJournal& journal() const { return journal_; }
  const std::map<std::string, Pending>& pending() const { return pending_; }  // by UID
  // The profile that judges this scheduler's pods: its own, or the first if there is none of that name.
  static engine::Profile& ProfileFor(const scheduler::Driver& driver, const api::Pod& pod);

 private:
  void NoteBound(const scheduler::Driver& driver, const api::Pod& pod, base::Time now);
  void NotePending(const scheduler::Driver& driver, std::shared_ptr<const api::Pod> pod, base::Time now);
  // Adds berth's verdict on the node, unless verdicts have taken too much time recently.
  void Judge(const scheduler::Driver& driver, scheduler::Attempt& attempt);

  scheduler::AttemptJournal journal_;
  std::map<std::string, Pending> pending_;
  std::chrono::steady_clock::time_point next_judgement_{};
};

}  // namespace berth::live
