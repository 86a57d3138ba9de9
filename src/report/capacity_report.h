// A capacity report: for people in the layout of kubernetes-sigs/cluster-capacity, for programs as JSON.
#pragma once

#include <string>

#include "sim/capacity.h"

namespace berth::report {

// `verbose` adds an instance's requirements and how many went to each node.
std::string ToText(const sim::CapacityReport& report, bool verbose);
// apiVersion berth.dev/v1, kind CapacityReport.
std::string ToJson(const sim::CapacityReport& report);

}  // namespace berth::report
