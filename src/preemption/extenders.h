// Extenders in preemption: they remove candidates from the list, or choose other victims.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "framework/preemption_extender.h"

namespace berth::preemption {

using Extenders = std::span<framework::PreemptionExtender* const>;

bool AnyHasASay(Extenders extenders, const framework::PodInfo& pod);

// Asks one after the other, each about what the previous ones left, until nothing is left. Every candidate
// returned has victims. An error is that of an extender that may not be ignored.
Result<std::vector<framework::PreemptionCandidate>> AskExtenders(Extenders extenders, const framework::PodInfo& pod,
                                                                 std::vector<framework::PreemptionCandidate> candidates,
                                                                 const framework::ClusterView& cluster);

}  // namespace berth::preemption
