// Mistakes in an object that the API server would have refused, as far as they decide where pods go.
#pragma once

#include <vector>

#include "api/object.h"
#include "sim/field_checks.h"

namespace berth::sim {

// Empty for a sound object.
std::vector<FieldProblem> ProblemsOf(const api::Object& object);

}  // namespace berth::sim
