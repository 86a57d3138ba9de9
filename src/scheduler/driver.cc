#include "scheduler/driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "scheduler/queue_setup.h"

namespace berth::scheduler {

Driver::Driver(const config::FeatureGates& gates, const base::Clock& clock, DriverObserver& observer, Options options)
    : gates_(gates), clock_(clock), now_(clock), observer_(observer), options_(std::move(options)), cluster_(gates_) {}

class Driver::Input {
 public:
  explicit Input(Driver& driver) : driver_(driver), outermost_(!driver.now_.is_held()) {
    if (outermost_) driver_.BeginInput();
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    if (outermost_) driver_.now_.Release();
  }

  // Null for calls from within another input: they follow from that.
  Tap* tap() const { return outermost_ ? driver_.options_.tap : nullptr; }

 private:
  Driver& driver_;
  const bool outermost_;
};

void Driver::BeginInput() {
  now_.Hold();
  if (tapped_api_) tapped_api_->BeginInput();
  cluster_.CatchUpWithClaims();
}

Result<std::unique_ptr<Driver>> Driver::Create(const config::KubeSchedulerConfiguration& configuration,
                                               const framework::Registry& registry, const config::FeatureGates& gates,
                                               const base::Clock& clock, framework::ApiWriter& api,
                                               DriverObserver& observer, Options options) {
  std::unique_ptr<Driver> driver(new Driver(gates, clock, observer, std::move(options)));
  Scheduler::Options scheduler_options = driver->options_.scheduler;
  scheduler_options.input_clock = &driver->now_;
  Tap* const tap = driver->options_.tap;
  if (scheduler_options.take_binding) {
    driver->cluster_.TakeClaimsBetweenInputs();
    scheduler_options.take_binding = [owner = driver.get(), tap, take = std::move(scheduler_options.take_binding)](
                                         std::unique_ptr<BindingCycle> cycle) {
      owner->binding_.emplace(cycle->attempt().ticket, cycle.get());
      if (tap) cycle->KeepAnswers();
      take(std::move(cycle));
    };
  }
  scheduler_options.activate = [owner = driver.get()](const std::string& uid) { owner->Activate(uid); };
  if (tap) {
    driver->tapped_api_ = std::make_unique<TappedApi>(api, *tap);
    for (engine::Extender*& extender : scheduler_options.extenders) {
      driver->tapped_extenders_.push_back(std::make_unique<TappedExtender>(*extender, *tap));
      extender = driver->tapped_extenders_.back().get();
    }
    driver->cluster_.set_on_claim_landed(
        [tap](const auto& written, const std::string& ended_flight) { tap->OnClaimLanded(written, ended_flight); });
  }
  framework::ApiWriter& writer = driver->tapped_api_ ? *driver->tapped_api_ : api;
  Result<std::unique_ptr<Scheduler>> made = Scheduler::Create(configuration, registry, driver->gates_, driver->cluster_,
                                                              clock, writer, std::move(scheduler_options));
  if (!made) return made.error();
  driver->scheduler_ = std::move(*made);
  if (driver->tapped_api_) driver->tapped_api_->KeepBodiesOf(std::as_const(driver->cluster_).custom_objects());
  driver->scheduler_->posted().set_on_first(driver->options_.on_posted);
  if (tap) {
    driver->scheduler_->posted().set_on_run([tap](const framework::PostedAnswer& answer) { tap->OnPosted(answer); });
  }

  std::map<std::string, queue::ProfileHooks> hooks = QueueHooks(*driver->scheduler_);
  if (driver->options_.adapt_hooks) driver->options_.adapt_hooks(hooks);
  queue::SchedulingQueue::Options queue_options = QueueOptions(configuration);
  queue_options.max_unschedulable = driver->options_.max_unschedulable;
  driver->queue_ = std::make_unique<queue::SchedulingQueue>(
      driver->now_, driver->scheduler_->first_profile().queue_sort(), std::move(hooks), queue_options);
  driver->handlers_ =
      std::make_unique<EventHandlers>(driver->cluster_, *driver->queue_, *driver->scheduler_, driver->gates_, clock);
  return driver;
}

Result<void> Driver::Reconfigure(const config::KubeSchedulerConfiguration& configuration,
                                 const framework::Registry& registry) {
  CHECK_WHY(!in_cycle_, "the configuration changes between cycles");
  std::set<std::string> names, wanted;
  for (const engine::Profile* profile : scheduler_->profiles()) names.insert(profile->scheduler_name());
  for (const config::Profile& profile : configuration.profiles) wanted.insert(profile.scheduler_name);
  if (names != wanted) {
    // Pending pods of a name that was nobody's are not in the queue, and those of one that goes must not stay there.
    return Error::InvalidArgument(
        fmt::format("profiles: the set of schedulerNames cannot be changed while running: expected [{}], found [{}]",
                    fmt::join(names, " "), fmt::join(wanted, " ")));
  }
  const Input input(*this);
  if (input.tap()) input.tap()->OnReconfigure(now_.Now(), configuration);
  SettleWaiting();
  const std::vector<std::shared_ptr<engine::Profile>> old = scheduler_->ShareProfiles();  // until the queue has let go
  if (Result<void> made = scheduler_->Reconfigure(configuration, registry, gates_); !made) return made;
  std::map<std::string, queue::ProfileHooks> hooks = QueueHooks(*scheduler_);
  if (options_.adapt_hooks) options_.adapt_hooks(hooks);
  queue::SchedulingQueue::Options queue_options = QueueOptions(configuration);
  queue_options.max_unschedulable = options_.max_unschedulable;
  queue_->Reconfigure(scheduler_->first_profile().queue_sort(), std::move(hooks), queue_options);
  return {};
}

// A pod that was deleted while it waited for permission has to be out of the picture before it may come back.
void Driver::Put(const api::Object& object) {
  const Input input(*this);
  if (input.tap()) input.tap()->OnPut(now_.Now(), object);
  handlers_->Put(object);
  if (object.kind() == api::Kind::kPod) SettleWaiting();
}

void Driver::Remove(const api::Object& object) {
  const Input input(*this);
  if (input.tap()) input.tap()->OnRemove(now_.Now(), object);
  handlers_->Remove(object);
  if (object.kind() == api::Kind::kPod) SettleWaiting();
}

void Driver::PutCustom(framework::EventResource resource, std::shared_ptr<const api::CustomObject> object) {
  const Input input(*this);
  if (input.tap()) input.tap()->OnPutCustom(now_.Now(), framework::NameOfCustom(resource), object);
  handlers_->PutCustom(resource, std::move(object));
}

void Driver::RemoveCustom(framework::EventResource resource, const api::ObjectMeta& metadata) {
  const Input input(*this);
  if (input.tap()) input.tap()->OnRemoveCustom(now_.Now(), framework::NameOfCustom(resource), metadata);
  handlers_->RemoveCustom(resource, metadata);
}

void Driver::Add(framework::PodInfoPtr pod) {
  const Input input(*this);
  if (input.tap()) input.tap()->OnAdd(now_.Now(), *pod);
  queue_->Add(std::move(pod));
}

void Driver::Activate(const std::string& uid) {
  const Input input(*this);
  if (input.tap()) input.tap()->OnActivate(now_.Now(), uid);
  queue_->Activate(uid);
}

void Driver::GiveUp(const std::string& uid) {
  const Input input(*this);
  if (input.tap()) input.tap()->OnGiveUp(now_.Now(), uid);
  queue_->Delete(uid);
}

bool Driver::Step() {
  const Input input(*this);
  if (Tap* const tap = input.tap()) {
    if (tap->WantsCheckpoint() && IsAtRest()) tap->OnCheckpoint(TakeCheckpoint());
    tap->OnStep(now_.Now());
  }
  SettlePosted();
  if (binding_.size() >= options_.max_binding) return false;
  const queue::QueuedPod* next = queue_->Pop();
  if (next == nullptr) return false;
  const framework::PodInfoPtr pod = next->pod;
  if (pod->is_terminating()) {
    observer_.OnSkipped(*pod);
    queue_->Done(pod->uid(), next->ticket);
    return true;
  }
  Attempt attempt;
  attempt.pod = pod;
  attempt.ticket = next->ticket;
  attempt.number = next->attempts;
  attempt.first_attempt = next->first_attempt;
  attempt.flushed = next->slept_too_long;
  observer_.OnCycleBegin(pod);
  attempt.started = clock_.Now();
  in_cycle_ = true;
  scheduler_->ScheduleOne(attempt);
  in_cycle_ = false;
  observer_.OnCycleEnd(attempt);
  if (options_.tap) options_.tap->OnDecided(attempt);
  Settle(attempt);
  return true;
}

void Driver::Tend() {
  if (scheduler_->posted().empty() && scheduler_->waiting_pods().empty()) return;
  const Input input(*this);
  if (input.tap()) input.tap()->OnTend(now_.Now());
  SettlePosted();
}

void Driver::SettlePosted() {
  scheduler_->posted().RunAll();
  SettleWaiting();
}

void Driver::SettleWaiting() {
  if (in_cycle_ || scheduler_->waiting_pods().empty()) return;
  in_cycle_ = true;
  const std::vector<Attempt> ended = scheduler_->FinishWaiting();
  in_cycle_ = false;
  for (const Attempt& attempt : ended) {
    observer_.OnWaited(attempt);
    if (options_.tap) options_.tap->OnDecided(attempt);
    Settle(attempt);
  }
}

void Driver::Finish(std::unique_ptr<BindingCycle> cycle) {
  const Input input(*this);
  if (input.tap()) input.tap()->OnFinish(now_.Now(), *cycle);
  const std::string& uid = cycle->attempt().pod->uid();
  const base::Ticket ticket = cycle->attempt().ticket;
  binding_.erase(ticket);
  const bool superseded = queue_->Find(uid) != nullptr && queue_->FindAttempt(uid, ticket) == nullptr;
  const Attempt attempt = scheduler_->Finish(std::move(cycle), superseded);
  if (options_.tap) options_.tap->OnDecided(attempt);
  Settle(attempt);
}

void Driver::Settle(const Attempt& attempt) {
  const std::string& uid = attempt.pod->uid();
  switch (attempt.outcome) {
    case Outcome::kWaiting:
      observer_.OnWaiting(attempt);
      break;
    case Outcome::kBinding:
      queue_->Bind(uid, attempt.ticket);
      break;
    case Outcome::kBound:
      queue_->Done(uid, attempt.ticket);
      handlers_->TellOfFreedDevices();
      observer_.OnBound(attempt);
      break;
    case Outcome::kUnschedulable:
    case Outcome::kError:
      SettleFailure(attempt);
      break;
  }
  handlers_->TellOfEndedNominations();
}

// Room that was given back may help others. A pod that was rejected is back in the queue first, and its own room does
// not wake it, unless it is in another attempt by now; one that failed for another reason is tried again in any case.
void Driver::SettleFailure(const Attempt& attempt) {
  const std::string& uid = attempt.pod->uid();
  const bool rejected = attempt.outcome == Outcome::kUnschedulable;
  if (!attempt.freed_node.empty() && !rejected) handlers_->OnForgotten(*attempt.pod, attempt.freed_node);
  std::string_view except;
  if (const queue::QueuedPod* queued = queue_->FindAttempt(uid, attempt.ticket)) {
    except = uid;
    const framework::PodInfoPtr newest = queued->pod;
    queue_->Requeue(uid, attempt.ticket, attempt.unschedulable_plugins, attempt.pending_plugins);
    observer_.OnFailed(attempt, *newest);
  } else {
    observer_.OnStale(attempt);
    // The pod has left, and gave its room back then. Volumes that were set aside for it are free only now.
    const bool had_volumes = attempt.freed_node.empty() && !attempt.pod->pod().spec.volumes.empty();
    if (had_volumes) handlers_->OnForgotten(*attempt.pod, /*node_name=*/"");
  }
  if (!attempt.freed_node.empty() && rejected) handlers_->OnForgotten(*attempt.pod, attempt.freed_node, except);
  handlers_->TellOfFreedDevices(except);
}

std::optional<base::Time> Driver::NextWake() {
  const std::optional<base::Time> flush = queue_->NextFlush();
  const std::optional<base::Time> timeout = NextTimeout();
  return flush && timeout ? std::min(*flush, *timeout) : flush ? flush : timeout;
}

std::optional<base::Time> Driver::NextTimeout() const {
  const framework::WaitingPods& waiting = scheduler_->waiting_pods();
  return waiting.empty() ? std::nullopt : std::optional(waiting.NextTimeout());
}

}  // namespace berth::scheduler
