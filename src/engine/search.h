// The search for a node as kube-scheduler makes it: PreFilter, then every node, then every score, nothing kept.
#pragma once

#include "engine/evaluation.h"
#include "engine/profile.h"

namespace berth::engine {

struct Sample;

// What the incremental evaluator's answers are held against, and what answers when it passes. With a `sample`, the
// search ends early.
Evaluation EvaluateFromScratch(const Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                               Scope scope, const Sample* sample = nullptr);

}  // namespace berth::engine
