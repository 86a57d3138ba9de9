// Kubernetes' protobuf envelope: the four bytes "k8s\0", then a message that identifies the object inside.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::api {

struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;  // the object's own protobuf
};

// The result refers to `bytes`. An error when the prefix is missing, the envelope is truncated, or its content is
// compressed or not protobuf.
Result<Envelope> OpenEnvelope(std::string_view bytes);

std::string SealEnvelope(const Envelope& envelope);

}  // namespace berth::api
