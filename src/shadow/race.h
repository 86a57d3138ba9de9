// Was it a race? A scheduler decides before its binding becomes visible: with pods that it has assumed and that nobody
// else sees yet, and without what happened in the meantime. So before a decision is called different, pictures are
// tried in which some of the changes around it have not happened yet, or have happened already.
//
// What may differ (Candidates):
//   past     changes since the pod was first seen or last unschedulable, within RaceLimits::reach: not yet known to
//            the scheduler when it decided; the object is as it was before
//   to come  decisions of the scheduler that became visible shortly afterwards: bindings, pods that are
//            announced for a node, volumes and devices of claims. Also changes of other kinds that the API server
//            made before the decision, by resourceVersion, and that this watch delivered later
//
// Undoing a change of an object also undoes its later ones. A binding that is undone must still have been possible
// after the decision: two pods of which only one fits do not excuse each other.
//
// The number of pictures is bounded. Pure: afterwards the picture is as it was before.
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "engine/profile.h"
#include "framework/pod_info.h"
#include "shadow/opinion.h"
#include "shadow/picture.h"

namespace berth::shadow {

struct RaceLimits {
  base::Duration reach = std::chrono::seconds(60);  // into the past
  // The scheduler and this program learn of a pod, and of everything else, at different times.
  base::Duration slack = std::chrono::seconds(1);
  size_t candidates = 96;
  size_t trials = 300;  // pictures to evaluate
};

// Everything that may differ in the scheduler's picture, the likeliest first: what concerns `nodes`, then the rest,
// each by its distance in time. `to_come`, in the order of time and with the number 0, must outlive the result.
std::vector<OtherState> FindCandidates(const Picture& picture, const Picture::Pending& pod,
                                       const std::set<std::string>& nodes, const std::vector<PastChange>& to_come,
                                       base::Time decided_by, const RaceLimits& limits);

struct Race {
  std::vector<OtherState> differences;  // empty: it was no race
  size_t trials = 0;
};

// `first` is the opinion without any difference.
Race FindRace(Picture& picture, engine::Profile& profile, const framework::PodInfo& pod, const Decision& decision,
              const Opinion& first, const std::vector<OtherState>& candidates, const RaceLimits& limits);

}  // namespace berth::shadow
