// Remedies: the smallest changes to a pod or to a node with which the pod would fit. Each one is tried: the filters run
// from scratch for the changed pod, or on the changed node, and only what they accept is told.
#pragma once

#include "cluster/cluster.h"
#include "engine/profile.h"
#include "explain/explanation.h"
#include "framework/pod_info.h"

namespace berth::explain {

// Fills in `told.remedies` from the verdicts in it, one of each kind. The cluster is changed for a moment, and changed
// back.
void FindRemedies(const engine::Profile& profile, cluster::Cluster& cluster, const framework::PodInfo& pod,
                  Explanation& told);

}  // namespace berth::explain
