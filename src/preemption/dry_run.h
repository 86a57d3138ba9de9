// DryRun: what would have to go from a node for a pod to fit there.
//
// Made once per pod that fits nowhere, then asked node by node; every node is tried on copies, so the answers do not
// depend on the order of asking. Changes nothing. Everything given to the constructor must outlive it.
//
// Algorithm: take all pods of lower priority away; if the pod does not fit even then, the node is out. Otherwise put
// them back one at a time as long as the pod still fits: first those whose eviction would violate a disruption budget,
// then the others, the most important first. Pods that cannot be put back are victims.
#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "framework/handle.h"
#include "preemption/disruption_budgets.h"

namespace berth::preemption {

struct Trial {
  // Success: evicting `victims`, of which there is at least one, makes room. Otherwise the reason it still does not
  // fit.
  framework::Status status;
  framework::Victims victims;
  // At any other moment after this one the outcome would be the same. Most often the beginning of time; later where
  // pods that have not started, and so count as starting now, are next to others that have.
  base::Time holds_after = base::Time::min();
  BudgetSet budgets = 0;  // those that the outcome rests on
};

class DryRun {
 public:
  // `state` is the one that this cycle's PreFilter and Filter used.
  DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod);
  // With the budgets of the moment at hand.
  DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod,
         std::shared_ptr<const DisruptionBudgets> budgets);

  Trial Try(const framework::NodeInfo& node) const;
  // The same at a fraction of the cost, where Handle::FiltersJudgeNodesAlone: AddPod and RemovePod are not called for
  // what comes and goes, and no copy of their state is made. Not for several threads at once.
  Trial TryAlone(const framework::NodeInfo& node) const;

  // The moment that counts as the start of pods that have not started.
  base::Time now() const { return now_; }

 private:
  template <class AnyWhatIf, class Pods>
  Trial Judge(AnyWhatIf& what_if, Pods& evictable) const;

  const framework::Handle& handle_;
  const framework::CycleState& state_;
  const framework::PodInfo& pod_;
  const base::Time now_;
  const std::shared_ptr<const DisruptionBudgets> budgets_;
  // Of TryAlone, made on first use.
  mutable std::optional<framework::CycleState> shared_state_;
  mutable std::optional<framework::NodeInfo> scratch_;
};

}  // namespace berth::preemption
