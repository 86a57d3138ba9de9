// DryRun: what would have to go from a node for a pod to fit there.
//
// Made once per pod that fits nowhere, then asked node by node; every node is tried on copies, so the answers do not
// depend on the order of asking. Changes nothing. Everything given to the constructor must outlive it.
//
// Algorithm: take all pods of lower priority away; if the pod does not fit even then, the node is out. Otherwise put
// them back one at a time as long as the pod still fits: first those whose eviction would violate a disruption budget,
// then the others, the most important first. Whoever could not be put back is a victim.
#pragma once

#include "base/clock.h"
#include "framework/handle.h"
#include "preemption/disruption_budgets.h"

namespace berth::preemption {

struct Trial {
  // Success: evicting `victims`, of which there is at least one, makes room. Otherwise what stands in the way still.
  framework::Status status;
  framework::Victims victims;
};

class DryRun {
 public:
  // `state` is the one that this cycle's PreFilter and Filter used.
  DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod);

  Trial Try(const framework::NodeInfo& node) const;

  // The moment that counts as the start of pods that have not started.
  base::Time now() const { return now_; }

 private:
  const framework::Handle& handle_;
  const framework::CycleState& state_;
  const framework::PodInfo& pod_;
  const base::Time now_;
  const DisruptionBudgets budgets_;
};

}  // namespace berth::preemption
