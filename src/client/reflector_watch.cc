// How a reflector watches: what its events and its end mean.
#include <utility>

#include "client/reflector_engine.h"

namespace berth::client {
namespace {

// As in client-go: the server ends a watch after a random time between these.
constexpr int64_t kMinWatchSeconds = 300;
constexpr int64_t kMaxWatchSeconds = 600;
// A watch that ends sooner without an event is a failure, as in client-go.
constexpr base::Duration kVeryShortWatch = std::chrono::seconds(1);
// A server that does not know sendInitialEvents sends everything, but never marks the end of the initial events.
constexpr base::Duration kInitialEventsTimeout = std::chrono::minutes(1);

}  // namespace

void Reflector::Engine::Watch() {
  Abandon();
  StartWatch(false, version_);
}

void Reflector::Engine::StartWatch(bool initial, std::string from) {
  initial_ = initial;
  if (!initial) listing_ = false;
  const int64_t seconds =
      kMinWatchSeconds + static_cast<int64_t>(random_.Below(uint64_t{kMaxWatchSeconds - kMinWatchSeconds}));
  WatchQuery query{.kind = options_.kind,
                   .label_selector = options_.label_selector,
                   .field_selector = options_.field_selector,
                   .resource_version = std::move(from),
                   .send_initial_events = initial,
                   .timeout_seconds = seconds,
                   .idle_timeout = options_.idle_timeout,
                   .custom = options_.custom};
  session_ = WatchSession::Start(client_, loop_, query,
                                 [weak = weak_from_this(), round = round_](WatchSession::Arrival arrival) {
                                   const std::shared_ptr<Engine> self = weak.lock();
                                   if (self != nullptr && self->round_ == round) {
                                     self->TakeArrival(std::move(arrival));
                                   }
                                 });
  last_initial_ = loop_.Now();
  newest_initial_.clear();
  if (initial_) After(kInitialEventsTimeout, &Engine::CheckInitialEvents);
}

void Reflector::Engine::CheckInitialEvents() {
  if (!initial_) return;
  const base::Duration quiet = loop_.Now() - last_initial_;
  if (quiet < kInitialEventsTimeout) return After(kInitialEventsTimeout - quiet, &Engine::CheckInitialEvents);
  // A watch that has not even begun to answer is left to the idle timeout.
  if (!session_->answered()) return After(kInitialEventsTimeout, &Engine::CheckInitialEvents);
  streaming_works_ = false;
  Complain(Error::Unsupported("the server does not say where its initial events end: listing instead"));
  List();
}

// Takes all complete events, then calls the sink once.
void Reflector::Engine::TakeArrival(WatchSession::Arrival arrival) {
  if (session_->accepted() && !initial_) NoteInStep();
  const uint64_t round = round_;
  std::vector<ObjectChange> changes;
  bool unclear = false;
  for (WatchEvent& event : arrival.events) {
    unclear = !TakeEvent(std::move(event), changes);
    if (unclear) break;
  }
  if (!changes.empty()) sink_.OnChanges(options_.kind, std::move(changes));
  if (round_ == round && running_ && initial_) TellPart();
  if (round_ != round || !running_) return;  // the sink has stopped the reflector
  if (unclear) return SyncAgain();
  if (!arrival.end && !initial_ && session_->accepted()) StartUnlisted();
  if (arrival.end) initial_ ? TakeInitialEnd(*arrival.end) : TakeEnd(*arrival.end);
}

// A first list is passed on as it arrives, so that it is never held here as a whole: it may be most of what a scheduler
// of a large cluster ever has in memory. Later ones are not, because the sink takes decisions meanwhile and must not
// see additions while it still has objects that are gone.
void Reflector::Engine::TellPart() {
  if (ever_synced_) return;
  std::vector<ObjectChange> changes;
  known_.TellCollected(changes);
  if (!changes.empty()) sink_.OnListing(options_.kind, std::move(changes));
}

// News goes on however long the end of the initial events takes. Initial events are ADDED, in no order of versions, so
// that few of many have a higher version than all before them; what is created meanwhile always has.
bool Reflector::Engine::MayBeNews(const WatchEvent& event) {
  if (event.type != WatchEvent::Type::kAdded) return true;
  if (!newest_initial_.empty() && CompareVersions(event.resource_version, newest_initial_) != VersionOrder::kNewer) {
    return false;
  }
  newest_initial_ = event.resource_version;
  return true;
}

// Returns false if only a list can tell what exists.
bool Reflector::Engine::TakeEvent(WatchEvent event, std::vector<ObjectChange>& changes) {
  if (initial_) {
    if (!MayBeNews(event)) last_initial_ = loop_.Now();
    if (event.object) known_.Collect(event.type, std::move(*event.object));
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

// A streaming list that failed. As in client-go, every failure other than Retry-After and a version that the server
// cannot serve leads to an ordinary list, this time: an etcd without progress requests, an API server without
// sendInitialEvents, a proxy that does not pass streams. The next sync tries to stream again.
void Reflector::Engine::TakeInitialEnd(const WatchSession::End& end) {
  const ApiStatus& status = end.status;
  if (end.how == How::kClosed || end.how == How::kUnreadable) {
    const bool unanswered = !session_->answered();
    Complain(end.closed ? Error::Unavailable("the server ended its initial events early") : end.closed.error());
    return Wait(unanswered ? &Engine::Sync : &Engine::List);
  }
  if (status.code == 404) return NotFound(status);
  if (status.IsExpired() || status.resource_version_too_large) {
    from_latest_ = true;
    Note(status.ToError(), status.code);
    return SyncAgain();
  }
  if (status.code == 429) {
    Complain(status);
    return Wait(status, &Engine::Sync);
  }
  Note(status.ToError(), status.code);
  List();
}

// The end of a watch that started from a version, without initial events.
void Reflector::Engine::TakeEnd(const WatchSession::End& end) {
  const ApiStatus& status = end.status;
  switch (end.how) {
    case How::kRefused:
      if (status.code == 404) return NotFound(status);
      [[fallthrough]];
    case How::kErrorEvent:
      // A version that is too old for a watch can still be used for a list "not older than" it; one that is too new for
      // this server cannot.
      if (status.resource_version_too_large) from_latest_ = true;
      if (status.IsExpired() || status.resource_version_too_large) return SyncAgain();
      Complain(status);
      return Wait(status, end.how == How::kRefused || status.code == 429 ? &Engine::Watch : &Engine::Sync);
    case How::kUnreadable:
      Complain(end.closed.error());
      return Wait(&Engine::Sync);
    case How::kClosed:
      return TakeClosed(end.closed);
  }
}

void Reflector::Engine::TakeClosed(const Result<void>& closed) {
  const bool silent = session_->answered() && !closed && closed.error().code == ErrorCode::kDeadlineExceeded;
  if (!closed && !silent) {
    Complain(closed.error());
    return Wait(&Engine::Watch);
  }
  if (session_->events() == 0 && loop_.Now() - session_->started() < kVeryShortWatch) return Wait(&Engine::Watch);
  Watch();
}

}  // namespace berth::client
