// Whether pods are what a workload's template says, or of an older one. Only what scheduling reads is kept of either,
// so a template that differs in nothing but, say, an environment variable counts as the same.
#pragma once

#include "api/pod.h"

namespace berth::input {

// With the API server's defaults on both sides, amounts by value, and without the hashes that controllers put on.
bool SameTemplate(const api::PodTemplateSpec& a, const api::PodTemplateSpec& b);

// Whether `pod`, which a cluster has, could be one of `prototype`, which has been through defaults and admission.
// What admission webhooks add on the way (containers, volumes, labels) makes no difference; neither do tolerations of
// taints that the node controller sets.
bool IsOfTemplate(const api::Pod& pod, const api::Pod& prototype);

// What the containers of the template request differently in the pod: "cpu 40 rather than 500m in container main".
// Empty when they request the same.
std::string RequestDifference(const api::Pod& pod, const api::Pod& prototype);

}  // namespace berth::input
