// All that speaks against each node, for configurations that want more than the first reason (a Policy's
// alwaysCheckAllPredicates).
#pragma once

#include "engine/profile.h"

namespace berth::engine {

// The statuses with the reasons of the other filters that reject the node added. Code and plugin stay those of the
// first: what the pod waits for, and whether preemption may help, is the same as without.
framework::NodeToStatus WithAllReasons(const Profile& profile, const framework::CycleState& state,
                                       const framework::PodInfo& pod, const framework::NodeToStatus& statuses);

}  // namespace berth::engine
