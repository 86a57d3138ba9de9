// Objects that no API server has seen: what it would refuse because it is missing, and what it would warn about. An
// object of a running cluster is past both.
#pragma once

#include <string>
#include <vector>

#include "api/object.h"
#include "codec/value.h"
#include "input/field_checks.h"

namespace berth::input {

// `text` is the object as it was written.
std::vector<FieldProblem> MissingParts(const api::Object& object, const codec::Value& text);

// Allowed, but seldom meant: a request of half a byte, or of an amount that was left empty.
std::vector<FieldProblem> SeldomMeant(const api::Object& object, const codec::Value& text);

}  // namespace berth::input
