#include "http/dispatcher.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <string>

namespace berth::http {
namespace {

// Nothing needs the thread more often than this; everything else wakes it.
constexpr std::chrono::seconds kLongestWait{60};
// With this many requests in flight, events within kGather are handled together: each wake-up, here and in the threads
// that wait for answers, costs more than handling a single event.
constexpr int kManyRequests = 8;
constexpr std::chrono::milliseconds kGather{2};
// Of urgent requests, which are few: a lease is read or written once at a time, and so is its candidate.
constexpr int kMaxUrgent = 4;
// A server that keeps returning requests unprocessed is not retried forever.
constexpr int kMaxReturns = 3;

}  // namespace

Dispatcher::Dispatcher(const Server& server, TransportOptions options, RequestObserver* observer, MakePool make_pool,
                       MakePool fallback)
    : server_(server),
      options_(options),
      observer_(observer),
      make_pool_(std::move(make_pool)),
      fallback_(std::move(fallback)),
      urgent_{.limit = kMaxUrgent},
      requests_{.limit = options.max_requests},
      watches_{.limit = options.max_watches},
      fetcher_(
          std::in_place, server.config().credentials,
          [this](Result<CredentialsPtr> fetched) { Post([&](Mail& mail) { mail.fetched = std::move(fetched); }); }),
      thread_([this] { Run(); }) {}

Dispatcher::~Dispatcher() {
  Post([this](Mail&) { stopping_ = true; });
  thread_.join();
}

template <class Add>
void Dispatcher::Post(const Add& add) {
  const std::lock_guard lock(mutex_);
  add(mail_);
  // The thread takes all mail at once, so only the first to post has to wake it.
  if (std::exchange(asleep_, false)) wake_.Set();
}

CallId Dispatcher::Start(Request request, ResponseHandler handler) {
  const base::Duration timeout = request.timeout;
  const CallId id = ++last_id_;
  auto exchange = std::make_unique<Exchange>(id, std::move(request), std::move(handler), server_, observer_);
  if (timeout > base::Duration::zero()) exchange->deadline = std::chrono::steady_clock::now() + timeout;
  Post([&](Mail& mail) { mail.incoming.push_back(std::move(exchange)); });
  return id;
}

void Dispatcher::Cancel(CallId call) {
  Post([call](Mail& mail) { mail.canceled.push_back(call); });
}

void Dispatcher::Consumed(CallId call, size_t bytes) {
  Post([&](Mail& mail) { mail.consumed.emplace_back(call, bytes); });
}

void Dispatcher::Run() {
  // Signals are handled by the main thread; and writing to a broken connection must not end the program (SIGPIPE).
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);

  pool_ = make_pool_(*this);
  while (ReadMailbox()) {
    RunTimers();
    for (Lane* lane : {&urgent_, &requests_, &watches_}) StartQueued(*lane);
    pool_->Perform();
    if (pool_->is_unsuitable() && fallback_) FallBack();
    if (CanStart()) continue;
    if (requests_.active >= kManyRequests) std::this_thread::sleep_until(woken_ + kGather);
    Sleep();
    woken_ = std::chrono::steady_clock::now();
  }
  EndAll();
  // Here and not in the destructor: closing connections may write to them, and only this thread blocks SIGPIPE.
  fetcher_.reset();
  pool_.reset();
}

void Dispatcher::Sleep() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || !mail_.empty()) return;
    asleep_ = true;
  }
  SteadyTime until = std::chrono::steady_clock::now() + kLongestWait;
  if (!timers_.empty()) until = std::min(until, timers_.begin()->first);
  pool_->Wait(until, wake_.fd());
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(asleep_, false)) return;  // nobody has set it
  }
  wake_.Clear();
}

bool Dispatcher::ReadMailbox() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    if (mail_.empty()) return true;
    std::swap(mail_, reading_);
  }
  for (std::unique_ptr<Exchange>& incoming : reading_.incoming) {
    Exchange& exchange = *incoming;
    calls_.emplace(exchange.id, std::move(incoming));
    Queue(exchange, false);
  }
  for (const auto& [call, bytes] : reading_.consumed) {
    const auto found = calls_.find(call);
    if (found != calls_.end() && found->second->pool_state != nullptr) pool_->Consumed(*found->second, bytes);
  }
  for (const CallId call : reading_.canceled) {
    const auto found = calls_.find(call);
    if (found != calls_.end()) End(*found->second, found->second->Failed(ErrorCode::kUnavailable, "canceled"));
  }
  if (reading_.fetched) GrantCredentials(*reading_.fetched);
  reading_.incoming.clear();
  reading_.consumed.clear();
  reading_.canceled.clear();
  reading_.fetched.reset();
  return true;
}

Dispatcher::Lane& Dispatcher::LaneOf(const Exchange& exchange) {
  if (exchange.is_watch()) return watches_;
  return exchange.request().urgent ? urgent_ : requests_;
}

void Dispatcher::Queue(Exchange& exchange, bool first) {
  std::deque<CallId>& queue = LaneOf(exchange).queued;
  if (first) {
    queue.push_front(exchange.id);
  } else {
    queue.push_back(exchange.id);
  }
  exchange.queued = true;
  SetTimer(exchange, exchange.deadline);
}

void Dispatcher::GrantCredentials(const Result<CredentialsPtr>& fetched) {
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

void Dispatcher::SetTimer(Exchange& exchange, SteadyTime when) {
  if (when == SteadyTime::max()) when = SteadyTime{};
  if (exchange.timer == when) return;
  if (exchange.timer != SteadyTime{}) timers_.erase({exchange.timer, exchange.id});
  exchange.timer = when;
  if (when != SteadyTime{}) timers_.emplace(when, exchange.id);
}

void Dispatcher::RunTimers() {
  if (timers_.empty()) return;
  const SteadyTime now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Exchange& exchange = *calls_.at(timers_.begin()->second);
    SetTimer(exchange, SteadyTime::max());
    OnTimer(exchange, now);
  }
}

void Dispatcher::OnTimer(Exchange& exchange, SteadyTime now) {
  const bool late = now >= exchange.deadline;
  if (!late && now < exchange.idle_deadline()) {
    return SetTimer(exchange, std::min(exchange.deadline, exchange.idle_deadline()));
  }
  if (exchange.pool_state != nullptr) pool_->Suspect(exchange, now);
  End(exchange, exchange.Failed(ErrorCode::kDeadlineExceeded,
                                late ? "the request did not end in time" : "nothing was heard for too long"));
}

bool Dispatcher::CanStart() const {
  if (fetching_) return false;
  return urgent_.CanStart() || requests_.CanStart() || watches_.CanStart();
}

void Dispatcher::StartQueued(Lane& lane) {
  while (lane.CanStart()) {
    const auto found = calls_.find(lane.queued.front());
    if (found == calls_.end()) {
      lane.queued.pop_front();
      continue;
    }
    Exchange& exchange = *found->second;
    CredentialsPtr credentials = server_.config().credentials->Current();
    if (!credentials) credentials = exchange.granted;
    if (!credentials) {
      if (!fetching_) fetcher_->Request();
      fetching_ = true;
      return;
    }
    lane.queued.pop_front();
    Send(exchange, std::move(credentials));
  }
}

void Dispatcher::Send(Exchange& exchange, CredentialsPtr credentials) {
  exchange.queued = false;
  exchange.granted = nullptr;
  const Result<Headers> headers = exchange.Begin(credentials);
  if (!headers) return End(exchange, exchange.Failed(headers.error().code, headers.error().message));
  pool_->Begin(exchange, *headers, credentials);
  ++LaneOf(exchange).active;
  SetTimer(exchange, std::min(exchange.deadline, exchange.idle_deadline()));
}

void Dispatcher::OnEnded(Exchange& exchange, Result<void> ended) {
  --LaneOf(exchange).active;
  if (exchange.refused()) {
    // How the 401 exchange ended does not matter: the request is sent again.
    exchange.Retry();
    return Queue(exchange, true);
  }
  if (ended) ended = exchange.CheckBody();
  if (!ended) return End(exchange, exchange.Failed(ended.error().code, ended.error().message));
  if (exchange.answered()) return End(exchange, {});
  End(exchange, exchange.Failed(ErrorCode::kUnavailable, "the connection ended without an answer"));
}

void Dispatcher::OnReturned(Exchange& exchange, const Error& why) {
  if (++exchange.returned > kMaxReturns) return OnEnded(exchange, why);
  --LaneOf(exchange).active;
  Queue(exchange, true);
}

void Dispatcher::FallBack() {
  std::vector<CallId> on_way;
  for (const auto& [id, exchange] : calls_) {
    if (exchange->pool_state != nullptr) on_way.push_back(id);
  }
  // The oldest must be the first again.
  std::sort(on_way.begin(), on_way.end(), std::greater<>());
  for (const CallId id : on_way) {
    Exchange& exchange = *calls_.at(id);
    TakeOff(exchange);
    Queue(exchange, true);
  }
  pool_ = nullptr;
  pool_ = fallback_(*this);
}

// Also for an exchange that has not ended.
void Dispatcher::TakeOff(Exchange& exchange) {
  if (exchange.pool_state == nullptr) return;
  pool_->Drop(exchange);
  CHECK(exchange.pool_state == nullptr);
  --LaneOf(exchange).active;
}

void Dispatcher::End(Exchange& exchange, Result<void> ended) {
  TakeOff(exchange);
  SetTimer(exchange, SteadyTime::max());
  const auto node = calls_.extract(exchange.id);
  exchange.Finish(std::move(ended));
}

void Dispatcher::EndAll() {
  for (;;) {
    std::vector<std::unique_ptr<Exchange>> incoming;
    {
      const std::lock_guard lock(mutex_);
      incoming.swap(mail_.incoming);
    }
    for (std::unique_ptr<Exchange>& exchange : incoming) {
      const CallId id = exchange->id;
      calls_.emplace(id, std::move(exchange));
    }
    if (calls_.empty()) return;
    while (!calls_.empty()) {
      Exchange& exchange = *calls_.begin()->second;
      End(exchange, exchange.Failed(ErrorCode::kUnavailable, "the transport is shutting down"));
    }
  }
}

}  // namespace berth::http
