// Whether a pod may look for victims at all.
#pragma once

#include <string_view>

#include "framework/cluster_view.h"
#include "framework/pod_info.h"
#include "framework/status.h"

namespace berth::preemption {

// Only pods of lower priority may be evicted.
inline bool MayBeEvictedFor(const framework::PodInfo& pod, const framework::PodInfo& preemptor) {
  return pod.priority() < preemptor.priority();
}

// Empty when it may; otherwise why not. `nominated_status` is the verdict of this cycle's filters about the node that
// the pod is nominated to.
std::string_view WhyNotEligible(const framework::ClusterView& cluster, const framework::PodInfo& preemptor,
                                const framework::Status& nominated_status);

}  // namespace berth::preemption
