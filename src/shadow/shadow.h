// Shadow: follows a cluster that another scheduler serves, slightly delayed, and compares each of its decisions with
// berth's at the same point of the history.
//
//   changes, in order  -->  delayed by `behind`  -->  a decision?  yes: compared with berth's, just before it
//                           (later changes are            -->  is applied to the picture
//                            known by then)
//
// A decision is a pod that
//   - gets its node (spec.nodeName), or is announced for one while volumes and devices are prepared: nominatedNodeName
//     without a new PodScheduled condition, on a node that is feasible without preemption. Then its binding to that
//     node is not compared again;
//   - is unschedulable: PodScheduled=False, reason Unschedulable, new or with another message. With a nomination it
//     preempts; if neither finds a node, that is agreement, and its binding is compared later.
//
// Pods that are created with a node, and those of schedulers that are not compared, are skipped. Pure: no thread,
// socket or clock. Not thread-safe.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/profile.h"
#include "shadow/comparison.h"
#include "shadow/picture.h"
#include "shadow/race.h"

namespace berth::shadow {

class Shadow {
 public:
  struct Options {
    // Whose pods are compared, by spec.schedulerName; a name without a profile uses the first one. Empty: those of the
    // profiles.
    std::set<std::string> scheduler_names{};
    base::Duration behind = std::chrono::seconds(2);
    RaceLimits race{};
    // From this many nodes on, the other scheduler may evaluate only some of them; 0: it always evaluates all.
    size_t samples_from_nodes = 0;
    std::function<void(const Comparison& comparison)> on_compared{};
  };

  // The driver must outlive it and must be changed by nobody else.
  Shadow(scheduler::Driver& driver, Options options);

  // Changes in the order in which they arrived.
  void Add(Change change);
  // The changes added so far are the initial state of the cluster: none of them is a decision.
  void Begin();
  // Compares and applies the changes that are old enough.
  void Advance(base::Time now);
  // Processes the rest, with what is known of later changes.
  void Finish();

  const Tally& tally() const { return tally_; }
  // Changes that are not old enough yet.
  size_t waiting() const { return ahead_.size(); }

 private:
  void TakeFirst();
  // What the other scheduler decided with this change; unset if nothing.
  std::optional<Decision> DecisionIn(const Change& change, const Picture::Pending& pending);
  bool IsAnnouncement(const api::Pod& before, const api::Pod& after);
  void Compare(const Change& change, const Picture::Pending& pending, const Decision& decision);
  std::vector<PastChange> ToCome(const Change& change) const;
  Change AsDecided(const Change& change) const;
  std::vector<OtherState> OwnTraces(const Picture::Pending& pending) const;
  RaceLimits LimitsFor(size_t nodes) const;
  bool IsLookedAt(const std::string& scheduler_name) const;
  engine::Profile& ProfileFor(const std::string& scheduler_name);

  const Options options_;
  Picture picture_;
  std::deque<Change> ahead_;
  Tally tally_;
};

}  // namespace berth::shadow
