// What preemption found, node by node, from dry runs of its own.
#pragma once

#include <optional>

#include "engine/profile.h"
#include "explain/explanation.h"
#include "framework/diagnosis.h"
#include "framework/pod_info.h"

namespace berth::explain {

// `state` is that of the evaluation that found no place. Unset when the profile does not preempt.
std::optional<PreemptionStory> TellPreemption(const engine::Profile& profile, const framework::CycleState& state,
                                              const framework::PodInfo& pod, const framework::Diagnosis& diagnosis);

}  // namespace berth::explain
