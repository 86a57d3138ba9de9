// Explaining a pod: one evaluation from scratch of the cluster as it is, every filter asked about every node, the dry
// runs of preemption, and changes that are tried before they are told.
#pragma once

#include "cluster/cluster.h"
#include "engine/profile.h"
#include "explain/explanation.h"
#include "framework/pod_info.h"

namespace berth::explain {

// Says what an attempt to schedule `pod` right now would find. Nodes are changed to try remedies and changed back:
// the cluster is afterwards what it was before. Where the pod ends up is for the caller to fill in.
Explanation Explain(const engine::Profile& profile, cluster::Cluster& cluster, const framework::PodInfo& pod);

}  // namespace berth::explain
