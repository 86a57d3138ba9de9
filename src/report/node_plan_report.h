// The report of a node plan, for people and for programs.
#pragma once

#include <string>

#include "sim/node_plan.h"

namespace berth::report {

// `kind` describes a node, `wanted` what is to be placed ("500 instance(s) of the pod web").
std::string ToText(const sim::NodePlan& plan, const std::string& kind, const std::string& wanted);
// apiVersion berth.dev/v1, kind NodePlan.
std::string ToJson(const sim::NodePlan& plan, const std::string& kind, const std::string& wanted);

}  // namespace berth::report
