// All reasons against each node, for configurations that want more than the first (a Policy's
// alwaysCheckAllPredicates).
#pragma once

#include "engine/profile.h"

namespace berth::engine {

// The statuses plus the reasons of the other filters that reject the node. Code and plugin remain those of the first,
// so that requeueing and preemption work the same as without.
framework::NodeToStatus WithAllReasons(const Profile& profile, const framework::CycleState& state,
                                       const framework::PodInfo& pod, const framework::NodeToStatus& statuses);

}  // namespace berth::engine
