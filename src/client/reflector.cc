// A reflector's life cycle and its syncs; watching is in reflector_watch.cc.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "client/list_pages.h"
#include "client/reflector_engine.h"

namespace berth::client {
namespace {

constexpr int kPageSize = 500;
constexpr int kMaxWaitsInARow = 10;
// A single 404 may come from a proxy and does not mean that the kind is missing.
constexpr int kNotFoundsInARow = 3;

}  // namespace

Reflector::Engine::Engine(ApiClient& client, base::Loop& loop, ChangeSink& sink, ReflectorOptions options)
    : client_(client),
      loop_(loop),
      sink_(sink),
      options_(std::move(options)),
      backoff_(options_.backoff, options_.seed, loop.Now()),
      random_(options_.seed + 1),
      known_(options_.kind) {
  state_.kind = options_.kind;
  state_.resource = options_.custom ? options_.custom->resource.Text() : api::InfoOf(options_.kind).resource;
}

void Reflector::Engine::Start(From from) {
  if (std::exchange(running_, true)) return;
  from_latest_ = from == From::kLatest;
  Sync();
}

void Reflector::Engine::Stop() {
  running_ = false;
  catching_up_.clear();
  loop_.Cancel(list_timer_);
  Abandon();
}

void Reflector::Engine::CatchUp(std::function<void()> done, UnlistedStart unlisted) {
  if (!running_) return;
  catching_up_.push_back({std::move(done), std::move(unlisted)});
  {
    std::lock_guard lock(mutex_);
    state_.catching_up = true;
  }
  from_latest_ = true;
  Sync();
}

std::string Reflector::Engine::resource_version() const {
  std::lock_guard lock(mutex_);
  return version_;
}

ReflectorState Reflector::Engine::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

// Abandons whatever is in progress: late answers are ignored.
void Reflector::Engine::Abandon() {
  ++round_;
  loop_.Cancel(timer_);
  if (session_ != nullptr) std::exchange(session_, nullptr)->Cancel();
  if (list_ != nullptr) std::exchange(list_, nullptr)->Cancel();
}

void Reflector::Engine::After(base::Duration delay, Step step) {
  loop_.Cancel(timer_);
  timer_ = loop_.RunAfter(delay, [weak = weak_from_this(), step, round = round_] {
    const std::shared_ptr<Engine> self = weak.lock();
    if (self != nullptr && self->round_ == round && self->running_) (self.get()->*step)();
  });
}

void Reflector::Engine::Wait(Step step) { Pause(backoff_.Next(loop_.Now()), step); }

// Waits as long as the server asks for; after ten such requests in a row, by our own backoff.
void Reflector::Engine::Wait(const ApiStatus& status, Step step) {
  if (!status.AsksToWait() || waits_ >= kMaxWaitsInARow) return Wait(step);
  ++waits_;
  Pause(std::chrono::seconds(status.retry_after_seconds), step);
}

// If it was a list that failed, to catch up, the watch goes on until the next one: what a standby knew stays current
// meanwhile. If it was the watch, there is nothing to go on with.
void Reflector::Engine::Pause(base::Duration delay, Step step) {
  Abandon();
  if (!listing_ || !synced_ || catching_up_.empty()) return After(delay, step);
  if (!unlisted_since_) unlisted_since_ = loop_.Now();
  // Every list interrupts the watch. A bookmark, which tells how far a quiet watch has come, takes a minute.
  if (IsUnlisted()) delay = std::max(delay, options_.idle_timeout);
  list_timer_ = loop_.RunAfter(delay, [weak = weak_from_this(), step] {
    const std::shared_ptr<Engine> self = weak.lock();
    if (self != nullptr && self->running_) (self.get()->*step)();
  });
  StartWatch(false, version_);
}

// Records the last failure, whether or not it is reported.
void Reflector::Engine::Note(const Error& error, int http_status) {
  if (http_status != 404) not_founds_ = 0;
  std::lock_guard lock(mutex_);
  if (!state_.behind_since) state_.behind_since = loop_.Now();
  state_.last_error = error.message;
  state_.http_status = http_status;
}

void Reflector::Engine::Complain(const Error& error, int http_status) {
  Note(error, http_status);
  if (!options_.on_problem) return;
  const std::string message = fmt::format("{}: {}", state_.resource, error.message);
  options_.on_problem({error.code, message}, http_status);
}

void Reflector::Engine::Complain(const ApiStatus& status) { Complain(status.ToError(), status.code); }

void Reflector::Engine::NoteBehind() {
  std::lock_guard lock(mutex_);
  if (!state_.behind_since) state_.behind_since = loop_.Now();
}

void Reflector::Engine::NoteInStep() {
  not_founds_ = waits_ = 0;
  // A watch alone is not enough to catch up: why there is no list must stay known.
  if (!catching_up_.empty()) return;
  std::lock_guard lock(mutex_);
  state_.behind_since.reset();
  state_.last_error.clear();
  state_.http_status = 0;
}

void Reflector::Engine::NotePicture(bool synced, bool not_served) {
  std::lock_guard lock(mutex_);
  state_.synced = synced;
  state_.not_served = not_served;
}

void Reflector::Engine::SetVersion(const std::string& version) {
  std::lock_guard lock(mutex_);
  version_ = version;
}

void Reflector::Engine::Sync() {
  Abandon();
  loop_.Cancel(list_timer_);
  listing_ = true;
  NoteBehind();
  known_.BeginList();
  if (options_.whole_list && !whole_list_failed_) return ListWhole();
  if (!options_.streaming_list || !streaming_works_) return List();
  StartWatch(true, from_latest_ ? std::string() : version_);
}

// At once, unless nothing arrived after the last sync.
void Reflector::Engine::SyncAgain() {
  if (std::exchange(synced_in_vain_, true)) return Wait(&Engine::Sync);
  Sync();
}

ListRequest Reflector::Engine::RequestOfList() const {
  return {.kind = options_.kind,
          .label_selector = options_.label_selector,
          .field_selector = options_.field_selector,
          .resource_version = from_latest_       ? ""
                              : version_.empty() ? "0"
                                                 : version_,
          .limit = 0,
          .custom = options_.custom};
}

void Reflector::Engine::ListWhole() {
  list_ = WholeList::Start(client_, loop_, RequestOfList(),
                           [weak = weak_from_this(), round = round_](WholeList::Arrival arrival) {
                             const std::shared_ptr<Engine> self = weak.lock();
                             if (self != nullptr && self->round_ == round && self->running_) {
                               self->TakePart(std::move(arrival));
                             }
                           });
}

void Reflector::Engine::TakePart(WholeList::Arrival arrival) {
  for (api::Object& object : arrival.objects) known_.Collect(WatchEvent::Type::kAdded, std::move(object));
  arrival.outcome ? TakeWholeList(*arrival.outcome) : TellPart();
}

void Reflector::Engine::TakeWholeList(const ListOutcome& outcome) {
  const ApiStatus& status = outcome.answer.status;
  if (outcome.ok()) {
    FinishSync(outcome.resource_version);
    if (running_) Watch();
    return;
  }
  if (status.code == 404) return NotFound(status);
  if (status.IsExpired() || status.resource_version_too_large) {
    from_latest_ = true;
    Note(status.ToError(), status.code);
    return SyncAgain();
  }
  // A request to wait says nothing about how to ask.
  whole_list_failed_ = status.code != 429;
  Complain(outcome.answer.ToError(), status.code);
  Wait(status, &Engine::Sync);
}

void Reflector::Engine::List() {
  Abandon();
  loop_.Cancel(list_timer_);
  listing_ = true;
  NoteBehind();
  known_.BeginList();
  ListRequest request = RequestOfList();
  const bool from_any = request.resource_version == "0";
  // The server answers a list of a particular version from its cache only if it is not paged; if it paged a list of any
  // version, it has no such cache.
  const bool is_cached = !request.resource_version.empty() && !from_any && !lists_are_paged_;
  request.limit = is_cached ? 0 : kPageSize;
  ListPages(client_, loop_, std::move(request),
            [weak = weak_from_this(), round = round_, from_any](ListOutcome outcome) {
              const std::shared_ptr<Engine> self = weak.lock();
              if (self != nullptr && self->round_ == round && self->running_) {
                self->TakeList(std::move(outcome), from_any);
              }
            });
}

void Reflector::Engine::TakeList(ListOutcome outcome, bool from_any) {
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
  for (api::Object& object : outcome.objects) known_.Collect(WatchEvent::Type::kAdded, std::move(object));
  FinishSync(outcome.resource_version);
  if (running_) Watch();
}

void Reflector::Engine::FinishSync(const std::string& version) {
  std::vector<ObjectChange> changes;
  known_.EndList(changes);
  SetVersion(version);
  from_latest_ = not_served_ = whole_list_failed_ = listing_ = false;
  ever_synced_ = true;
  const std::vector<CatchingUp> caught_up = std::exchange(catching_up_, {});
  EndCatchUp();
  NoteInStep();
  NotePicture(true, false);
  // The sink is called once for every kind, even if there is nothing to report.
  if (!std::exchange(synced_, true) || !changes.empty()) sink_.OnChanges(options_.kind, std::move(changes));
  for (const CatchingUp& caller : caught_up) caller.done();
}

void Reflector::Engine::EndCatchUp() {
  loop_.Cancel(list_timer_);
  unlisted_since_.reset();
  std::lock_guard lock(mutex_);
  state_.catching_up = false;
}

bool Reflector::Engine::IsUnlisted() const {
  return unlisted_since_ && loop_.Now() - *unlisted_since_ >= options_.unlisted_after;
}

// The watch has been accepted. Those who can do without a list need not wait for one that keeps failing.
void Reflector::Engine::StartUnlisted() {
  if (!IsUnlisted()) return;
  const auto may_start = [this](const CatchingUp& caller) {
    if (!caller.unlisted.done) return false;
    if (caller.unlisted.version.empty()) return true;
    const VersionOrder order = CompareVersions(version_, caller.unlisted.version);
    return order == VersionOrder::kSame || order == VersionOrder::kNewer;
  };
  const auto first = std::stable_partition(catching_up_.begin(), catching_up_.end(), std::not_fn(may_start));
  const std::vector<CatchingUp> started(std::make_move_iterator(first), std::make_move_iterator(catching_up_.end()));
  catching_up_.erase(first, catching_up_.end());
  const std::string why = state().last_error;
  if (catching_up_.empty()) {
    EndCatchUp();
    NoteInStep();
  }
  for (const CatchingUp& caller : started) caller.unlisted.done(why);
}

// Known objects are given up only after nothing but 404 for a while: until then they are as outdated as with a server
// that cannot be reached, and the next list reports what was missed. If there are none, waiting would only delay the
// start.
bool Reflector::Engine::BelievesNotFound() {
  if (++not_founds_ == 1) not_found_since_ = loop_.Now();
  if (options_.always_served) return false;
  if (not_served_) return true;
  if (not_founds_ < kNotFoundsInARow) return false;
  return !synced_ || loop_.Now() - not_found_since_ >= options_.not_served_after;
}

void Reflector::Engine::NotFound(const ApiStatus& status) {
  if (!BelievesNotFound()) {
    Complain(status);
    return Wait(&Engine::Sync);
  }
  Abandon();
  std::vector<ObjectChange> changes;
  known_.BeginList();
  known_.EndList(changes);
  SetVersion({});
  synced_ = false;
  ever_synced_ = true;
  NotePicture(true, true);
  if (!changes.empty()) sink_.OnChanges(options_.kind, std::move(changes));
  if (!std::exchange(not_served_, true)) sink_.OnNotServed(options_.kind);
  // A kind that is not served counts as caught up.
  const std::vector<CatchingUp> caught_up = std::exchange(catching_up_, {});
  EndCatchUp();
  for (const CatchingUp& caller : caught_up) caller.done();
  if (running_) After(Jitter(options_.not_served_retry, 0.1, random_), &Engine::Sync);
}

Reflector::Reflector(ApiClient& client, base::Loop& loop, ChangeSink& sink, ReflectorOptions options)
    : engine_(std::make_shared<Engine>(client, loop, sink, std::move(options))) {}

Reflector::~Reflector() { Stop(); }

void Reflector::Start(From from) {
  engine_->loop().Post([engine = engine_, from] { engine->Start(from); });
}

void Reflector::Stop() {
  engine_->loop().RunNow([engine = engine_] { engine->Stop(); });
}

void Reflector::CatchUp(std::function<void()> done, UnlistedStart unlisted) {
  engine_->loop().Post([engine = engine_, done = std::move(done), unlisted = std::move(unlisted)]() mutable {
    engine->CatchUp(std::move(done), std::move(unlisted));
  });
}

std::string Reflector::resource_version() const { return engine_->resource_version(); }
ReflectorState Reflector::state() const { return engine_->state(); }

}  // namespace berth::client
