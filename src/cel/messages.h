// Well-known protobuf messages that an expression can construct: google.protobuf.Int64Value{value: 1}.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cel/environment.h"
#include "cel/evaluation.h"

namespace berth::cel {

void AddMessages(Environment& environment);

// The name under which the fields of a type are declared; empty if the type is no message.
std::string_view MessageNameOf(const Type& type);

struct FieldValue {
  std::string_view name;
  Value value;
};
// The value that such a message represents, or an error.
Value MakeMessage(Evaluation& evaluation, std::string_view name, std::span<const FieldValue> fields);

}  // namespace berth::cel
