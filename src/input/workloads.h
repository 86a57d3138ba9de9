// Workloads become pods, as their controllers would have it: Deployments (through a ReplicaSet), ReplicaSets,
// ReplicationControllers, StatefulSets (with their claims), DaemonSets and Jobs. Only what is missing is made: pods of
// the input that belong to a workload count.
//
// Names are those that controllers would give, but the same every time: web-<hash>-0, web-<hash>-1, … for a
// Deployment's pods, and a DaemonSet's carry the name of their node.
#pragma once

#include <set>
#include <string>

#include "input/admission.h"
#include "input/cluster_draft.h"

namespace berth::input {

// More pods than this from all workloads together are refused: a number with a digit too many should not fill memory.
inline constexpr size_t kMaxPodsMade = 250'000;

// `most_pods` is that limit, or a lower one. `exact` names workloads ("Deployment default/web") that lose pods, too,
// when they have more than they want. Otherwise such pods stay: a controller may be about to remove them, or not.
void ExpandWorkloads(const Admission& admission, const std::set<std::string>& exact, size_t most_pods,
                     ClusterDraft& draft);

}  // namespace berth::input
