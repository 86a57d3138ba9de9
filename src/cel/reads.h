// Which parts of the variable a plan looks at.
#pragma once

#include <optional>
#include <vector>

#include "cel/plan.h"
#include "cel/program.h"

namespace berth::cel {

// Nothing if that cannot be told.
std::optional<std::vector<Path>> FindReads(const Plan& plan);

}  // namespace berth::cel
