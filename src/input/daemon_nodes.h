// Which nodes a DaemonSet runs on, and what makes its pods go there.
#pragma once

#include <string>

#include "api/node.h"
#include "api/pod.h"

namespace berth::input {

// With the tolerations that keep daemons on unhealthy nodes.
api::PodTemplateSpec WithDaemonTolerations(api::PodTemplateSpec pod_template);

// By the node's name, labels and taints; whether there is room does not matter.
bool ShouldRunDaemon(const api::PodSpec& spec, const api::Node& node);

// Demands that node in place of whatever else the pod demands of its node.
void BindToNode(const std::string& node, api::Pod& pod);

// The node that a daemon's pod is on or waits for; empty when unknown.
std::string TargetNode(const api::Pod& pod);

}  // namespace berth::input
