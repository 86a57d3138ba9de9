// DisruptionBudgets: which victims would violate a PodDisruptionBudget. Selectors are compiled once and serve every
// node of a search, and later searches while they do not change. A snapshot: later changes to budgets are not seen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/policy.h"
#include "api/selector.h"
#include "framework/objects.h"
#include "framework/pod_info.h"

namespace berth::preemption {

// A set of budgets, as bits by position modulo 64: may contain more than was put in, never less.
using BudgetSet = uint64_t;

struct BudgetVerdicts {
  std::vector<uint8_t> violates;  // by position among the pods
  BudgetSet asked = 0;            // the budgets that protect some of these pods
};

class DisruptionBudgets {
 public:
  using Store = framework::ObjectStore<api::PodDisruptionBudget>;

  // A budget whose selector is absent, empty or does not compile protects no pod. Selectors that `before` has compiled
  // are reused where they still apply.
  explicit DisruptionBudgets(const Store& budgets, const DisruptionBudgets* before = nullptr);

  // Spends the budgets pod by pod in the order given: once a budget is used up, further pods violate it. Each call
  // starts with full budgets.
  BudgetVerdicts Judge(std::span<const framework::PodInfo* const> pods) const;

  // The budgets that now allow other disruptions than before; unset when they no longer protect the same pods.
  std::optional<BudgetSet> ChangedSince(const DisruptionBudgets& before) const;

 private:
  struct Budget {
    std::shared_ptr<const api::PodDisruptionBudget> object;
    std::shared_ptr<const api::Selector> selector;
  };

  // What is left of a budget that some of the current pods have used.
  struct Used {
    size_t position;
    int32_t left;
  };
  bool Spend(const framework::PodInfo& pod, std::vector<Used>& used, BudgetSet& asked) const;
  // Calls visit(position) for each budget that might protect the pod, once.
  template <class Visit>
  void ForEachNear(const framework::PodInfo& pod, Visit visit) const;

  // Most selectors match one value of a label, and are checked only for pods with that label.
  struct InNamespace {
    std::unordered_map<Symbol, std::vector<std::pair<Symbol, size_t>>> by_value;  // with the label's key
    std::vector<size_t> others;
  };

  std::vector<Budget> budgets_;  // by namespace and name
  std::unordered_map<Symbol, InNamespace> by_namespace_;
};

}  // namespace berth::preemption
