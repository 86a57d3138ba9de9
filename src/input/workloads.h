// Workloads become pods, as their controllers would have it: Deployments (through a ReplicaSet), ReplicaSets,
// ReplicationControllers, StatefulSets (with their claims), DaemonSets and Jobs. Only what is missing is made: pods of
// the input that belong to a workload count. Those that are of an older template of it are replaced, in a rollout as
// its controller has it: Deployments, StatefulSets and DaemonSets do that, the others leave their pods alone.
//
// Names are those that controllers would give, but the same every time: web-<hash>-0, web-<hash>-1, … for a
// Deployment's pods, and a DaemonSet's carry the name of their node.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "input/admission.h"
#include "input/cluster_draft.h"
#include "input/rollout.h"

namespace berth::input {

// More pods than this from all workloads together are refused: a number with a digit too many should not fill memory.
inline constexpr size_t kMaxPodsMade = 250'000;

struct ExpansionOptions {
  // Workloads ("Deployment default/web") that lose pods, too, when they have more than they want; as do those that a
  // person gives a number for. Otherwise such pods stay: a controller may be about to remove them, or not.
  std::set<std::string> exact;
  size_t most_pods = kMaxPodsMade;
  // Pods of older templates are gone at once, rather than in a rollout.
  bool replace = false;
};

// Whether objects of that kind make pods.
bool IsWorkload(api::Kind kind);

// The rollouts of workloads some of whose pods are of another template than theirs.
std::vector<Rollout> ExpandWorkloads(const Admission& admission, const ExpansionOptions& options, ClusterDraft& draft);

}  // namespace berth::input
