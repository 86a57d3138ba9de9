// Well-known protobuf messages that an expression can write out: google.protobuf.Int64Value{value: 1}.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cel/environment.h"
#include "cel/evaluation.h"

namespace berth::cel {

void AddMessages(Environment& environment);

// Under which name the fields of a type are declared; empty if no message is of that type.
std::string_view MessageNameOf(const Type& type);

struct FieldValue {
  std::string_view name;
  Value value;
};
// The value that such a message stands for, or an error.
Value MakeMessage(Evaluation& evaluation, std::string_view name, std::span<const FieldValue> fields);

}  // namespace berth::cel
