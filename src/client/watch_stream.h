// WatchStream: decodes the bytes of a watch into events. In JSON each is a line; in protobuf each is a four-byte length
// (big-endian) and a WatchEvent, with the object in Kubernetes' envelope inside.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/object.h"
#include "base/result.h"
#include "client/api_status.h"
#include "client/object_source.h"

namespace berth::client {

struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kError;
  std::optional<api::Object> object{};  // of the first three
  std::string resource_version{};       // of the object or the bookmark
  bool initial_events_end = false;      // a bookmark: all initial objects have been sent
  std::optional<ApiStatus> status{};    // of an error
};

// Not thread-safe.
class WatchStream {
 public:
  // `custom`: objects are read as CustomObjects; in JSON only.
  explicit WatchStream(bool protobuf, std::optional<CustomSource> custom = {})
      : protobuf_(protobuf), custom_(std::move(custom)) {}

  void Append(std::string bytes);
  // The next complete event; nothing if there is none yet. Unusable after an error.
  Result<std::optional<WatchEvent>> Next();

 private:
  // The next complete frame, borrowed from the buffer until the next Append.
  Result<std::optional<std::string_view>> NextFrame();

  const bool protobuf_;
  const std::optional<CustomSource> custom_;
  std::string buffer_;
  size_t begin_ = 0;    // of the unread part
  size_t scanned_ = 0;  // there is no end of line before this
};

}  // namespace berth::client
