// Which pods should avoid a node, according to an annotation on the node. An alpha feature that Kubernetes dropped
// after v1.22; nodes may still have the annotation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "base/result.h"

namespace berth::api {

inline constexpr std::string_view kPreferAvoidPodsAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";

// The controllers whose pods avoid the node; empty without the annotation. An error when it is malformed.
Result<std::vector<OwnerReference>> ControllersToAvoid(const Annotations& annotations);

}  // namespace berth::api
