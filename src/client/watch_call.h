// WatchCall: one watch request and what has arrived so far, passed from the transport's thread to the loop's. The
// server is throttled while the loop is behind, so that no list accumulates here as bytes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/loop.h"
#include "base/result.h"
#include "http/transport.h"

namespace berth::client {

class WatchCall {
 public:
  // What has arrived since the last call.
  struct Arrival {
    std::optional<http::ResponseHead> head{};
    std::string data{};
    std::optional<Result<void>> ended{};
  };

  // `on_arrival` is called on the loop, once for everything that has arrived, until Cancel(). The other members are for
  // the loop's thread only, too.
  static std::shared_ptr<WatchCall> Start(http::Transport& transport, base::Loop& loop, http::Request request,
                                          std::function<void(Arrival)> on_arrival);
  void Cancel();

 private:
  WatchCall(http::Transport& transport, base::Loop& loop, std::function<void(Arrival)> on_arrival)
      : transport_(transport), loop_(loop), on_arrival_(std::move(on_arrival)) {}

  // Records something under the lock and makes sure that the loop will fetch it.
  static void Note(const std::shared_ptr<WatchCall>& call, const std::function<void(Arrival&)>& note);
  void Fetch();

  http::Transport& transport_;
  base::Loop& loop_;
  std::function<void(Arrival)> on_arrival_;  // null once cancelled
  http::CallId call_ = 0;
  size_t unreported_ = 0;  // bytes used and not reported yet

  std::mutex mutex_;
  Arrival arrived_;       // guarded by mutex_
  bool awaited_ = false;  // the loop has been notified; guarded by mutex_
};

}  // namespace berth::client
