// Shadow: runs a little behind a cluster that another scheduler serves, and says of each of its decisions what berth
// makes of it at the same point of the history.
//
//   changes, as they come  -->  wait for `behind`  -->  a decision?  yes: compared with berth's, just before it is
//   applied
//                               (what is to come is               -->  applied to the picture
//                                known by then)
//
// A decision is a pod that
//   - gets its node (spec.nodeName), or is announced for one while volumes and devices are made ready:
//   nominatedNodeName
//     without a new PodScheduled condition, on a node that is feasible without preemption. Then its binding to that
//     node is not compared again;
//   - is given up: PodScheduled=False, reason Unschedulable, new or with another message. With a nomination it
//     preempts; that neither finds a node is agreement, and its binding is compared later.
//
// Pods that come with their node, and those of schedulers that are not looked at, are left out. Pure: no thread, socket
// or clock. Not thread-safe.
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
    // Whose pods are compared, by spec.schedulerName; those of a name without a profile by the first one. Empty: those
    // of the profiles.
    std::set<std::string> scheduler_names{};
    base::Duration behind = std::chrono::seconds(2);
    RaceLimits race{};
    // The other scheduler may look at a part of the nodes only, in a cluster of so many; 0: it looks at all.
    size_t samples_from_nodes = 0;
    std::function<void(const Comparison& comparison)> on_compared{};
  };

  // The driver outlives it; nobody else gives it anything.
  Shadow(scheduler::Driver& driver, Options options);

  // In the order in which they came.
  void Add(Change change);
  // What was added so far is how the cluster was when somebody began to look: nothing of it is a decision.
  void Begin();
  // Compares and applies what is old enough.
  void Advance(base::Time now);
  // Whatever is left, with what is known of what is to come.
  void Finish();

  const Tally& tally() const { return tally_; }
  // Changes that wait for their time.
  size_t waiting() const { return ahead_.size(); }

 private:
  void TakeFirst();
  // What the other scheduler decided by this change; unset when nothing.
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
