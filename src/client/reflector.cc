#include "client/reflector.h"

#include <fmt/core.h>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "client/api_path.h"
#include "client/known_objects.h"
#include "client/list_pages.h"
#include "client/watch_call.h"
#include "client/watch_stream.h"

namespace berth::client {
namespace {

// client-go's: the server ends a watch after a random time between these.
constexpr int64_t kMinWatchSeconds = 300;
constexpr int64_t kMaxWatchSeconds = 600;
// How much longer than that a watch may take before we end it.
constexpr base::Duration kWatchSlack = std::chrono::seconds(30);
// A watch that ends sooner without an event is a failure, as client-go has it.
constexpr base::Duration kVeryShortWatch = std::chrono::seconds(1);
// A server that knows nothing of sendInitialEvents sends everything, but never says that this was all.
constexpr base::Duration kInitialEventsTimeout = std::chrono::minutes(1);
constexpr int kPageSize = 500;
constexpr int kMaxWaitsInARow = 10;
// A kind that was served is not gone because some proxy says so once.
constexpr int kNotFoundsInARow = 3;

}  // namespace

class Reflector::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(ApiClient& client, base::Loop& loop, ChangeSink& sink, ReflectorOptions options)
      : client_(client),
        loop_(loop),
        sink_(sink),
        options_(std::move(options)),
        backoff_(options_.backoff, options_.seed, loop.Now()),
        random_(options_.seed + 1) {}

  void Start() {
    if (!std::exchange(running_, true)) Sync();
  }

  void Stop() {
    running_ = false;
    caught_up_.clear();
    Abandon();
  }

  void CatchUp(std::function<void()> done) {
    if (!running_) return;
    caught_up_.push_back(std::move(done));
    from_latest_ = true;
    Sync();
  }

  base::Loop& loop() const { return loop_; }

  std::string resource_version() const {
    std::lock_guard lock(version_mutex_);
    return version_;
  }

 private:
  using Step = void (Engine::*)();

  // Ends whatever is going on: its late answers find nobody.
  void Abandon() {
    ++round_;
    loop_.Cancel(timer_);
    if (call_ != nullptr) std::exchange(call_, nullptr)->Cancel();
  }

  void After(base::Duration delay, Step step) {
    loop_.Cancel(timer_);
    timer_ = loop_.RunAfter(delay, [weak = weak_from_this(), step, round = round_] {
      const std::shared_ptr<Engine> self = weak.lock();
      if (self != nullptr && self->round_ == round && self->running_) (self.get()->*step)();
    });
  }

  void Wait(Step step) {
    Abandon();
    After(backoff_.Next(loop_.Now()), step);
  }
  // As long as the server asks for; it may do so ten times before we choose ourselves.
  void Wait(const ApiStatus& status, Step step) {
    if (!status.AsksToWait() || waits_ >= kMaxWaitsInARow) return Wait(step);
    ++waits_;
    Abandon();
    After(std::chrono::seconds(status.retry_after_seconds), step);
  }

  void Complain(const Error& error, int http_status = 0) const {
    if (!options_.on_problem) return;
    const std::string message = fmt::format("{}: {}", api::InfoOf(options_.kind).resource, error.message);
    options_.on_problem({error.code, message}, http_status);
  }
  void Complain(const ApiStatus& status) const { Complain(status.ToError(), status.code); }

  // ---- Sync: everything there is.

  void Sync() {
    Abandon();
    incoming_.Clear();
    if (!options_.streaming_list || !streaming_works_) return List();
    StartWatch(true, from_latest_ ? std::string() : version_);
  }

  // At once, unless the last one came to nothing.
  void SyncAgain() {
    if (std::exchange(synced_in_vain_, true)) return Wait(&Engine::Sync);
    Sync();
  }

  void List() {
    Abandon();
    incoming_.Clear();
    const bool from_any = version_.empty() && !from_latest_;
    ListRequest request{.kind = options_.kind,
                        .label_selector = options_.label_selector,
                        .field_selector = options_.field_selector,
                        .resource_version = from_any       ? "0"
                                            : from_latest_ ? ""
                                                           : version_,
                        .limit = kPageSize};
    // A list of a certain version comes from the server's memory only when it is whole; one that was paged although it
    // asked for any version shows that there is no such memory.
    if (!request.resource_version.empty() && !from_any && !lists_are_paged_) request.limit = 0;
    ListPages(client_, loop_, std::move(request),
              [weak = weak_from_this(), round = round_, from_any](ListOutcome outcome) {
                const std::shared_ptr<Engine> self = weak.lock();
                if (self != nullptr && self->round_ == round && self->running_) {
                  self->TakeList(std::move(outcome), from_any);
                }
              });
  }

  void TakeList(ListOutcome outcome, bool from_any) {
    const ApiStatus& status = outcome.answer.status;
    if (!outcome.ok()) {
      if (status.code == 404) return NotFound(status);
      if (status.IsExpired() || status.resource_version_too_large) {
        const bool hopeless = std::exchange(from_latest_, true);
        return hopeless ? Wait(&Engine::List) : List();
      }
      Complain(outcome.answer.ToError(), status.code);
      return Wait(status, &Engine::Sync);
    }
    if (from_any && outcome.paged) lists_are_paged_ = true;
    for (api::Object& object : outcome.objects) incoming_.Collect(WatchEvent::Type::kAdded, std::move(object));
    FinishSync(outcome.resource_version);
    Watch();
  }

  void FinishSync(const std::string& version) {
    std::vector<ObjectChange> changes;
    known_.Replace(std::exchange(incoming_, {}), changes);
    SetVersion(version);
    from_latest_ = false;
    not_founds_ = waits_ = 0;
    // The first word about a kind is given even when there is nothing to say.
    if (!std::exchange(synced_, true) || !changes.empty()) sink_.OnChanges(options_.kind, std::move(changes));
    for (const std::function<void()>& done : std::exchange(caught_up_, {})) done();
  }

  void NotFound(const ApiStatus& status) {
    ++not_founds_;
    if (synced_ && not_founds_ < kNotFoundsInARow) {
      Complain(status);
      return Wait(&Engine::Sync);
    }
    Abandon();
    known_.Clear();
    SetVersion({});
    if (synced_ || not_founds_ == 1) sink_.OnNotServed(options_.kind);
    synced_ = false;
    // What does not exist has been caught up with.
    for (const std::function<void()>& done : std::exchange(caught_up_, {})) done();
    After(Jitter(options_.not_served_retry, 0.1, random_), &Engine::Sync);
  }

  // ---- Watch: what changes.

  void Watch() {
    Abandon();
    StartWatch(false, version_);
  }

  void StartWatch(bool initial, const std::string& from) {
    initial_ = initial;
    from_ = from;
    if (const base::Duration delay = client_.ThrottleDelay("GET"); delay > base::Duration::zero()) {
      return After(delay, &Engine::SendWatch);
    }
    SendWatch();
  }

  void SendWatch() {
    const int64_t seconds =
        kMinWatchSeconds + static_cast<int64_t>(random_.Below(uint64_t{kMaxWatchSeconds - kMinWatchSeconds}));
    request_ = {};
    request_.path = CollectionPath(options_.kind) + Query({
                                                        {"watch", "true"},
                                                        {"allowWatchBookmarks", "true"},
                                                        {"labelSelector", options_.label_selector},
                                                        {"fieldSelector", options_.field_selector},
                                                        {"resourceVersion", from_},
                                                        {"resourceVersionMatch", initial_ ? "NotOlderThan" : ""},
                                                        {"sendInitialEvents", initial_ ? "true" : ""},
                                                        {"timeoutSeconds", std::to_string(seconds)},
                                                    });
    request_.headers = client_.AcceptObjects();
    request_.timeout = std::chrono::seconds(seconds) + kWatchSlack;
    request_.idle_timeout = options_.idle_timeout;
    head_.reset();
    stream_.reset();
    refusal_.clear();
    events_ = 0;
    started_ = loop_.Now();
    call_ = WatchCall::Start(client_.transport(), loop_, request_,
                             [weak = weak_from_this(), round = round_](WatchCall::Arrival arrival) {
                               const std::shared_ptr<Engine> self = weak.lock();
                               if (self != nullptr && self->round_ == round) self->TakeArrival(std::move(arrival));
                             });
    if (initial_) After(kInitialEventsTimeout, &Engine::CheckInitialEvents);
  }

  void CheckInitialEvents() {
    if (!initial_) return;
    const base::Duration quiet = loop_.Now() - started_;
    if (quiet < kInitialEventsTimeout) return After(kInitialEventsTimeout - quiet, &Engine::CheckInitialEvents);
    // One that has not even begun to answer is left to the idle time-out.
    if (!head_) return After(kInitialEventsTimeout, &Engine::CheckInitialEvents);
    streaming_works_ = false;
    Complain(Error::Unsupported("the server does not say where its initial events end: listing instead"));
    List();
  }

  void TakeArrival(WatchCall::Arrival arrival) {
    const uint64_t round = round_;
    if (arrival.head) {
      head_ = std::move(arrival.head);
      if (IsSuccess(head_->status)) {
        waits_ = 0;
        stream_.emplace(head_->Find("content-type").starts_with(kProtobufType));
      }
    }
    if (stream_) {
      stream_->Append(std::move(arrival.data));
      TakeEvents();
    } else {
      refusal_ += arrival.data;
    }
    if (round_ != round || !arrival.ended) return;
    call_ = nullptr;
    if (head_ && !stream_) return TakeRefusal(ReadStatus(request_.method, *head_, refusal_));
    TakeEnd(*arrival.ended);
  }

  // All whole events there are, then one call of the sink.
  void TakeEvents() {
    const uint64_t round = round_;
    std::vector<ObjectChange> changes;
    std::optional<Error> broken;
    std::optional<ApiStatus> failed;
    bool unclear = false;
    while (!broken && !failed && !unclear) {
      Result<std::optional<WatchEvent>> next = stream_->Next();
      if (!next) {
        broken = next.error();
      } else if (!next->has_value()) {
        break;
      } else if ((*next)->type == WatchEvent::Type::kError) {
        failed = (*next)->status;
      } else if ((*next)->object && (*next)->object->kind() != options_.kind) {
        broken = Error::InvalidArgument(fmt::format("found a {} in a watch", (*next)->object->info().name));
      } else {
        unclear = !TakeEvent(std::move(**next), changes);
      }
    }
    if (!changes.empty()) sink_.OnChanges(options_.kind, std::move(changes));
    if (round_ != round || !running_) return;  // the sink has stopped us
    if (failed) return TakeFailure(*failed);
    if (broken) {
      Complain(*broken);
      return Wait(&Engine::Sync);
    }
    if (unclear) SyncAgain();
  }

  // False when only a list can tell what is.
  bool TakeEvent(WatchEvent event, std::vector<ObjectChange>& changes) {
    ++events_;
    if (initial_) {
      started_ = loop_.Now();
      if (event.object) incoming_.Collect(event.type, std::move(*event.object));
      if (!event.initial_events_end) return true;
      initial_ = false;
      loop_.Cancel(timer_);
      FinishSync(event.resource_version);
      return true;
    }
    if (event.object &&
        known_.Apply(event.type, std::move(*event.object), version_, changes) == KnownObjects::Verdict::kUnclear) {
      return false;
    }
    synced_in_vain_ = false;
    if (CompareVersions(event.resource_version, version_) != VersionOrder::kOlder) SetVersion(event.resource_version);
    return true;
  }

  // An event of type ERROR.
  void TakeFailure(const ApiStatus& status) {
    if (status.IsExpired()) return SyncAgain();
    Complain(status);
    if (status.resource_version_too_large) from_latest_ = true;
    Wait(status, status.code == 429 && !initial_ ? &Engine::Watch : &Engine::Sync);
  }

  // An answer that is no stream.
  void TakeRefusal(const ApiStatus& status) {
    if (status.code == 404) return NotFound(status);
    if (status.IsExpired() || status.resource_version_too_large) {
      // A version that is too old for a watch is good enough to be listed "not older than" it; if that was refused,
      // or it is too new for this server, the latest is what remains.
      if (initial_ || status.resource_version_too_large) from_latest_ = true;
      return SyncAgain();
    }
    const bool not_for_us = status.code == 401 || status.code == 403 || status.code == 429;
    if (initial_ && !not_for_us) return List();
    Complain(status);
    Wait(status, initial_ ? &Engine::Sync : &Engine::Watch);
  }

  // The stream is over. What is left of a torn event is forgotten: the next watch brings it whole.
  void TakeEnd(const Result<void>& ended) {
    if (initial_) {
      Complain(ended ? Error::Unavailable("the server ended its initial events early") : ended.error());
      return Wait(&Engine::Sync);
    }
    const bool silent = head_ && !ended && ended.error().code == ErrorCode::kDeadlineExceeded;
    if (!ended && !silent) {
      Complain(ended.error());
      return Wait(&Engine::Watch);
    }
    if (events_ == 0 && loop_.Now() - started_ < kVeryShortWatch) return Wait(&Engine::Watch);
    Watch();
  }

  void SetVersion(const std::string& version) {
    std::lock_guard lock(version_mutex_);
    version_ = version;
  }

  ApiClient& client_;
  base::Loop& loop_;
  ChangeSink& sink_;
  const ReflectorOptions options_;

  // Everything below belongs to the loop's thread.
  Backoff backoff_;
  base::Random random_;
  bool running_ = false;
  uint64_t round_ = 0;  // what was started in an earlier one is of no interest
  base::TimerId timer_ = 0;
  std::vector<std::function<void()>> caught_up_;

  KnownObjects known_;
  KnownObjects incoming_;  // while syncing
  bool synced_ = false;
  bool from_latest_ = false;     // version_ is of no use to the server, or not good enough for us
  bool synced_in_vain_ = false;  // nothing has come since the last sync
  bool streaming_works_ = true;  // as far as we know
  bool lists_are_paged_ = false;
  int not_founds_ = 0;  // in a row
  int waits_ = 0;       // asked for by the server, in a row

  // The watch that is going on.
  std::shared_ptr<WatchCall> call_;
  http::Request request_;
  std::optional<http::ResponseHead> head_;
  std::optional<WatchStream> stream_;  // once the server has agreed
  std::string refusal_;                // what it says if it has not
  bool initial_ = false;               // still sending what was there
  std::string from_;
  size_t events_ = 0;
  base::Duration started_{};  // or when its last initial event came

  mutable std::mutex version_mutex_;
  std::string version_;  // written by the loop's thread under the lock
};

Reflector::Reflector(ApiClient& client, base::Loop& loop, ChangeSink& sink, ReflectorOptions options)
    : engine_(std::make_shared<Engine>(client, loop, sink, std::move(options))) {}

Reflector::~Reflector() { Stop(); }

void Reflector::Start() {
  engine_->loop().Post([engine = engine_] { engine->Start(); });
}

void Reflector::Stop() {
  engine_->loop().RunNow([engine = engine_] { engine->Stop(); });
}

void Reflector::CatchUp(std::function<void()> done) {
  engine_->loop().Post([engine = engine_, done = std::move(done)]() mutable { engine->CatchUp(std::move(done)); });
}

std::string Reflector::resource_version() const { return engine_->resource_version(); }

}  // namespace berth::client
