// WatchSession: one watch request from its query to its end: delivers decoded events, then the reason for the end. The
// reflector decides what to do about it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/kind.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/result.h"
#include "client/api_client.h"
#include "client/api_status.h"
#include "client/object_source.h"
#include "client/watch_call.h"
#include "client/watch_stream.h"

namespace berth::client {

struct WatchQuery {
  api::Kind kind;
  std::string label_selector{};
  std::string field_selector{};
  std::string resource_version{};    // with initial events: "not older than"; "" is the latest
  bool send_initial_events = false;  // a streaming list
  int64_t timeout_seconds = 0;       // after which the server ends the watch
  base::Duration idle_timeout{};
  std::optional<CustomSource> custom{};  // with kCustomObject: of this resource
};

// Used on the loop's thread only. Takes no token of the write path: a watch must never wait behind writes.
class WatchSession {
 public:
  struct End {
    enum class How {
      kRefused,     // an HTTP status other than success: `status`
      kErrorEvent,  // an event of type ERROR: `status`
      kUnreadable,  // an event that cannot be decoded, or is not of this kind: `closed`
      kClosed,      // the stream is over: `closed` says how
    };
    How how = How::kClosed;
    ApiStatus status{};
    Result<void> closed{};
  };
  // Everything that has arrived since the last call.
  struct Arrival {
    std::vector<WatchEvent> events{};
    std::optional<End> end{};
  };

  // `on_arrival` is called on the loop until it has reported the end, or until Cancel().
  static std::shared_ptr<WatchSession> Start(ApiClient& client, base::Loop& loop, const WatchQuery& query,
                                             std::function<void(Arrival)> on_arrival);
  void Cancel();

  // The server has accepted the watch.
  bool accepted() const { return stream_.has_value(); }
  // The server has begun to answer.
  bool answered() const { return head_.has_value(); }
  size_t events() const { return events_; }
  base::Duration started() const { return started_; }

 private:
  WatchSession(const WatchQuery& query, base::Duration started, std::function<void(Arrival)> on_arrival)
      : kind_(query.kind), custom_(query.custom), started_(started), on_arrival_(std::move(on_arrival)) {}

  void Take(WatchCall::Arrival bytes);
  void Decode(Arrival& arrival);

  const api::Kind kind_;
  const std::optional<CustomSource> custom_;
  const base::Duration started_;
  std::function<void(Arrival)> on_arrival_;  // null once it is over
  std::shared_ptr<WatchCall> call_;
  std::optional<http::ResponseHead> head_;
  std::optional<WatchStream> stream_;  // once the server has accepted the watch
  std::string refusal_;                // the body of its answer if it has not
  size_t events_ = 0;
};

}  // namespace berth::client
