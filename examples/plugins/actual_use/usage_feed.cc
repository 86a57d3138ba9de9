#include "usage_feed.h"

#include <curl/curl.h>

#include <utility>

namespace example {

using berth::Error;
using berth::Result;

namespace {

// More than 100,000 nodes take; a wrong URL may point at anything.
constexpr size_t kMaxBody = 64 << 20;

size_t Append(const char* data, size_t size, size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (text.size() + size * count > kMaxBody) return 0;
  text.append(data, size * count);
  return size * count;
}

struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

void InitializeOnce() {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)initialized;
}

}  // namespace

UsageFeed::UsageFeed(Options options) : options_(std::move(options)) {
  InitializeOnce();
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
  const std::unique_ptr<CURL, FreeHandle> handle(curl_easy_init());
  if (handle == nullptr) return Error::Internal("cannot set up a request");
  std::string body;
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options_.timeout);
  curl_easy_setopt(handle.get(), CURLOPT_URL, options_.url.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, &Append);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &body);
  // Asked every second or so; a feed that goes away does not wait for its endpoint.
  curl_easy_setopt(handle.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFODATA, this);
  curl_easy_setopt(
      handle.get(), CURLOPT_XFERINFOFUNCTION, +[](void* feed, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
        return static_cast<const UsageFeed*>(feed)->stopping() ? 1 : 0;
      });
  const CURLcode code = curl_easy_perform(handle.get());
  if (code != CURLE_OK) return Error::Unavailable(options_.url + ": " + curl_easy_strerror(code));
  return body;
}

}  // namespace example
