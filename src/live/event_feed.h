// EventFeed: what has changed, for all readers. However many there are, the scheduling thread is asked at most ten
// times a second, by one of the readers; the others share its result.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "inspect/views.h"

namespace berth::live {

class EventFeed {
 public:
  using View = std::shared_ptr<const inspect::EventsView>;
  // Takes a fresh view, which may block; null if that took too long.
  using Look = std::function<View()>;
  static constexpr std::chrono::milliseconds kShortestPause{100};

  explicit EventFeed(Look look, std::chrono::milliseconds pause = kShortestPause)
      : look_(std::move(look)), pause_(pause) {}

  // The newest view: not older than the pause, unless another reader is just taking one. Null if there is none.
  View Newest();

 private:
  const Look look_;
  const std::chrono::milliseconds pause_;
  std::mutex mutex_;
  View newest_;  // guarded by mutex_, as the next two
  bool looking_ = false;
  std::optional<std::chrono::steady_clock::time_point> last_look_at_;
};

// One reader of a feed: returns server-sent events, each with everything since the one before. Not thread-safe.
class EventReader {
 public:
  // `after` is the last attempt that the reader has seen; 0: none.
  EventReader(EventFeed& feed, uint64_t after) : feed_(feed), after_(after) {}

  // The next event; "" if nothing has changed.
  std::string Next();

 private:
  EventFeed& feed_;
  uint64_t after_;
  std::string counts_;  // as last sent
};

}  // namespace berth::live
