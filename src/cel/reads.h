// Which parts of the variable a plan reads.
#pragma once

#include <optional>
#include <vector>

#include "cel/plan.h"
#include "cel/program.h"

namespace berth::cel {

// Unset if that is unknown.
std::optional<std::vector<Path>> FindReads(const Plan& plan);

}  // namespace berth::cel
