// Mistakes in an object that the API server would have rejected, as far as they affect scheduling.
#pragma once

#include <vector>

#include "api/object.h"
#include "api/pod.h"
#include "api/workload.h"
#include "input/field_checks.h"

namespace berth::input {

// Empty for a valid object.
std::vector<FieldProblem> ProblemsOf(const api::Object& object);

// The part for pods, which pod templates need too.
void CheckPod(const api::Pod& pod, FieldChecks& checks);

// The rollout settings (strategy_checks.cc).
void CheckStrategy(const api::Deployment& deployment, FieldChecks& checks);
void CheckStrategy(const api::StatefulSet& set, FieldChecks& checks);
void CheckStrategy(const api::DaemonSet& set, FieldChecks& checks);

}  // namespace berth::input
