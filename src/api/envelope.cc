#include "api/envelope.h"

#include <fmt/core.h>

#include "codec/protobuf_wire.h"

namespace berth::api {
namespace {

constexpr std::string_view kPrefix("k8s\0", 4);
constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// Field numbers of runtime.Unknown and runtime.TypeMeta.
constexpr uint32_t kTypeMeta = 1;
constexpr uint32_t kRaw = 2;
constexpr uint32_t kContentEncoding = 3;
constexpr uint32_t kContentType = 4;
constexpr uint32_t kApiVersion = 1;
constexpr uint32_t kKind = 2;

Error Torn(const codec::WireReader& reader) {
  return Error::InvalidArgument(fmt::format("protobuf envelope: {}", reader.problem()));
}

}  // namespace

Result<Envelope> OpenEnvelope(std::string_view bytes) {
  if (!bytes.starts_with(kPrefix)) {
    return Error::InvalidArgument("expected a Kubernetes protobuf object (beginning with k8s and a zero byte)");
  }
  Envelope envelope;
  std::string_view type_meta;
  std::string_view encoding;
  std::string_view content_type;
  codec::WireReader outer(bytes.substr(kPrefix.size()));
  while (outer.Next()) {
    switch (outer.number()) {
      case kTypeMeta:
        type_meta = outer.bytes();
        break;
      case kRaw:
        envelope.raw = outer.bytes();
        break;
      case kContentEncoding:
        encoding = outer.bytes();
        break;
      case kContentType:
        content_type = outer.bytes();
        break;
      default:
        break;
    }
  }
  if (!outer.ok()) return Torn(outer);
  codec::WireReader inner(type_meta);
  while (inner.Next()) {
    if (inner.number() == kApiVersion) envelope.api_version = inner.bytes();
    if (inner.number() == kKind) envelope.kind = inner.bytes();
  }
  if (!inner.ok()) return Torn(inner);
  if (!encoding.empty()) {
    return Error::Unsupported(fmt::format("protobuf envelope: content encoding \"{}\" is not supported", encoding));
  }
  if (!content_type.empty() && content_type != kProtobufType) {
    return Error::Unsupported(fmt::format("protobuf envelope: content type \"{}\" is not supported", content_type));
  }
  return envelope;
}

std::string SealEnvelope(const Envelope& envelope) {
  std::string out(kPrefix);
  codec::WireWriter writer(out);
  const size_t type_meta = writer.StartMessage(kTypeMeta);
  writer.Bytes(kApiVersion, envelope.api_version);
  writer.Bytes(kKind, envelope.kind);
  writer.EndMessage(type_meta);
  writer.Bytes(kRaw, envelope.raw);
  // Empty, but upstream's encoder always writes them.
  writer.Bytes(kContentEncoding, {});
  writer.Bytes(kContentType, {});
  return out;
}

}  // namespace berth::api
