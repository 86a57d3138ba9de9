// The outline both evaluators share: PreFilter, then every node, then scores. They differ in how a node is judged and
// how raw scores are had; those are the two parameters.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/evaluation.h"
#include "engine/profile.h"

namespace berth::engine {

// The verdict about one node, nominated pods included.
using JudgeNode = std::function<framework::Status(const framework::NodeInfo& node)>;
// Raw scores of the feasible nodes by the score plugin at `position` among the profile's.
using ScoreNodes = std::function<framework::Status(
    size_t position, std::span<const framework::NodeInfo* const> feasible, std::vector<int64_t>& raw)>;

// False when PreFilter has already decided (the evaluation is then complete).
bool RunPreFilterPhase(const Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                       Evaluation& evaluation);
void RunFilterPhase(const Profile& profile, const framework::PodInfo& pod, Scope scope, const JudgeNode& judge,
                    Evaluation& evaluation);
void RunScorePhase(const Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                   const ScoreNodes& score, Evaluation& evaluation);

}  // namespace berth::engine
