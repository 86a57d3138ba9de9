#include "api/envelope.h"

#include <fmt/core.h>

#include "codec/protobuf_wire.h"

namespace berth::api {
namespace {

// Further field numbers of runtime.Unknown, and those of runtime.TypeMeta.
constexpr uint32_t kContentEncoding = 3;
constexpr uint32_t kContentType = 4;
constexpr uint32_t kApiVersion = 1;
constexpr uint32_t kKind = 2;

Error Torn(const codec::WireReader& reader) {
  return Error::InvalidArgument(fmt::format("protobuf envelope: {}", reader.problem()));
}

}  // namespace

Result<Envelope> ReadTypeMeta(std::string_view bytes) {
  Envelope envelope;
  codec::WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == kApiVersion) envelope.api_version = reader.bytes();
    if (reader.number() == kKind) envelope.kind = reader.bytes();
  }
  if (!reader.ok()) return Torn(reader);
  return envelope;
}

Result<void> CheckEnvelopeField(uint32_t number, std::string_view bytes) {
  if (number == kContentEncoding && !bytes.empty()) {
    return Error::Unsupported(fmt::format("protobuf envelope: content encoding \"{}\" is not supported", bytes));
  }
  if (number == kContentType && !bytes.empty() && bytes != kProtobufType) {
    return Error::Unsupported(fmt::format("protobuf envelope: content type \"{}\" is not supported", bytes));
  }
  return {};
}

Result<Envelope> OpenEnvelope(std::string_view bytes) {
  if (!bytes.starts_with(kEnvelopePrefix)) {
    return Error::InvalidArgument("expected a Kubernetes protobuf object (beginning with k8s and a zero byte)");
  }
  std::string_view type_meta, raw;
  Result<void> plain;
  codec::WireReader reader(bytes.substr(kEnvelopePrefix.size()));
  while (reader.Next()) {
    if (reader.number() == kEnvelopeTypeMeta) type_meta = reader.bytes();
    if (reader.number() == kEnvelopeRaw) raw = reader.bytes();
    if (plain) plain = CheckEnvelopeField(reader.number(), reader.bytes());
  }
  if (!reader.ok()) return Torn(reader);
  Result<Envelope> envelope = ReadTypeMeta(type_meta);
  if (!envelope) return envelope;
  if (!plain) return plain.error();
  envelope->raw = raw;
  return envelope;
}

std::string SealEnvelope(const Envelope& envelope) {
  std::string out(kEnvelopePrefix);
  codec::WireWriter writer(out);
  const size_t type_meta = writer.StartMessage(kEnvelopeTypeMeta);
  writer.Bytes(kApiVersion, envelope.api_version);
  writer.Bytes(kKind, envelope.kind);
  writer.EndMessage(type_meta);
  writer.Bytes(kEnvelopeRaw, envelope.raw);
  // Empty, but upstream's encoder always writes them.
  writer.Bytes(kContentEncoding, {});
  writer.Bytes(kContentType, {});
  return out;
}

}  // namespace berth::api
