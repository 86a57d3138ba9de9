// Whether pods match a workload's template or an older one. Only what scheduling reads is kept of either, so a template
// that differs only in, say, an environment variable counts as the same here (see template_digest.h).
#pragma once

#include "api/pod.h"

namespace berth::input {

// With the API server's defaults on both sides, amounts compared by value, and without the hashes that controllers add.
bool SameTemplate(const api::PodTemplateSpec& a, const api::PodTemplateSpec& b);

// Whether `pod`, which a cluster has, could be one of `prototype`, which has been through defaults and admission. What
// admission webhooks add (containers, volumes, labels) is ignored; so are tolerations of taints that the node
// controller sets.
bool IsOfTemplate(const api::Pod& pod, const api::Pod& prototype);

// How the pod's requests differ from the template's containers: "cpu 40 rather than 500m in container main". Empty when
// they do not.
std::string RequestDifference(const api::Pod& pod, const api::Pod& prototype);

}  // namespace berth::input
