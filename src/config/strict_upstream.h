// A configuration that kube-scheduler v1.36 can read: without berth's own fields and without plugins it no longer has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/types.h"

namespace berth::config {

// False for plugins that were removed with Kubernetes 1.22 or soon after and that berth still has.
bool IsUpstreamPlugin(std::string_view name);

// Changes `configuration` and returns what was changed or lost, one sentence each. Scoring by allocation becomes a
// strategy of NodeResourcesFit, SelectorSpread becomes PodTopologySpread, the volume limits by in-tree type become
// NodeVolumeLimits; what has no successor is dropped.
std::vector<std::string> KeepUpstreamOnly(KubeSchedulerConfiguration& configuration);

}  // namespace berth::config
