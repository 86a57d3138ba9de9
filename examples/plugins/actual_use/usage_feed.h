// UsageFeed: the latest answer of a metrics endpoint, fetched again and again by a thread of its own so that scheduling
// never waits for a network.
//
// Thread-safe. A failed fetch leaves the last good answer in place until that is too old.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "usage.h"

namespace example {

class UsageFeed {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::string url;
    Clock::duration refresh = std::chrono::seconds(15);
    Clock::duration max_age = std::chrono::seconds(60);
    Clock::duration timeout = std::chrono::seconds(2);  // of one fetch
    std::function<Clock::time_point()> now = &Clock::now;
  };

  explicit UsageFeed(Options options);
  // Breaks off a fetch under way.
  ~UsageFeed();
  UsageFeed(const UsageFeed&) = delete;
  UsageFeed& operator=(const UsageFeed&) = delete;

  // Until the first fetch has ended, well or badly; it does so within the timeout.
  void AwaitFirst();
  // Null when there is no answer, or none that is young enough. Never waits for a fetch.
  std::shared_ptr<const UsageByNode> Latest() const;
  // Why the last fetch failed; "" when it did not.
  std::string LastError() const;

 private:
  void Loop();
  berth::Result<std::string> Fetch() const;
  bool stopping() const;

  const Options options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_, as all below
  bool first_fetched_ = false;
  std::shared_ptr<const UsageByNode> latest_;
  Clock::time_point fetched_at_;
  std::string last_error_;

  std::thread thread_;  // last: it uses the others
};

}  // namespace example
