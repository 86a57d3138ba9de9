// What nodes actually use, in the two forms it is told: an annotation of the node, and the list of a metrics API.
#pragma once

#include <berth/plugin.h>

#include <map>
#include <string>
#include <string_view>

namespace example {

struct Usage {
  berth::api::Quantity cpu;
  berth::api::Quantity memory;
};
const berth::codec::Message& Describe(const Usage*);

using UsageByNode = std::map<std::string, Usage>;

// {"cpu": "1500m", "memory": "3Gi"}
berth::Result<Usage> ParseUsage(const std::string& json);

// A NodeMetricsList of metrics.k8s.io, as `kubectl get --raw /apis/metrics.k8s.io/v1beta1/nodes` prints it.
berth::Result<UsageByNode> ParseNodeMetrics(const std::string& json);

}  // namespace example
