// Extenders in preemption: they remove candidates from the list, or choose other victims.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "framework/preemption_extender.h"

namespace berth::preemption {

using Extenders = std::span<framework::PreemptionExtender* const>;

bool AnyHasASay(Extenders extenders, const framework::PodInfo& pod);

// Asks them in order, each about the candidates that the previous ones left, until none is left. Every candidate
// returned has victims. An error comes from an extender that is not ignorable.
Result<std::vector<framework::PreemptionCandidate>> AskExtenders(Extenders extenders, const framework::PodInfo& pod,
                                                                 std::vector<framework::PreemptionCandidate> candidates,
                                                                 const framework::ClusterView& cluster);

}  // namespace berth::preemption
