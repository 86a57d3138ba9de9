// Shrinks a failure: finds a plan with fewer faults, actions, processes and options that violates the same invariant.
#pragma once

#include <functional>
#include <string>

#include "storm/instance.h"
#include "storm/plan.h"

namespace berth::storm {

// `plan` must violate the invariant. `progress` is called each time something could be dropped.
Plan Shrink(Plan plan, const Scheduler& scheduler, const std::string& invariant,
            const std::function<void(const Plan& smaller)>& progress);

// The kind of world, in one line: every option that is not the usual one.
std::string DescribeWorld(const Plan& plan);
// The same with faults and actions, one line each.
std::string Describe(const Plan& plan);

}  // namespace berth::storm
