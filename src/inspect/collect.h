// Looks at a driver and its journal on behalf of somebody outside. On the scheduling thread, between cycles; what each
// look may cost is bounded by what it is given.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "inspect/views.h"
#include "scheduler/attempt_journal.h"
#include "scheduler/driver.h"

namespace berth::inspect {

// At most `limit` pods of each lane, those that have a given namespace only.
QueueView CollectQueue(const scheduler::Driver& driver, base::Time now, size_t limit, const std::string& name_space);

// `journal` may be null.
DecisionsView CollectDecisions(const scheduler::AttemptJournal* journal, base::Time now,
                               const scheduler::AttemptJournal::Filter& filter);

// The first `limit` nodes by name; with a name that node alone, and its pods.
NodesView CollectNodes(const scheduler::Driver& driver, base::Time now, size_t limit, const std::string& name);

// The attempts after the one of that sequence, at most `limit`, the newest of them.
EventsView CollectEvents(const scheduler::Driver& driver, const scheduler::AttemptJournal* journal, base::Time now,
                         uint64_t after, size_t limit);

struct PodQuestion {
  std::string name_space;
  std::string name;
  size_t attempts = 20;  // how many of the last ones
  // Asked now and then; once it says yes, the explanation leaves out what is not done yet. Empty: never.
  std::function<bool()> out_of_time{};
  // The pod, where the asker knows better than the driver's queue which pods wait.
  framework::PodInfoPtr pod{};
  // No queue knows who rejected it: what would wake it follows from what nodes say of it now.
  bool wake_ups_by_verdict = false;
};
// Unset when neither the picture, the queue nor the journal knows such a pod.
std::optional<PodView> CollectPod(const scheduler::Driver& driver, const scheduler::AttemptJournal* journal,
                                  base::Time now, const PodQuestion& question);

}  // namespace berth::inspect
