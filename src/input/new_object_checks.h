// Checks of objects that no API server has seen: missing fields that it would reject, and what it would warn about. An
// object from a running cluster has passed both.
#pragma once

#include <string>
#include <vector>

#include "api/object.h"
#include "codec/value.h"
#include "input/field_checks.h"

namespace berth::input {

// `text` is the object as written.
std::vector<FieldProblem> MissingParts(const api::Object& object, const codec::Value& text);

// Valid, but rarely intended: a request of half a byte, or an amount that was left empty.
std::vector<FieldProblem> SeldomMeant(const api::Object& object, const codec::Value& text);

}  // namespace berth::input
