#include "preemption/disruption_budgets.h"

namespace berth::preemption {

DisruptionBudgets::DisruptionBudgets(const framework::ObjectStore<api::PodDisruptionBudget>& budgets) {
  for (const auto& [key, budget] : budgets) {
    if (!budget->spec.selector) continue;
    Result<api::Selector> selector = api::Selector::Compile(*budget->spec.selector);
    if (!selector || selector->empty()) continue;
    by_namespace_[budget->metadata.namespace_].push_back({budget, *std::move(selector), allowances_.size()});
    allowances_.push_back(budget->status.disruptions_allowed);
  }
}

VictimGroups DisruptionBudgets::Split(const std::vector<framework::PodInfoPtr>& pods) const {
  VictimGroups groups;
  if (by_namespace_.empty()) {
    groups.harmless = pods;
    return groups;
  }
  std::vector<int32_t> allowances = allowances_;
  for (const framework::PodInfoPtr& pod : pods) {
    (Spend(*pod, allowances) ? groups.harmless : groups.violating).push_back(pod);
  }
  return groups;
}

// False when some budget of the pod is used up. All of its budgets are charged all the same.
bool DisruptionBudgets::Spend(const framework::PodInfo& pod, std::vector<int32_t>& allowances) const {
  // A pod without labels belongs to no budget, not even to one whose selector asks for the absence of a label.
  if (pod.labels().empty()) return true;
  const auto in_namespace = by_namespace_.find(pod.namespace_());
  if (in_namespace == by_namespace_.end()) return true;
  bool allowed = true;
  for (const Budget& budget : in_namespace->second) {
    if (!budget.selector.Matches(pod.labels())) continue;
    // The API server has already counted this pod's eviction in disruptionsAllowed.
    if (budget.object->status.disrupted_pods.Contains(pod.name())) continue;
    if (--allowances[budget.index] < 0) allowed = false;
  }
  return allowed;
}

}  // namespace berth::preemption
