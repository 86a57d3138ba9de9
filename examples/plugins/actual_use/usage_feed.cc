#include "usage_feed.h"

#include <utility>

#include "plain_http.h"

namespace example {

using berth::Error;
using berth::Result;

UsageFeed::UsageFeed(Options options) : options_(std::move(options)) {
  thread_ = std::thread([this] { Loop(); });
}

UsageFeed::~UsageFeed() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void UsageFeed::AwaitFirst() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return first_fetched_; });
}

std::shared_ptr<const UsageByNode> UsageFeed::Latest() const {
  const std::lock_guard lock(mutex_);
  return latest_ != nullptr && options_.now() - fetched_at_ <= options_.max_age ? latest_ : nullptr;
}

std::string UsageFeed::LastError() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

bool UsageFeed::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void UsageFeed::Loop() {
  for (;;) {
    const Clock::time_point asked_at = options_.now();  // the numbers are at least this old
    const Result<std::string> body = Fetch();
    Result<UsageByNode> usage = body ? ParseNodeMetrics(*body) : Result<UsageByNode>(body.error());

    std::unique_lock lock(mutex_);
    last_error_ = usage ? "" : usage.error().message;
    if (usage) {
      latest_ = std::make_shared<const UsageByNode>(std::move(*usage));
      fetched_at_ = asked_at;
    }
    first_fetched_ = true;
    changed_.notify_all();
    if (changed_.wait_for(lock, options_.refresh, [this] { return stopping_; })) return;
  }
}

Result<std::string> UsageFeed::Fetch() const {
  // A feed that goes away does not wait for its endpoint.
  Result<std::string> body = GetPlainHttp(options_.url, options_.timeout, [this] { return stopping(); });
  if (!body) return Error::Unavailable(options_.url + ": " + body.error().message);
  return body;
}

}  // namespace example
