// DryRun: which pods would have to be evicted from a node for a pod to fit there.
//
// Made once per pod that fits nowhere, then asked node by node; every node is tried on copies, so the answers do not
// depend on the order of the calls. Changes nothing. Everything given to the constructor must outlive it.
//
// Algorithm: remove all pods of lower priority; if the pod does not fit even then, the node is no candidate. Otherwise
// put them back one at a time as long as the pod still fits: first those whose eviction would violate a disruption
// budget, then the others, the most important first. Pods that cannot be put back are victims.
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
  // After this time the outcome no longer depends on when the dry run is made. Usually Time::min(); later when some
  // pods have not started, and so count as starting now, while others have.
  base::Time holds_after = base::Time::min();
  BudgetSet budgets = 0;  // the budgets that the outcome depends on
};

class DryRun {
 public:
  // `state` is the one that this cycle's PreFilter and Filter used.
  DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod);
  // With the current budgets.
  DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod,
         std::shared_ptr<const DisruptionBudgets> budgets);

  Trial Try(const framework::NodeInfo& node) const;
  // The same at a fraction of the cost, for cycles with Handle::FiltersJudgeNodesAlone: AddPod and RemovePod are not
  // called, and no copy of their state is made. Not for several threads at once.
  Trial TryAlone(const framework::NodeInfo& node) const;

  // The time that counts as the start of pods that have not started.
  base::Time now() const { return now_; }

 private:
  template <class AnyWhatIf, class Pods>
  Trial Judge(AnyWhatIf& what_if, Pods& evictable) const;

  const framework::Handle& handle_;
  const framework::CycleState& state_;
  const framework::PodInfo& pod_;
  const base::Time now_;
  const std::shared_ptr<const DisruptionBudgets> budgets_;
  // Used by TryAlone, made on first use.
  mutable std::optional<framework::CycleState> shared_state_;
  mutable std::optional<framework::NodeInfo> scratch_;
};

}  // namespace berth::preemption
