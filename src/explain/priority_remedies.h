// Remedies by priority: who would go if the pod were allowed to preempt, or were more important. Found by the same dry
// runs that preemption makes.
#pragma once

#include <functional>
#include <optional>

#include "engine/profile.h"
#include "explain/explanation.h"
#include "framework/explanation.h"
#include "framework/pod_info.h"

namespace berth::explain {

using PreemptAs = std::function<std::optional<framework::PreemptionExplanation>(const framework::PodInfo& pod)>;

// Adds to `told.remedies` that the pod drops preemptionPolicy Never, or has the lowest priority with which it would
// preempt; none when it preempts as it is. `preempt_as` says what preemption would find for such a pod.
void FindPriorityRemedies(const engine::Profile& profile, const framework::PodInfo& pod, const PreemptAs& preempt_as,
                          Explanation& told);

}  // namespace berth::explain
