#include "client/write_path.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/backoff.h"
#include "client/write_lines.h"

namespace berth::client {
namespace {

constexpr int kMaxWaits = 10;

// client-go's retry.DefaultBackoff, with more steps and an upper limit: the last try comes about a minute after the
// first, because a report is worth waiting for the end of a short outage.
constexpr int kRepeatedTries = 10;
constexpr BackoffOptions kRetryBackoff = {.initial = std::chrono::milliseconds(10),
                                          .max = std::chrono::seconds(10),
                                          .factor = 5.0,
                                          .jitter = 0.1,
                                          .reset_after = base::Duration::zero()};

bool IsWorthAnotherTry(const ApiAnswer& answer) {
  const ApiStatus& status = answer.status;
  // Code 0 and kConflict: the write window was closed, so it was not sent.
  if (status.code == 0) return answer.error != ErrorCode::kConflict;
  const ErrorCode code = status.ToError().code;
  return code == ErrorCode::kUnavailable || code == ErrorCode::kConflict;
}

}  // namespace

std::string_view NameOf(WriteClass write_class) {
  constexpr std::string_view kNames[kWriteClasses] = {"lease", "bind", "evict", "status", "events"};
  return kNames[static_cast<size_t>(write_class)];
}

class WritePath::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(base::Loop& loop, SendAttempt send, Options options)
      : loop_(loop),
        send_(std::move(send)),
        options_(std::move(options)),
        lines_(options_.budgets, options_.bucket.get()) {}

  base::Loop& loop() const { return loop_; }

  // ---- Any thread: places in the queue.

  bool CanAccept(WriteClass write_class) {
    Counts& counts = Of(write_class);
    const size_t most = Budget(write_class).max_waiting;
    if (counts.waiting.load() < most) return true;
    counts.awaited.store(true);
    // The queue may have emptied before `awaited` was set: then nobody would be notified.
    return counts.waiting.load() < most;
  }
  bool Reserve(WriteClass write_class) {
    Counts& counts = Of(write_class);
    if (counts.waiting.fetch_add(1) < Budget(write_class).max_waiting) return true;
    counts.waiting.fetch_sub(1);
    counts.awaited.store(true);
    if (options_.observer != nullptr) options_.observer->OnRejected(write_class);
    return false;
  }
  size_t waiting(WriteClass write_class) { return Of(write_class).waiting.load(); }
  size_t in_flight(WriteClass write_class) { return Of(write_class).in_flight.load(); }
  std::optional<base::Duration> last_unanswered() const {
    const base::Duration::rep when = last_unanswered_.load();
    return when == kNever ? std::nullopt : std::optional(base::Duration(when));
  }

  // ---- The loop.

  void Release(WriteClass write_class) {
    Counts& counts = Of(write_class);
    const size_t left = counts.waiting.fetch_sub(1) - 1;
    TellDepth(write_class);
    if (left > Budget(write_class).max_waiting / 4 * 3 || !counts.awaited.exchange(false)) return;
    if (options_.on_room) options_.on_room(write_class);
  }

  void NoteCollapsed(WriteClass write_class) {
    if (options_.observer != nullptr) options_.observer->OnCollapsed(write_class);
  }

  // No callback is called from here on: neither done nor make.
  void Stop() {
    stopped_ = true;
    loop_.Cancel(token_timer_);
    objects_.clear();
  }

  void Take(Write write) {
    if (stopped_) return;
    const auto call = std::make_shared<Call>();
    call->write = std::move(write);
    call->number = call->write.first ? ++last_first_ : ++last_number_;
    call->ready = loop_.Now();
    TellDepth(call->write.write_class);
    if (call->write.key.empty()) {
      Enter(call);
    } else {
      TakeOfObject(call);
    }
    Pump();
  }

 private:
  enum class State { kParked, kInLine, kHeld, kInFlight, kOver };
  struct Call {
    Write write;
    uint64_t number = 0;
    State state = State::kParked;
    base::Duration ready{};  // since when it could be sent; in the future while it is held
    base::TimerId timer = 0;
    bool is_read = false;  // the request that is in flight
    int waits = 0;         // requested by the server
    int tries = 0;
    std::optional<Backoff> backoff{};
  };
  using CallPtr = std::shared_ptr<Call>;
  // The writes of one object.
  struct Object {
    CallPtr active;
    std::vector<CallPtr> parked;
  };
  struct Counts {
    std::atomic<size_t> waiting{0};  // places that are taken
    std::atomic<size_t> in_flight{0};
    std::atomic<bool> awaited{false};  // a caller found it full
  };

  static constexpr uint64_t kAfterFirst = uint64_t{1} << 40;
  static constexpr base::Duration::rep kNever = std::numeric_limits<base::Duration::rep>::min();

  Counts& Of(WriteClass write_class) { return counts_[static_cast<size_t>(write_class)]; }
  const WriteBudget& Budget(WriteClass write_class) const { return options_.budgets[static_cast<size_t>(write_class)]; }
  static bool IsMoreUrgent(const Call& a, const Call& b) {
    return std::pair(a.write.write_class, a.number) < std::pair(b.write.write_class, b.number);
  }
  // A bind makes a report that the pod was not bound obsolete.
  static bool MakesObsolete(const Call& newer, const Call& older) {
    return newer.write.write_class == WriteClass::kBind && older.write.write_class == WriteClass::kStatus;
  }
  void TellDepth(WriteClass write_class) {
    if (options_.observer == nullptr) return;
    options_.observer->OnDepth(write_class, waiting(write_class), in_flight(write_class));
  }

  void Enter(const CallPtr& call) {
    call->state = State::kInLine;
    lines_.Enter(call->write.write_class, call->number, call);
  }

  // Takes it out of its queue, or ends its wait.
  void Withdraw(const CallPtr& call) {
    if (call->state == State::kInLine) lines_.Leave(call->write.write_class, call->number);
    if (call->state == State::kHeld) loop_.Cancel(call->timer);
    call->state = State::kParked;
  }

  void Activate(Object& object, const CallPtr& call) {
    object.active = call;
    Schedule(call);
  }
  // Queues it, now or when its wait is over.
  void Schedule(const CallPtr& call) {
    const base::Duration wait = call->ready - loop_.Now();
    if (wait <= base::Duration::zero()) return Enter(call);
    call->state = State::kHeld;
    call->timer = loop_.RunAfter(wait, [weak = weak_from_this(), call] {
      const std::shared_ptr<Engine> self = weak.lock();
      if (self == nullptr || call->state != State::kHeld) return;
      self->Enter(call);
      self->Pump();
    });
  }

  void TakeOfObject(const CallPtr& call) {
    Object& object = objects_[call->write.key];
    std::vector<CallPtr> obsolete;
    const auto is_obsolete = [&](const CallPtr& older) { return MakesObsolete(*call, *older); };
    std::copy_if(object.parked.begin(), object.parked.end(), std::back_inserter(obsolete), is_obsolete);
    std::erase_if(object.parked, is_obsolete);
    if (object.active != nullptr && object.active->state != State::kInFlight) {
      if (is_obsolete(object.active)) {
        Withdraw(object.active);
        obsolete.push_back(std::exchange(object.active, nullptr));
      } else if (IsMoreUrgent(*call, *object.active)) {
        Withdraw(object.active);
        object.parked.push_back(std::exchange(object.active, nullptr));
      }
    }
    if (object.active == nullptr) {
      Activate(object, call);
    } else {
      object.parked.push_back(call);
    }
    for (const CallPtr& older : obsolete) {
      NoteCollapsed(older->write.write_class);
      Drop(older);
    }
  }

  // Starts the object's next write, now that its active one is neither queued nor in flight.
  void ActivateNext(const std::string& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return;
    Object& object = found->second;
    object.active = nullptr;
    if (object.parked.empty()) {
      objects_.erase(found);
      return;
    }
    const auto next = std::min_element(object.parked.begin(), object.parked.end(),
                                       [](const CallPtr& a, const CallPtr& b) { return IsMoreUrgent(*a, *b); });
    const CallPtr call = *next;
    object.parked.erase(next);
    Activate(object, call);
  }

  // Ends a write that need not be sent, or sent again.
  void Drop(const CallPtr& call) {
    call->state = State::kOver;
    Release(call->write.write_class);
    ApiAnswer answer;
    answer.status.code = kNothingToWrite;
    call->write.done(std::move(answer));
  }

  // ---- Sending.

  void Pump() {
    if (stopped_ || std::exchange(pumping_, true)) return;
    loop_.Cancel(token_timer_);
    while (true) {
      const auto [call, wait] = lines_.Next(loop_.Now());
      if (wait) {
        token_timer_ = loop_.RunAfter(*wait, [weak = weak_from_this()] {
          if (const std::shared_ptr<Engine> self = weak.lock()) self->Pump();
        });
      }
      if (call == nullptr) break;
      SendOrDrop(call);
    }
    pumping_ = false;
  }

  void SendOrDrop(const CallPtr& call) {
    const WriteClass write_class = call->write.write_class;
    std::optional<http::Request> request = call->write.make();
    const base::Duration now = loop_.Now();
    if (!request) {
      Withdraw(call);
      if (!call->write.key.empty()) ActivateNext(call->write.key);
      return Drop(call);
    }
    lines_.Send(write_class, call->number, now);
    call->state = State::kInFlight;
    call->is_read = request->method == "GET";
    ++call->tries;
    Of(write_class).in_flight.fetch_add(1);
    Release(write_class);
    if (options_.observer != nullptr) options_.observer->OnSent(write_class, request->method, now - call->ready);
    send_(*std::move(request), [self = shared_from_this(), call](ApiAnswer answer) {
      self->loop_.Post([self, call, answer = std::move(answer)]() mutable { self->Answered(call, std::move(answer)); });
    });
  }

  void Answered(const CallPtr& call, ApiAnswer answer) {
    if (stopped_) return;
    lines_.Landed(call->write.write_class);
    Of(call->write.write_class).in_flight.fetch_sub(1);
    TellDepth(call->write.write_class);
    if (!call->is_read && answer.MayStillTakeEffect()) last_unanswered_.store(loop_.Now().count());
    if (const std::optional<base::Duration> wait = RetryAfter(*call, answer)) {
      Retry(call, *wait);
    } else {
      call->state = State::kOver;
      if (!call->write.key.empty()) ActivateNext(call->write.key);
      call->write.done(std::move(answer));
    }
    Pump();
  }

  std::optional<base::Duration> RetryAfter(Call& call, const ApiAnswer& answer) {
    const Again again = call.write.again ? call.write.again(answer) : Again::kNo;
    if (again == Again::kAtOnce) return base::Duration::zero();
    if (answer.ok() && again == Again::kNo) return std::nullopt;
    if (call.write.first) return std::nullopt;
    if (answer.status.AsksToWait() && call.waits < kMaxWaits) {
      ++call.waits;
      return std::chrono::seconds(answer.status.retry_after_seconds);
    }
    const bool is_wanted = again == Again::kLater || (call.write.repeatable && IsWorthAnotherTry(answer));
    if (!is_wanted || call.tries >= kRepeatedTries) return std::nullopt;
    if (!call.backoff) call.backoff.emplace(kRetryBackoff, ++options_.seed, loop_.Now());
    return call.backoff->Next(loop_.Now());
  }

  void Retry(const CallPtr& call, base::Duration wait) {
    Of(call->write.write_class).waiting.fetch_add(1);  // it keeps the place that it had
    TellDepth(call->write.write_class);
    if (options_.observer != nullptr) options_.observer->OnRetried(call->write.write_class);
    call->ready = loop_.Now() + wait;
    call->state = State::kParked;
    if (call->write.key.empty()) return Schedule(call);
    Object& object = objects_[call->write.key];
    const bool obsolete = std::any_of(object.parked.begin(), object.parked.end(),
                                      [&](const CallPtr& newer) { return MakesObsolete(*newer, *call); });
    if (!obsolete) object.parked.push_back(call);
    ActivateNext(call->write.key);
    if (!obsolete) return;
    NoteCollapsed(call->write.write_class);
    Drop(call);
  }

  base::Loop& loop_;
  const SendAttempt send_;
  Options options_;
  std::array<Counts, kWriteClasses> counts_;
  std::atomic<base::Duration::rep> last_unanswered_{kNever};  // in the loop's time

  // Used on the loop's thread.
  WriteLines<Call> lines_;
  std::unordered_map<std::string, Object> objects_;  // with a write in progress
  uint64_t last_number_ = kAfterFirst;
  uint64_t last_first_ = 0;
  base::TimerId token_timer_ = 0;
  bool pumping_ = false;
  bool stopped_ = false;
};

WritePath::WritePath(base::Loop& loop, SendAttempt send, Options options)
    : engine_(std::make_shared<Engine>(loop, std::move(send), std::move(options))) {}

WritePath::~WritePath() {
  engine_->loop().RunNow([engine = engine_] { engine->Stop(); });
}

void WritePath::Submit(Write write) {
  if (Reserve(write.write_class)) {
    engine_->loop().Post([weak = std::weak_ptr<Engine>(engine_), write = std::move(write)]() mutable {
      if (const std::shared_ptr<Engine> engine = weak.lock()) engine->Take(std::move(write));
    });
    return;
  }
  ApiAnswer refused;
  refused.status.message =
      fmt::format("not sent: {} writes of class {} are waiting", waiting(write.write_class), NameOf(write.write_class));
  engine_->loop().Post([done = std::move(write.done), refused = std::move(refused)] { done(refused); });
}

bool WritePath::CanAccept(WriteClass write_class) const { return engine_->CanAccept(write_class); }
bool WritePath::Reserve(WriteClass write_class) { return engine_->Reserve(write_class); }
void WritePath::SubmitReserved(Write write) { engine_->Take(std::move(write)); }
void WritePath::Release(WriteClass write_class) { engine_->Release(write_class); }
void WritePath::NoteCollapsed(WriteClass write_class) { engine_->NoteCollapsed(write_class); }
size_t WritePath::waiting(WriteClass write_class) const { return engine_->waiting(write_class); }
size_t WritePath::in_flight(WriteClass write_class) const { return engine_->in_flight(write_class); }
std::optional<base::Duration> WritePath::last_unanswered() const { return engine_->last_unanswered(); }

}  // namespace berth::client
