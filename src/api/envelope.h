// Kubernetes' protobuf envelope: the four bytes "k8s\0", then a message that identifies the object inside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::api {

// The media type of what this file reads and writes.
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;  // the object's own protobuf
};

// The result refers to `bytes`. An error when the prefix is missing, the envelope is truncated, or its content is
// compressed or not protobuf.
Result<Envelope> OpenEnvelope(std::string_view bytes);

std::string SealEnvelope(const Envelope& envelope);

// The parts of an envelope, for those who read it while it arrives: the first bytes, field numbers, what names the
// object inside, and what must hold for the other fields.
inline constexpr std::string_view kEnvelopePrefix("k8s\0", 4);
inline constexpr uint32_t kEnvelopeTypeMeta = 1;
inline constexpr uint32_t kEnvelopeRaw = 2;
Result<Envelope> ReadTypeMeta(std::string_view bytes);
Result<void> CheckEnvelopeField(uint32_t number, std::string_view bytes);

}  // namespace berth::api
