// EventFeed: what has changed, for everybody who follows it. However many do, the scheduling thread is looked at at
// most ten times a second, by one of those who want to know; the others take what that one found.
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
  // A fresh look, which may block; null when it took too long.
  using Look = std::function<View()>;
  static constexpr std::chrono::milliseconds kShortestPause{100};

  explicit EventFeed(Look look, std::chrono::milliseconds pause = kShortestPause)
      : look_(std::move(look)), pause_(pause) {}

  // The newest there is: not older than the pause, unless somebody is looking at the moment. Null when there is none.
  View Newest();

 private:
  const Look look_;
  const std::chrono::milliseconds pause_;
  std::mutex mutex_;
  View newest_;  // guarded by mutex_, as the next two
  bool looking_ = false;
  std::optional<std::chrono::steady_clock::time_point> looked_;
};

// One reader of a feed: gives server-sent events, each with all that has gathered since the one before. Not
// thread-safe.
class EventReader {
 public:
  // `after` is the last attempt that the reader knows of; 0: none.
  EventReader(EventFeed& feed, uint64_t after) : feed_(feed), after_(after) {}

  // The next event; "" when nothing has changed.
  std::string Next();

 private:
  EventFeed& feed_;
  uint64_t after_;
  std::string counts_;  // as they were told last
};

}  // namespace berth::live
