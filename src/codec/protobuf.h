// Protobuf to and from structs, by their schema tables; protobuf_wire.h is for messages handled by hand.
// Unknown fields are skipped without being parsed. Malformed input is an error, never a crash.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/protobuf_wire.h"
#include "codec/schema.h"

namespace berth::codec {

Result<void> DecodeProtobuf(std::string_view bytes, const Message& message, void* out);
void AppendProtobuf(const Message& message, const void* object, std::string& out);

// Fills `out`, which should be freshly constructed. The error names message and field: "Pod.spec.containers: ...".
template <Described T>
Result<void> DecodeProtobuf(std::string_view bytes, T& out) {
  return DecodeProtobuf(bytes, DescriptionOf<T>(), &out);
}

template <Described T>
std::string EncodeProtobuf(const T& object) {
  std::string out;
  AppendProtobuf(DescriptionOf<T>(), &object, out);
  return out;
}

}  // namespace berth::codec
