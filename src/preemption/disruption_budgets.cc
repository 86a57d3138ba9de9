#include "preemption/disruption_budgets.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::preemption {
namespace {

using Object = api::PodDisruptionBudget;

BudgetSet BitOf(size_t position) { return BudgetSet{1} << (position % 64); }

// The order of the store.
bool ComesBefore(const Object& a, const Object& b) {
  const auto key = [](const Object& budget) {
    return std::pair<std::string_view, std::string_view>(budget.metadata.namespace_.str(), budget.metadata.name);
  };
  return key(a) < key(b);
}

bool ProtectsTheSame(const Object& a, const Object& b) {
  return a.metadata.name == b.metadata.name && a.metadata.namespace_ == b.metadata.namespace_ &&
         a.spec.selector == b.spec.selector;
}

}  // namespace

DisruptionBudgets::DisruptionBudgets(const Store& budgets, const DisruptionBudgets* before) {
  static const std::vector<Budget> kNone;
  const std::vector<Budget>& known = before ? before->budgets_ : kNone;
  auto next_known = known.begin();
  for (const auto& [key, budget] : budgets) {
    if (!budget->spec.selector) continue;
    // Both lists are in the same order.
    while (next_known != known.end() && ComesBefore(*next_known->object, *budget)) ++next_known;
    std::shared_ptr<const api::Selector> selector;
    if (next_known != known.end() && ProtectsTheSame(*next_known->object, *budget)) {
      selector = next_known->selector;
    } else {
      Result<api::Selector> compiled = api::Selector::Compile(*budget->spec.selector);
      if (!compiled || compiled->empty()) continue;
      selector = std::make_shared<const api::Selector>(*std::move(compiled));
    }
    InNamespace& in_namespace = by_namespace_[budget->metadata.namespace_];
    if (const api::Labels& labels = budget->spec.selector->match_labels; !labels.empty()) {
      const auto& [label, value] = *labels.begin();
      in_namespace.by_value[value].emplace_back(label, budgets_.size());
    } else {
      in_namespace.others.push_back(budgets_.size());
    }
    budgets_.push_back({budget, std::move(selector)});
  }
}

BudgetVerdicts DisruptionBudgets::Judge(std::span<const framework::PodInfo* const> pods) const {
  BudgetVerdicts verdicts;
  verdicts.violates.assign(pods.size(), 0);
  if (budgets_.empty()) return verdicts;
  // The pods of one node use only a few of what may be hundreds of budgets.
  std::vector<Used> used;
  for (size_t i = 0; i < pods.size(); ++i) verdicts.violates[i] = !Spend(*pods[i], used, verdicts.asked);
  return verdicts;
}

template <class Visit>
void DisruptionBudgets::ForEachNear(const framework::PodInfo& pod, Visit visit) const {
  const auto in_namespace = by_namespace_.find(pod.namespace_());
  if (in_namespace == by_namespace_.end()) return;
  for (const auto& [label, value] : pod.labels()) {
    const auto with_value = in_namespace->second.by_value.find(value);
    if (with_value == in_namespace->second.by_value.end()) continue;
    for (const auto& [wanted, position] : with_value->second) {
      if (wanted == label) visit(position);
    }
  }
  for (const size_t position : in_namespace->second.others) visit(position);
}

// False when any of the pod's budgets is used up. All of its budgets are charged anyway.
bool DisruptionBudgets::Spend(const framework::PodInfo& pod, std::vector<Used>& used, BudgetSet& asked) const {
  // A pod without labels belongs to no budget, not even to one whose selector asks for the absence of a label.
  if (pod.labels().empty()) return true;
  bool allowed = true;
  ForEachNear(pod, [&](size_t position) {
    const Budget& budget = budgets_[position];
    if (!budget.selector->Matches(pod.labels())) return;
    asked |= BitOf(position);
    // The API server has already counted this pod's eviction in disruptionsAllowed.
    if (budget.object->status.disrupted_pods.Contains(pod.name())) return;
    auto left = std::ranges::find(used, position, &Used::position);
    if (left == used.end()) left = used.insert(left, {position, budget.object->status.disruptions_allowed});
    if (--left->left < 0) allowed = false;
  });
  return allowed;
}

std::optional<BudgetSet> DisruptionBudgets::ChangedSince(const DisruptionBudgets& before) const {
  if (budgets_.size() != before.budgets_.size()) return std::nullopt;
  BudgetSet changed = 0;
  for (size_t i = 0; i < budgets_.size(); ++i) {
    const Object& now = *budgets_[i].object;
    const Object& then = *before.budgets_[i].object;
    if (&now == &then) continue;
    if (!ProtectsTheSame(now, then)) return std::nullopt;
    if (now.status.disruptions_allowed != then.status.disruptions_allowed ||
        now.status.disrupted_pods != then.status.disrupted_pods) {
      changed |= BitOf(i);
    }
  }
  return changed;
}

}  // namespace berth::preemption
