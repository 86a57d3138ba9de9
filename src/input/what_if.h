// What-ifs: changes to the cluster that was read, before anything is scheduled.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "input/cluster_draft.h"

namespace berth::input {

// The wanted number of pods of a workload: "[[KIND/]NAMESPACE/]NAME=N".
struct ReplicaChange {
  std::string kind;        // empty: any
  std::string name_space;  // empty: any
  std::string name;
  int32_t replicas = 0;
};
Result<ReplicaChange> ParseReplicaChange(std::string_view text);

struct WhatIf {
  std::vector<ReplicaChange> replicas;
  // Nodes that are removed. Pods on them that have a controller wait for a node again, the others are lost.
  std::vector<std::string> without_nodes;
  // Nodes that accept no new pods.
  std::vector<std::string> cordons;
  // Nodes that are cordoned and drained of their pods, except those of DaemonSets and mirror pods.
  std::vector<std::string> drains;
};

// Unknown names are problems of the draft. Returns the workloads that must have exactly as many pods as they want
// (ExpandWorkloads).
std::set<std::string> ApplyWhatIf(const WhatIf& what_if, ClusterDraft& draft);

}  // namespace berth::input
