// Making a failure smaller: the same invariant broken by a plan with fewer faults, actions and processes.
#pragma once

#include <functional>
#include <string>

#include "storm/instance.h"
#include "storm/plan.h"

namespace berth::storm {

// `plan` must break the invariant. `progress` is told each time something could be left out.
Plan Shrink(Plan plan, const Scheduler& scheduler, const std::string& invariant,
            const std::function<void(const Plan& smaller)>& progress);

// What kind of world it is, in one line.
std::string DescribeWorld(const Plan& plan);
// That, and faults and actions, a line each.
std::string Describe(const Plan& plan);

}  // namespace berth::storm
