// What if: changes to the cluster that was read, before anything is scheduled.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "input/cluster_draft.h"

namespace berth::input {

// So many pods of a workload: "[[KIND/]NAMESPACE/]NAME=N".
struct ReplicaChange {
  std::string kind;        // empty: any
  std::string name_space;  // empty: any
  std::string name;
  int32_t replicas = 0;
};
Result<ReplicaChange> ParseReplicaChange(std::string_view text);

struct WhatIf {
  std::vector<ReplicaChange> replicas;
  // Nodes that are gone. Pods on them that have a controller wait for a node again, the others are lost.
  std::vector<std::string> without_nodes;
  // Nodes that take no new pods.
  std::vector<std::string> cordons;
  // Cordoned nodes that pods leave, but for those of DaemonSets and of the kubelet itself.
  std::vector<std::string> drains;
};

// Names that are not there are problems of the draft. The result names the workloads whose pods must be as many as they
// want, no more (ExpandWorkloads).
std::set<std::string> ApplyWhatIf(const WhatIf& what_if, ClusterDraft& draft);

}  // namespace berth::input
