#include "api/list_decoder.h"

#include <fmt/core.h>

#include <optional>

#include "api/envelope.h"
#include "api/list_fields.h"
#include "codec/protobuf_wire.h"

namespace berth::api {
namespace {

// etcd's limit for an object is a few megabytes. Anything larger is not an object.
constexpr uint64_t kMaxField = uint64_t{64} << 20;

// Where the next field begins and ends, as far as its first bytes tell.
struct FieldHead {
  uint32_t number = 0;
  codec::WireType type = codec::WireType::kVarint;
  uint64_t head = 0;     // bytes before the content
  uint64_t content = 0;  // bytes of content
  uint64_t size() const { return head + content; }
};

Error Malformed(std::string_view what) { return Error::InvalidArgument(fmt::format("list: {}", what)); }

// Nothing when `bytes` do not tell yet.
Result<std::optional<FieldHead>> PeekField(std::string_view bytes) {
  constexpr size_t kLongestVarint = 10;
  const char* cursor = bytes.data();
  const char* const end = cursor + bytes.size();
  // A varint that ends after the bytes there are looks like a malformed one until ten are there.
  const auto incomplete = [&]() -> Result<std::optional<FieldHead>> {
    if (end - cursor >= static_cast<std::ptrdiff_t>(kLongestVarint)) return Malformed("a malformed number");
    return std::optional<FieldHead>();
  };
  uint64_t tag = 0;
  if (!codec::ReadVarint(cursor, end, tag)) return incomplete();
  if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX) return Malformed("a field without a number");
  FieldHead field{.number = static_cast<uint32_t>(tag >> 3), .type = static_cast<codec::WireType>(tag & 7)};
  switch (field.type) {
    case codec::WireType::kVarint: {
      const char* const before = cursor;
      if (uint64_t value = 0; !codec::ReadVarint(cursor, end, value)) return incomplete();
      field.content = static_cast<uint64_t>(cursor - before);
      cursor = before;
      break;
    }
    case codec::WireType::kFixed64:
      field.content = 8;
      break;
    case codec::WireType::kFixed32:
      field.content = 4;
      break;
    case codec::WireType::kBytes:
      if (!codec::ReadVarint(cursor, end, field.content)) return incomplete();
      break;
    default:
      return Malformed("unknown wire type");
  }
  field.head = static_cast<uint64_t>(cursor - bytes.data());
  return std::optional(field);
}

}  // namespace

ListDecoder::ListDecoder(Kind item) : item_(InfoOf(item)) {}

Result<void> ListDecoder::Append(std::string_view bytes, DecodedObjects& out) {
  // What has been decoded goes when it is the larger part, so that each byte moves a bounded number of times.
  if (begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  buffer_ += bytes;
  while (true) {
    const Result<bool> taken = !has_prefix_ ? TakePrefix() : list_left_ == 0 ? TakeEnvelopeField() : TakeListField(out);
    if (!taken) return taken.error();
    if (!*taken) return {};
  }
}

Result<bool> ListDecoder::TakePrefix() {
  if (left().size() < kEnvelopePrefix.size()) return false;
  if (!left().starts_with(kEnvelopePrefix)) return Malformed("it does not begin as Kubernetes' protobuf does");
  has_prefix_ = true;
  begin_ += kEnvelopePrefix.size();
  return true;
}

Result<bool> ListDecoder::TakeEnvelopeField() {
  if (left().empty()) return false;
  const Result<std::optional<FieldHead>> field = PeekField(left());
  if (!field) return field.error();
  if (!*field) return false;
  const FieldHead& head = **field;
  if (head.number == kEnvelopeRaw && head.type == codec::WireType::kBytes) {
    if (!has_type_) return Malformed("its content comes before its kind");
    if (has_list_) return Malformed("it has two contents");
    has_list_ = true;
    list_left_ = head.content;
    begin_ += head.head;
    return true;
  }
  if (head.content > kMaxField) return Malformed(fmt::format("a field of {} bytes is too long", head.content));
  if (left().size() < head.size()) return false;
  const std::string_view content = left().substr(head.head, head.content);
  begin_ += head.size();
  if (head.number != kEnvelopeTypeMeta) {
    // What the content is encoded or compressed with: nothing, or we could not read it.
    const Result<void> plain = CheckEnvelopeField(head.number, content);
    if (!plain) return plain.error();
    return true;
  }
  const Result<Envelope> type = ReadTypeMeta(content);
  if (!type) return type.error();
  if (FindListItem(type->api_version, type->kind) != &item_) {
    return Malformed(fmt::format("expected {}List, found {} {}", item_.name, type->api_version, type->kind));
  }
  api_version_ = type->api_version;
  has_type_ = true;
  return true;
}

Result<bool> ListDecoder::TakeListField(DecodedObjects& out) {
  const Result<std::optional<FieldHead>> field = PeekField(left().substr(0, list_left_));
  if (!field) return field.error();
  const bool is_all_there = left().size() >= list_left_;
  if (!*field && is_all_there) return Malformed("it ends within a field");
  if (!*field) return false;
  const FieldHead& head = **field;
  if (head.size() > list_left_) return Malformed("a field is longer than the list");
  if (head.content > kMaxField) return Malformed(fmt::format("a field of {} bytes is too long", head.content));
  if (left().size() < head.size()) return false;
  if (head.type == codec::WireType::kBytes) {
    const Result<void> decoded =
        DecodeListField(item_, api_version_, head.number, left().substr(head.head, head.content), out);
    if (!decoded) return decoded.error();
  }
  begin_ += head.size();
  list_left_ -= head.size();
  return true;
}

Result<void> ListDecoder::Finish() const {
  if (!has_list_ || list_left_ != 0 || !left().empty()) return Malformed("it has ended early");
  return {};
}

}  // namespace berth::api
