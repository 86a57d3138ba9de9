// Mistakes in an object that the API server would have refused, as far as they decide where pods go.
#pragma once

#include <vector>

#include "api/object.h"
#include "input/field_checks.h"

namespace berth::input {

// Empty for a sound object.
std::vector<FieldProblem> ProblemsOf(const api::Object& object);

}  // namespace berth::input
