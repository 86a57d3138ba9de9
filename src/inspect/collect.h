// Reads a driver and its journal for a caller outside. Runs on the scheduling thread, between cycles; the cost of each
// call is bounded by its arguments.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "inspect/views.h"
#include "scheduler/attempt_journal.h"
#include "scheduler/driver.h"

namespace berth::inspect {

// At most `limit` pods of each lane; with a namespace, only its pods.
QueueView CollectQueue(const scheduler::Driver& driver, base::Time now, size_t limit, const std::string& name_space);

// `journal` may be null.
DecisionsView CollectDecisions(const scheduler::AttemptJournal* journal, base::Time now,
                               const scheduler::AttemptJournal::Filter& filter);

// The first `limit` nodes by name; with a name, only that node and its pods.
NodesView CollectNodes(const scheduler::Driver& driver, base::Time now, size_t limit, const std::string& name);

// The attempts after that sequence number: the newest ones, at most `limit`.
EventsView CollectEvents(const scheduler::Driver& driver, const scheduler::AttemptJournal* journal, base::Time now,
                         uint64_t after, size_t limit);

struct PodQuestion {
  std::string name_space;
  std::string name;
  size_t attempts = 20;  // how many of the last ones
  // Called from time to time; once it returns true, the explanation omits what is not done yet. Empty: never.
  std::function<bool()> out_of_time{};
  // The pod, if the caller knows better than the driver's queue which pods are pending.
  framework::PodInfoPtr pod{};
  // No queue knows which plugins rejected it: what would requeue it is derived from the nodes' current verdicts.
  bool wake_ups_by_verdict = false;
};
// Unset if neither the cache, the queue nor the journal knows the pod.
std::optional<PodView> CollectPod(const scheduler::Driver& driver, const scheduler::AttemptJournal* journal,
                                  base::Time now, const PodQuestion& question);

}  // namespace berth::inspect
