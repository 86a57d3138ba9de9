#include "client/watch_stream.h"

#include <fmt/core.h>

#include <utility>

#include "api/envelope.h"
#include "codec/json.h"
#include "codec/json_writer.h"
#include "codec/protobuf.h"
#include "codec/protobuf_wire.h"

namespace berth::client {
namespace {

// etcd limits objects to a few megabytes; a frame that claims more than this is not part of a watch.
constexpr size_t kMaxFrame = size_t{64} << 20;
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

Result<WatchEvent::Type> ReadType(std::string_view text) {
  if (text == "ADDED") return WatchEvent::Type::kAdded;
  if (text == "MODIFIED") return WatchEvent::Type::kModified;
  if (text == "DELETED") return WatchEvent::Type::kDeleted;
  if (text == "BOOKMARK") return WatchEvent::Type::kBookmark;
  if (text == "ERROR") return WatchEvent::Type::kError;
  return Error::InvalidArgument(fmt::format("expected the type of a watch event, found \"{}\"", text));
}

void TakeBookmark(const api::ObjectMeta& metadata, WatchEvent& event) {
  event.resource_version = metadata.resource_version;
  const std::string* end = metadata.annotations.Find(std::string(kInitialEventsEnd));
  event.initial_events_end = end != nullptr && *end == "true";
}

Result<void> TakeObject(api::DecodedObjects decoded, WatchEvent& event) {
  if (decoded.objects.size() != 1) {
    const std::string kind = decoded.unknown.empty() ? "none" : decoded.unknown.front().kind;
    return Error::InvalidArgument(fmt::format("expected one object in a watch event, found {}", kind));
  }
  event.object = std::move(decoded.objects.front().object);
  event.resource_version = event.object->metadata().resource_version;
  return {};
}

Result<void> TakeStatus(std::string_view bytes, WatchEvent& event) {
  Result<ApiStatus> status = DecodeStatus(bytes);
  if (!status) return status.error();
  event.status = std::move(*status);
  return {};
}

// A bookmark is an object with nothing but metadata, which no kind's decoder would accept.
Result<void> TakeProtobufBookmark(std::string_view bytes, WatchEvent& event) {
  constexpr uint32_t kMetadata = 1;  // of every kind
  const Result<api::Envelope> envelope = api::OpenEnvelope(bytes);
  if (!envelope) return envelope.error();
  api::ObjectMeta metadata;
  codec::WireReader reader(envelope->raw);
  while (reader.Next()) {
    if (reader.number() != kMetadata) continue;
    Result<void> decoded = codec::DecodeProtobuf(reader.bytes(), metadata);
    if (!decoded) return decoded;
  }
  if (!reader.ok()) return Error::InvalidArgument(fmt::format("bookmark: {}", reader.problem()));
  TakeBookmark(metadata, event);
  return {};
}

Result<WatchEvent> DecodeProtobufEvent(std::string_view frame) {
  // Field numbers of WatchEvent and RawExtension.
  constexpr uint32_t kType = 1;
  constexpr uint32_t kObject = 2;
  constexpr uint32_t kRaw = 1;
  // kube-apiserver sends the event without an envelope; nothing forbids one.
  if (frame.starts_with(std::string_view("k8s\0", 4))) {
    const Result<api::Envelope> envelope = api::OpenEnvelope(frame);
    if (!envelope) return envelope.error();
    frame = envelope->raw;
  }
  std::string_view type;
  std::string_view bytes;
  codec::WireReader reader(frame);
  while (reader.Next()) {
    if (reader.number() == kType) type = reader.bytes();
    if (reader.number() != kObject) continue;
    codec::WireReader raw(reader.bytes());
    while (raw.Next()) {
      if (raw.number() == kRaw) bytes = raw.bytes();
    }
    if (!raw.ok()) return Error::InvalidArgument(fmt::format("watch event: {}", raw.problem()));
  }
  if (!reader.ok()) return Error::InvalidArgument(fmt::format("watch event: {}", reader.problem()));
  const Result<WatchEvent::Type> read = ReadType(type);
  if (!read) return read.error();
  WatchEvent event{.type = *read};
  Result<void> taken;
  if (event.type == WatchEvent::Type::kError) {
    taken = TakeStatus(bytes, event);
  } else if (event.type == WatchEvent::Type::kBookmark) {
    taken = TakeProtobufBookmark(bytes, event);
  } else {
    Result<api::DecodedObjects> decoded = api::DecodeProtobufObjects(bytes);
    if (!decoded) return decoded.error();
    taken = TakeObject(std::move(*decoded), event);
  }
  if (!taken) return taken.error();
  return event;
}

Result<WatchEvent> DecodeJsonEvent(std::string_view line, const std::optional<CustomSource>& custom) {
  const Result<codec::Document> document = codec::ParseJson(std::string(line), "watch event");
  if (!document) return document.error();
  const codec::Value* type = document->root().Find("type");
  const codec::Value* object = document->root().Find("object");
  if (type == nullptr || object == nullptr) {
    return Error::InvalidArgument("expected a watch event with type and object, found " +
                                  document->root().Description());
  }
  const Result<WatchEvent::Type> read = ReadType(type->text());
  if (!read) return read.error();
  WatchEvent event{.type = *read};
  std::vector<codec::Diagnostic> problems;
  if (event.type == WatchEvent::Type::kError) {
    std::string text;
    codec::JsonWriter(text).Write(*object);
    Result<void> taken = TakeStatus(text, event);
    if (!taken) return taken.error();
  } else if (event.type == WatchEvent::Type::kBookmark) {
    api::ObjectMeta metadata;
    if (const codec::Value* value = object->Find("metadata")) codec::Decode(*value, metadata, {}, problems);
    TakeBookmark(metadata, event);
  } else {
    api::DecodedObjects decoded;
    if (custom) {
      api::DecodeCustomObjects(*object, {.keep_json = custom->keep_json}, decoded, problems, "object");
    } else {
      api::DecodeObjects(*object, {}, decoded, problems, "object");
    }
    if (problems.empty()) {
      Result<void> taken = TakeObject(std::move(decoded), event);
      if (!taken) return taken.error();
    }
  }
  if (Result<void> fine = codec::ToResult("watch event", problems); !fine) return fine.error();
  return event;
}

}  // namespace

void WatchStream::Append(std::string bytes) {
  // Usually everything has been read by now: then the buffer is replaced and nothing is copied.
  if (begin_ == buffer_.size()) {
    buffer_ = std::move(bytes);
    begin_ = scanned_ = 0;
    return;
  }
  // An incomplete frame moves to the front only if it is the smaller part, so that its bytes move a bounded number of
  // times however small the pieces are.
  if (begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  buffer_ += bytes;
}

Result<std::optional<std::string_view>> WatchStream::NextFrame() {
  const std::string_view left = std::string_view(buffer_).substr(begin_);
  if (protobuf_) {
    constexpr size_t kLengthSize = 4;
    if (left.size() < kLengthSize) return std::optional<std::string_view>();
    size_t length = 0;
    for (size_t i = 0; i < kLengthSize; ++i) length = length << 8 | static_cast<unsigned char>(left[i]);
    if (length > kMaxFrame) {
      return Error::InvalidArgument(fmt::format("watch: an event of {} bytes is too long", length));
    }
    if (left.size() - kLengthSize < length) return std::optional<std::string_view>();
    begin_ += kLengthSize + length;
    scanned_ = begin_;
    return std::optional(left.substr(kLengthSize, length));
  }
  const size_t end = buffer_.find('\n', scanned_);
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    if (left.size() > kMaxFrame) return Error::InvalidArgument("watch: a line without end");
    return std::optional<std::string_view>();
  }
  const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
  begin_ = scanned_ = end + 1;
  return std::optional(line);
}

Result<std::optional<WatchEvent>> WatchStream::Next() {
  while (true) {
    Result<std::optional<std::string_view>> frame = NextFrame();
    if (!frame) return frame.error();
    if (!frame->has_value()) return std::optional<WatchEvent>();
    if ((*frame)->empty()) continue;
    Result<WatchEvent> event = protobuf_ ? DecodeProtobufEvent(**frame) : DecodeJsonEvent(**frame, custom_);
    if (!event) return event.error();
    return std::optional(std::move(*event));
  }
}

}  // namespace berth::client
