// Remedies by priority: which pods would be evicted if the pod were allowed to preempt, or had a higher priority. Found
// by the same dry runs that preemption makes.
#pragma once

#include <functional>
#include <optional>

#include "engine/profile.h"
#include "explain/explanation.h"
#include "framework/explanation.h"
#include "framework/pod_info.h"

namespace berth::explain {

using PreemptAs = std::function<std::optional<framework::PreemptionExplanation>(const framework::PodInfo& pod)>;

// Adds to `told.remedies` that the pod drops preemptionPolicy Never, or gets the lowest priority with which it would
// preempt; nothing when it preempts already. `preempt_as` returns what preemption would find for such a pod.
void FindPriorityRemedies(const engine::Profile& profile, const framework::PodInfo& pod, const PreemptAs& preempt_as,
                          Explanation& told);

}  // namespace berth::explain
