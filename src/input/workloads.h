// Expands workloads into pods, as their controllers would: Deployments (through a ReplicaSet), ReplicaSets,
// ReplicationControllers, StatefulSets (with their claims), DaemonSets and Jobs. Only missing pods are made: pods of
// the input that belong to a workload count. Pods of an older template are replaced in a rollout, as the controller
// would do it: Deployments, StatefulSets and DaemonSets do that, the others leave their pods alone.
//
// Names are those that controllers would give, but the same every time: web-<hash>-0, web-<hash>-1, … for a
// Deployment's pods; a DaemonSet's are named after their node.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "input/admission.h"
#include "input/cluster_draft.h"
#include "input/rollout.h"

namespace berth::input {

// More pods than this from all workloads together are refused: a number with one digit too many should not fill memory.
inline constexpr size_t kMaxPodsMade = 250'000;

struct ExpansionOptions {
  // Workloads ("Deployment default/web") from which surplus pods are removed, too; as from those for which a person
  // gives a number. Otherwise surplus pods stay: a controller may or may not be about to remove them.
  std::set<std::string> exact;
  size_t most_pods = kMaxPodsMade;
  // Pods of older templates are removed at once, not in a rollout.
  bool replace = false;
};

// Whether objects of that kind make pods.
bool IsWorkload(api::Kind kind);

// Returns the rollouts of workloads that have pods of another template than their own.
std::vector<Rollout> ExpandWorkloads(const Admission& admission, const ExpansionOptions& options, ClusterDraft& draft);

}  // namespace berth::input
