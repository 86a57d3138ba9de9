// Which nodes a DaemonSet runs on, and what ties its pods to them.
#pragma once

#include <string>

#include "api/node.h"
#include "api/pod.h"

namespace berth::input {

// Adds the tolerations that keep daemons on unhealthy nodes.
api::PodTemplateSpec WithDaemonTolerations(api::PodTemplateSpec pod_template);

// Decided by the node's name, labels and taints; free resources do not matter.
bool ShouldRunDaemon(const api::PodSpec& spec, const api::Node& node);

// Requires that node instead of whatever else the pod requires of its node.
void BindToNode(const std::string& node, api::Pod& pod);

// The node that a daemon's pod is on or waits for; empty when unknown.
std::string TargetNode(const api::Pod& pod);

}  // namespace berth::input
