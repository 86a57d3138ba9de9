// Diagnosis: everything known about why a pod fits nowhere, and the one-line message people see.
#pragma once

#include <set>
#include <string>

#include "framework/node_to_status.h"

namespace berth::framework {

struct Diagnosis {
  NodeToStatus node_to_status;
  std::set<std::string, std::less<>> unschedulable_plugins;
  std::set<std::string, std::less<>> pending_plugins;
  std::string pre_filter_message;
  std::string post_filter_message;

  // Records the rejecting plugin, for requeueing.
  void AddPluginStatus(const Status& status);
};

// "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). preemption: …": the text of the
// FailedScheduling event and of the PodScheduled condition.
std::string FitErrorMessage(const Diagnosis& diagnosis, size_t node_count);

inline constexpr std::string_view kNoNodesMessage = "no nodes available to schedule pods";

}  // namespace berth::framework
