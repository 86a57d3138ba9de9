#include "client/curl_transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "client/credentials_fetcher.h"
#include "client/curl_transport_exchange.h"

namespace berth::client {
namespace {

// Nothing needs the thread more often than this; whatever does wakes it.
constexpr std::chrono::milliseconds kLongestWait{60'000};
// libcurl's own limit, used when the server allows more, is 100.
constexpr long kStreamsPerConnection = 1000;
// When to look for input that libcurl 7.88 has read but forgotten, counted from when something was last heard: it may
// leave frames of several HTTP/2 streams in its buffer when one of them ends, and then waits for a socket that has
// nothing more to say. Once all of these have passed without news there is nothing to find.
constexpr std::chrono::milliseconds kNudges[] = {std::chrono::milliseconds(2), std::chrono::milliseconds(20),
                                                 std::chrono::milliseconds(200)};
// Handles keep their memory between requests, up to so many.
constexpr size_t kSpareHandles = 64;

void InitializeCurl() {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(initialized == CURLE_OK);
}

}  // namespace

// What the transport's thread does, and the mailbox through which others talk to it.
//
//   Start → incoming_ → (held by a rate limiter) → in line → on its way → done
//                                                     ^          | 401, once
//                                                     +----------+
//
// An exchange leaves calls_ exactly once, through End().
class CurlTransport::Loop {
 public:
  Loop(RestConfig config, CurlOptions options, RequestObserver* observer)
      : options_(options),
        observer_(observer),
        setup_(std::move(config), options),
        connections_(options.silence),
        multi_(curl_multi_init()),
        fetcher_(std::in_place, setup_.config().credentials,
                 [this](Result<CredentialsPtr> fetched) { Fetched(std::move(fetched)); }),
        thread_([this] { Run(); }) {}

  ~Loop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
  }

  CallId Start(base::Duration delay, Request request, ResponseHandler handler) {
    const SteadyTime now = std::chrono::steady_clock::now();
    const base::Duration timeout = request.timeout;
    const CallId id = ++last_id_;
    auto exchange = std::make_unique<Exchange>(id, std::move(request), std::move(handler), setup_, observer_);
    exchange->held_until = now + delay;
    if (timeout > base::Duration::zero()) exchange->deadline = exchange->held_until + timeout;
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = incoming_.empty();
      incoming_.push_back(std::move(exchange));
    }
    // The thread takes everything at once: whoever comes second finds it on its way already.
    if (first) curl_multi_wakeup(multi_);
    return id;
  }

  void Cancel(CallId call) {
    {
      const std::lock_guard lock(mutex_);
      canceled_.push_back(call);
    }
    curl_multi_wakeup(multi_);
  }

  const ServerSetup& setup() const { return setup_; }
  RequestObserver* observer() const { return observer_; }

 private:
  void Run();
  void Fetched(Result<CredentialsPtr> fetched);
  // Returns false when it is time to leave.
  bool ReadMailbox();
  void Accept(std::unique_ptr<Exchange> exchange);
  void Queue(Exchange& exchange, bool first);
  void GrantCredentials(const Result<CredentialsPtr>& fetched);
  void RunTimers();
  void SetTimer(Exchange& exchange, SteadyTime when);
  void OnTimer(Exchange& exchange, SteadyTime now);
  void StartQueued(std::deque<CallId>& queue, int limit, int& active);
  void Send(Exchange& exchange, CredentialsPtr credentials);
  void ReapFinished();
  void TakeOff(Exchange& exchange);
  void End(Exchange& exchange, Result<void> ended);
  void EndAll();
  void Nudge();
  int WaitMilliseconds();
  bool CanStart() const;
  int& active(const Exchange& exchange) { return exchange.is_watch() ? active_watches_ : active_requests_; }

  // Constant after construction.
  const CurlOptions options_;
  RequestObserver* const observer_;
  const ServerSetup setup_;

  std::atomic<CallId> last_id_{0};

  std::mutex mutex_;
  // Guarded by mutex_: the mailbox.
  std::vector<std::unique_ptr<Exchange>> incoming_;
  std::vector<CallId> canceled_;
  std::optional<Result<CredentialsPtr>> fetched_;
  bool stopping_ = false;

  // Of the transport's thread alone.
  Connections connections_;  // before multi_: closing a connection tells it
  CURLM* const multi_;
  std::vector<CURL*> spare_;
  std::unordered_map<CallId, std::unique_ptr<Exchange>> calls_;
  std::set<std::pair<SteadyTime, CallId>> timers_;
  std::deque<CallId> queued_requests_, queued_watches_;  // may hold calls that have ended
  int active_requests_ = 0, active_watches_ = 0;
  bool fetching_ = false;
  uint64_t seen_activity_ = 0;
  SteadyTime nudge_from_{};
  size_t nudges_ = std::size(kNudges);  // since then

  std::optional<CredentialFetcher> fetcher_;
  std::thread thread_;  // last: it uses all of the above
};

void CurlTransport::Loop::Run() {
  // Signals are for the main thread; and a connection that breaks while it is written to must not end the program.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);

  while (ReadMailbox()) {
    RunTimers();
    StartQueued(queued_requests_, options_.max_requests, active_requests_);
    StartQueued(queued_watches_, options_.max_watches, active_watches_);
    int running = 0;
    curl_multi_perform(multi_, &running);
    ReapFinished();
    Nudge();
    if (!CanStart()) curl_multi_poll(multi_, nullptr, 0, WaitMilliseconds(), nullptr);
  }
  EndAll();
  // Here and not in the destructor: closing connections may write to them, and only this thread blocks SIGPIPE. The
  // fetcher goes first, as it wakes multi_.
  fetcher_.reset();
  for (CURL* easy : spare_) curl_easy_cleanup(easy);
  curl_multi_cleanup(multi_);
}

void CurlTransport::Loop::Fetched(Result<CredentialsPtr> fetched) {
  {
    const std::lock_guard lock(mutex_);
    fetched_ = std::move(fetched);
  }
  curl_multi_wakeup(multi_);
}

bool CurlTransport::Loop::ReadMailbox() {
  std::vector<std::unique_ptr<Exchange>> incoming;
  std::vector<CallId> canceled;
  std::optional<Result<CredentialsPtr>> fetched;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    incoming.swap(incoming_);
    canceled.swap(canceled_);
    fetched.swap(fetched_);
  }
  for (std::unique_ptr<Exchange>& exchange : incoming) Accept(std::move(exchange));
  for (const CallId call : canceled) {
    const auto found = calls_.find(call);
    if (found != calls_.end()) End(*found->second, found->second->Failed(ErrorCode::kUnavailable, "canceled"));
  }
  if (fetched) GrantCredentials(*fetched);
  return true;
}

void CurlTransport::Loop::Accept(std::unique_ptr<Exchange> exchange) {
  Exchange& accepted = *exchange;
  calls_.emplace(accepted.id, std::move(exchange));
  if (accepted.held_until > std::chrono::steady_clock::now()) return SetTimer(accepted, accepted.held_until);
  Queue(accepted, false);
}

void CurlTransport::Loop::Queue(Exchange& exchange, bool first) {
  std::deque<CallId>& queue = exchange.is_watch() ? queued_watches_ : queued_requests_;
  if (first) {
    queue.push_front(exchange.id);
  } else {
    queue.push_back(exchange.id);
  }
  exchange.queued = true;
  SetTimer(exchange, exchange.deadline);
}

void CurlTransport::Loop::GrantCredentials(const Result<CredentialsPtr>& fetched) {
  fetching_ = false;
  std::vector<Exchange*> waiting;
  for (const auto& [id, exchange] : calls_) {
    if (exchange->queued) waiting.push_back(exchange.get());
  }
  for (Exchange* exchange : waiting) {
    if (fetched) {
      exchange->granted = *fetched;
    } else {
      End(*exchange, exchange->Failed(ErrorCode::kUnavailable, "getting credentials: " + fetched.error().message));
    }
  }
}

void CurlTransport::Loop::SetTimer(Exchange& exchange, SteadyTime when) {
  if (exchange.timer != SteadyTime{}) timers_.erase({exchange.timer, exchange.id});
  exchange.timer = when == SteadyTime::max() ? SteadyTime{} : when;
  if (exchange.timer != SteadyTime{}) timers_.emplace(when, exchange.id);
}

void CurlTransport::Loop::RunTimers() {
  const SteadyTime now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Exchange& exchange = *calls_.at(timers_.begin()->second);
    SetTimer(exchange, SteadyTime::max());
    OnTimer(exchange, now);
  }
}

void CurlTransport::Loop::OnTimer(Exchange& exchange, SteadyTime now) {
  if (!exchange.queued && exchange.easy() == nullptr) return Queue(exchange, false);  // the rate limiter lets it go
  const bool late = now >= exchange.deadline;
  if (!late && now < exchange.idle_deadline()) {
    return SetTimer(exchange, std::min(exchange.deadline, exchange.idle_deadline()));
  }
  if (exchange.easy() != nullptr) connections_.Suspect(exchange.port(), now);
  End(exchange, exchange.Failed(ErrorCode::kDeadlineExceeded,
                                late ? "the request did not end in time" : "nothing was heard for too long"));
}

bool CurlTransport::Loop::CanStart() const {
  if (fetching_) return false;
  return (!queued_requests_.empty() && active_requests_ < options_.max_requests) ||
         (!queued_watches_.empty() && active_watches_ < options_.max_watches);
}

void CurlTransport::Loop::StartQueued(std::deque<CallId>& queue, int limit, int& active) {
  while (!queue.empty() && active < limit) {
    const auto found = calls_.find(queue.front());
    if (found == calls_.end()) {
      queue.pop_front();
      continue;
    }
    Exchange& exchange = *found->second;
    CredentialsPtr credentials = setup_.config().credentials->Current();
    if (!credentials) credentials = exchange.granted;
    if (!credentials) {
      if (!fetching_) fetcher_->Request();
      fetching_ = true;
      return;
    }
    queue.pop_front();
    Send(exchange, std::move(credentials));
  }
}

void CurlTransport::Loop::Send(Exchange& exchange, CredentialsPtr credentials) {
  CURL* easy = nullptr;
  if (spare_.empty()) {
    easy = curl_easy_init();
  } else {
    easy = spare_.back();
    spare_.pop_back();
  }
  exchange.queued = false;
  exchange.granted = nullptr;
  ++active(exchange);
  Result<void> begun = exchange.Begin(easy, connections_, std::move(credentials));
  if (!begun) return End(exchange, std::move(begun));
  const CURLMcode added = curl_multi_add_handle(multi_, easy);
  CHECK_WHY(added == CURLM_OK, curl_multi_strerror(added));
  SetTimer(exchange, std::min(exchange.deadline, exchange.idle_deadline()));
}

void CurlTransport::Loop::ReapFinished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;  // before the handle goes, and the message with it
    char* private_data = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private_data);
    Exchange& exchange = *reinterpret_cast<Exchange*>(private_data);
    bool again = false;
    Result<void> ended = exchange.Judge(code, again);
    if (!again) {
      End(exchange, std::move(ended));
      continue;
    }
    TakeOff(exchange);
    Queue(exchange, true);
  }
}

void CurlTransport::Loop::Nudge() {
  if (!setup_.config().is_tls()) return;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (seen_activity_ != connections_.activity()) {
    seen_activity_ = connections_.activity();
    nudge_from_ = now;
    nudges_ = 0;
  }
  if (nudges_ == std::size(kNudges) || now < nudge_from_ + kNudges[nudges_]) return;
  ++nudges_;
  for (const auto& [id, exchange] : calls_) {
    if (exchange->easy() == nullptr) continue;
    // Going on after a pause makes libcurl look into its buffers, whatever the socket says.
    curl_easy_pause(exchange->easy(), CURLPAUSE_RECV);
    curl_easy_pause(exchange->easy(), CURLPAUSE_CONT);
  }
  int running = 0;
  curl_multi_perform(multi_, &running);
  ReapFinished();
}

// Frees the handle, whether or not it has finished.
void CurlTransport::Loop::TakeOff(Exchange& exchange) {
  CURL* easy = exchange.Release();
  if (easy == nullptr) return;
  --active(exchange);
  curl_multi_remove_handle(multi_, easy);
  if (spare_.size() >= kSpareHandles) return curl_easy_cleanup(easy);
  curl_easy_reset(easy);
  spare_.push_back(easy);
}

void CurlTransport::Loop::End(Exchange& exchange, Result<void> ended) {
  TakeOff(exchange);
  SetTimer(exchange, SteadyTime::max());
  const auto node = calls_.extract(exchange.id);
  exchange.Finish(std::move(ended));
}

void CurlTransport::Loop::EndAll() {
  const auto leaving = [](const Exchange& exchange) {
    return exchange.Failed(ErrorCode::kUnavailable, "the transport is shutting down");
  };
  for (;;) {
    std::vector<std::unique_ptr<Exchange>> incoming;
    {
      const std::lock_guard lock(mutex_);
      incoming.swap(incoming_);
    }
    for (std::unique_ptr<Exchange>& exchange : incoming) {
      const CallId id = exchange->id;
      calls_.emplace(id, std::move(exchange));
    }
    if (calls_.empty()) return;
    while (!calls_.empty()) {
      Exchange& exchange = *calls_.begin()->second;
      End(exchange, leaving(exchange));
    }
  }
}

int CurlTransport::Loop::WaitMilliseconds() {
  SteadyTime next = SteadyTime::max();
  if (!timers_.empty()) next = timers_.begin()->first;
  if (nudges_ < std::size(kNudges) && active_requests_ + active_watches_ > 0) {
    next = std::min(next, nudge_from_ + kNudges[nudges_]);
  }
  if (next == SteadyTime::max()) return static_cast<int>(kLongestWait.count());
  // Rounded up: waking a moment too early would only mean to wait again.
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp(wait, std::chrono::milliseconds(0), kLongestWait).count());
}

CurlTransport::CurlTransport(RestConfig config, CurlOptions options, RequestObserver* observer) {
  CHECK(config.credentials != nullptr);
  InitializeCurl();
  loop_ = std::make_unique<Loop>(std::move(config), options, observer);
}

CurlTransport::~CurlTransport() = default;

CallId CurlTransport::Start(Request request, ResponseHandler handler) {
  return loop_->Start({}, std::move(request), std::move(handler));
}

CallId CurlTransport::StartAfter(base::Duration delay, Request request, ResponseHandler handler) {
  return loop_->Start(delay, std::move(request), std::move(handler));
}

void CurlTransport::Cancel(CallId call) { loop_->Cancel(call); }

const RestConfig& CurlTransport::config() const { return loop_->setup().config(); }
RequestObserver* CurlTransport::observer() const { return loop_->observer(); }
std::string_view CurlTransport::host() const { return loop_->setup().host(); }

CallId LimitedTransport::Start(Request request, ResponseHandler handler) {
  const base::Duration delay = limiter_.Take();
  if (RequestObserver* observer = base_.observer()) observer->OnRateLimited(request.method, base_.host(), delay);
  return base_.StartAfter(delay, std::move(request), std::move(handler));
}

}  // namespace berth::client
