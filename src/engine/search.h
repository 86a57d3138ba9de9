// The search for a node as kube-scheduler does it: PreFilter, then every node, then every score, nothing kept.
#pragma once

#include "engine/evaluation.h"
#include "engine/profile.h"

namespace berth::engine {

struct Sample;

// The reference for the incremental evaluator, and the fallback where that cannot answer. With a `sample`, the search
// ends early.
Evaluation EvaluateFromScratch(const Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                               Scope scope, const Sample* sample = nullptr);

}  // namespace berth::engine
