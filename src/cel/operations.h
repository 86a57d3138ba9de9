// Operators and conversions on values: equality, order, arithmetic.
#pragma once

#include "cel/evaluation.h"
#include "cel/value.h"

namespace berth::cel {

// ==. A bool, or an error: some types cannot be compared with others.
Value Equal(Evaluation& evaluation, const Value& a, const Value& b);
// The equality that list and map functions use: false for values that cannot be compared.
inline bool IsEqual(Evaluation& evaluation, const Value& a, const Value& b) {
  return Equal(evaluation, a, b).is_true();
}
// An int (-1, 0, 1) or an error.
Value Compare(Evaluation& evaluation, const Value& a, const Value& b);

Value Add(Evaluation& evaluation, const Value& a, const Value& b);
Value Subtract(Evaluation& evaluation, const Value& a, const Value& b);
Value Multiply(Evaluation& evaluation, const Value& a, const Value& b);
Value Divide(Evaluation& evaluation, const Value& a, const Value& b);
Value Modulo(Evaluation& evaluation, const Value& a, const Value& b);
Value Negate(Evaluation& evaluation, const Value& a);

// `x in container`.
Value Contains(Evaluation& evaluation, const Value& container, const Value& element);
bool ListContains(Evaluation& evaluation, const ListObject& list, const Value& element);
// int("1"), string(2u), …: converts to the type of that name.
Value Convert(Evaluation& evaluation, const Value& value, Kind to);
// Empty or zero, for optional.ofNonZeroValue.
bool IsZeroValue(const Value& value);

Value MakeString(Evaluation& evaluation, std::string_view text);
Value MakeTimestamp(Evaluation& evaluation, const TimestampObject& time);
Value MakeOptional(Evaluation& evaluation, const Value& value);
Value MakeList(Evaluation& evaluation, std::span<const Value> items);
Value MakeStringList(Evaluation& evaluation, std::span<const std::string> items);
// A list that grows in place, for the loops of map and filter.
Value NewMutableList(Evaluation& evaluation);
Value NewMutableMap(Evaluation& evaluation);
// A constant copy of the list or map, for use outside the loop.
Value Freeze(Evaluation& evaluation, const Value& value);
// Adds an entry; an error if the key exists already.
Value InsertEntry(Evaluation& evaluation, const Value& map, const Value& key, const Value& value);

}  // namespace berth::cel
