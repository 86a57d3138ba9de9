#include "preemption/eligibility.h"

#include <algorithm>

namespace berth::preemption {
namespace {

// Terminating because a scheduler evicted it. A pod deleted for another reason does not hold up preemption.
bool IsTerminatingByPreemption(const api::Pod& pod) {
  if (!pod.metadata.deletion_timestamp) return false;
  const auto& conditions = pod.status.conditions;
  const auto target = std::ranges::find(conditions, "DisruptionTarget", &api::PodCondition::type);
  return target != conditions.end() && target->status == "True" && target->reason == "PreemptionByScheduler";
}

}  // namespace

std::string_view WhyNotEligible(const framework::ClusterView& cluster, const framework::PodInfo& preemptor,
                                const framework::Status& nominated_status) {
  if (preemptor.pod().spec.preemption_policy == "Never") return "not eligible due to preemptionPolicy=Never.";

  const std::string& nominated = preemptor.pod().status.nominated_node_name;
  if (nominated.empty()) return {};
  // No eviction can make the pod fit on its nominated node any more, so its terminating pods are not worth waiting for.
  if (nominated_status.code() == framework::Code::kUnschedulableAndUnresolvable) return {};
  const framework::NodeInfo* node = cluster.Find(nominated);
  if (node == nullptr) return {};
  for (const framework::PodInfoPtr& pod : node->pods()) {
    if (MayBeEvictedFor(*pod, preemptor) && pod->is_terminating() && IsTerminatingByPreemption(pod->pod())) {
      return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return {};
}

}  // namespace berth::preemption
