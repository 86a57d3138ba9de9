// DisruptionBudgets: which victims would break a PodDisruptionBudget. Selectors are compiled once and serve every node
// of a search. A snapshot: budgets that change afterwards are not noticed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "api/policy.h"
#include "api/selector.h"
#include "framework/objects.h"
#include "framework/pod_info.h"

namespace berth::preemption {

struct VictimGroups {
  std::vector<framework::PodInfoPtr> violating;
  std::vector<framework::PodInfoPtr> harmless;
};

class DisruptionBudgets {
 public:
  // A budget whose selector is absent, empty or does not compile protects nobody.
  explicit DisruptionBudgets(const framework::ObjectStore<api::PodDisruptionBudget>& budgets);

  // Spends the budgets pod by pod in the order given: whoever comes once a budget is used up violates it. Both groups
  // keep that order. Each call starts with full budgets.
  VictimGroups Split(const std::vector<framework::PodInfoPtr>& pods) const;

 private:
  struct Budget {
    std::shared_ptr<const api::PodDisruptionBudget> object;
    api::Selector selector;
    size_t index = 0;  // into the allowances of a split
  };

  bool Spend(const framework::PodInfo& pod, std::vector<int32_t>& allowances) const;

  std::map<Symbol, std::vector<Budget>> by_namespace_;
  std::vector<int32_t> allowances_;
};

}  // namespace berth::preemption
