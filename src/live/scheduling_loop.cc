#include "live/scheduling_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "framework/diagnosis.h"

namespace berth::live {

using framework::PodInfo;
using framework::PodInfoPtr;
using scheduler::Attempt;
using scheduler::Outcome;

namespace {

// With nothing to wait for it still wakes up from time to time, so that a clock that jumps cannot put it to sleep.
constexpr base::Duration kLongestNap = std::chrono::seconds(1);

// In a long backlog gauges are updated every so many steps; otherwise whenever there is nothing to do.
constexpr uint64_t kStepsBetweenGauges = 256;
// The mail is checked after every cycle; everything else after this many.
constexpr uint64_t kStepsPerTurn = 32;

// If there were pods to schedule for a minute and none was, something is broken, and the kubelet should restart it.
constexpr base::Duration kStuck = std::chrono::minutes(1);

// The kinds that binding may wait for.
bool IsStorage(api::Kind kind) {
  return kind == api::Kind::kPersistentVolume || kind == api::Kind::kPersistentVolumeClaim ||
         kind == api::Kind::kNode || kind == api::Kind::kCSINode || kind == api::Kind::kResourceClaim;
}

}  // namespace

SchedulingLoop::SchedulingLoop(const config::FeatureGates& gates, const base::Clock& clock, BindingRunner& runner,
                               client::ApiClient& client, client::EventRecorder& events,
                               metrics::SchedulerMetrics& metrics, Options options)
    : gates_(gates),
      clock_(clock),
      options_(std::move(options)),
      backlog_(options_.backlog),
      runner_(runner),
      api_(client, events, mailbox_, runner, clock, metrics,
           [this](const Evictions::Ended& ended) { OnEvicted(ended); }),
      metrics_(metrics),
      lane_metrics_(options_.engine_metrics),
      unlisted_(options_.kinds) {
  if (options_.journal_bytes != 0) journal_ = std::make_unique<scheduler::AttemptJournal>(options_.journal_bytes);
}

SchedulingLoop::~SchedulingLoop() = default;

Result<std::unique_ptr<SchedulingLoop>> SchedulingLoop::Create(const config::KubeSchedulerConfiguration& configuration,
                                                               const framework::Registry& registry,
                                                               const config::FeatureGates& gates,
                                                               const base::Clock& clock, BindingRunner& runner,
                                                               client::ApiClient& client, client::EventRecorder& events,
                                                               metrics::SchedulerMetrics& metrics, Options options) {
  std::unique_ptr<SchedulingLoop> loop(
      new SchedulingLoop(gates, clock, runner, client, events, metrics, std::move(options)));
  if (Result<void> made = loop->MakeDriver(configuration, registry); !made) return made.error();
  return loop;
}

Result<void> SchedulingLoop::MakeDriver(const config::KubeSchedulerConfiguration& configuration,
                                        const framework::Registry& registry) {
  scheduler::Driver::Options options;
  options.scheduler.seed = options_.seed;
  options.scheduler.verify_incremental = options_.verify_incremental;
  options.scheduler.extenders = options_.extenders;
  options.scheduler.announces_nodes = true;
  options.scheduler.take_binding = [this](std::unique_ptr<scheduler::BindingCycle> cycle) {
    TakeBinding(std::move(cycle));
  };
  if (options_.annotate_results) options.scheduler.scope = engine::Scope::kEverything;
  options.max_unschedulable = options_.max_unschedulable;
  // Recordings could not tell which cycles wait, so the loop itself sees to the limit.
  options.max_binding = scheduler::Driver::kNoLimit;
  options.tap = options_.tap;
  options.on_posted = [this] { mailbox_.Post([] {}); };  // makes the next turn due
  Result<std::unique_ptr<scheduler::Driver>> made =
      scheduler::Driver::Create(configuration, registry, gates_, clock_, api_, *this, std::move(options));
  if (!made) return made.error();
  driver_ = std::move(*made);
  api_.set_cluster(driver_->cluster());
  api_.set_on_lost_write([this](const std::string& uid) { RetryAfterBackoff(uid); });
  for (const auto& [number, watched] : driver_->cluster().custom_objects().watched()) unlisted_custom_.insert(number);

  ObserveProfiles();
  driver_->mutable_queue().set_observer(
      [this](queue::PodState place, std::string_view cause) { metrics_.OnIncoming(place, cause); });
  driver_->mutable_queue().set_hint_observer(
      clock_, [this](const std::string& plugin, const framework::ClusterEvent& event, framework::QueueingHint hint,
                     base::Duration took) { metrics_.OnHint(plugin, event, hint, took); });
  driver_->handlers().set_observer(
      [this](const framework::ClusterEvent& event, base::Duration took) { metrics_.OnEvent(event, took); });
  return {};
}

void SchedulingLoop::ObserveProfiles() {
  for (const auto& profile : driver_->scheduler().ShareProfiles()) {
    metrics_.Observe(*profile);
    lane_metrics_.Observe(*profile);
  }
}

Result<void> SchedulingLoop::Reconfigure(const config::KubeSchedulerConfiguration& configuration,
                                         const framework::Registry& registry) {
  const auto old = driver_->scheduler().ShareProfiles();
  if (Result<void> done = driver_->Reconfigure(configuration, registry); !done) return done;
  for (const auto& profile : old) metrics_.Forget(*profile);
  ObserveProfiles();
  return {};
}

void SchedulingLoop::Run() {
  api_.NoteSchedulingThread();
  while (true) {
    const base::Time next = Turn();
    if (ended()) return;
    if (const base::Time now = clock_.Now(); next > now) mailbox_.WaitFor(next - now);
  }
}

base::Time SchedulingLoop::Turn() {
  if (progress_at_.load() == 0) progress_at_.store(clock_.Now().time_since_epoch().count());  // its first turn
  if (!mailbox_.empty()) mailbox_.RunAll();
  if (stopping_) {
    // Nothing new starts, and what is in progress comes to its end.
    api_.AbandonWaits();
    return clock_.Now() + kLongestNap;
  }
  RetryDue();
  bool more = false;
  // One step in any case: under a load of events, new mail has always arrived by now.
  for (size_t steps = 0; steps < kStepsPerTurn && ready() && (steps == 0 || mailbox_.empty()); ++steps) {
    more = Step();
    NoteProgress(more);
    if (!more) break;
    api_.FlushNominations();
    ++steps_;
  }
  if (!ready()) {
    driver_->Tend();  // plugins may post work before they have anything to schedule
    NoteProgress(true);
  }
  if (!more || steps_ % kStepsBetweenGauges < kStepsPerTurn) UpdateGauges();
  api_.CheckWaits();
  api_.SendUnsent();
  return more || !mailbox_.empty() ? clock_.Now() : clock_.Now() + IdleTime();
}

// True if a pod was scheduled. A full loop still answers those that wait.
bool SchedulingLoop::Step() {
  if (!full()) return driver_->Step();
  driver_->Tend();
  // Pods that wait for their volumes may do so for minutes.
  if (driver_->binding() < options_.max_binding + api_.waiting()) NoteProgress(true);
  return false;
}

void SchedulingLoop::OnEvicted(const Evictions::Ended& ended) {
  metrics_.OnEvicted(ended.failed, ended.took);
  // A preemptor that was deleted and created again meanwhile was gated again, and no event requeues a gated pod.
  const queue::QueuedPod* preemptor = driver_->queue().Find(ended.preemptor_uid);
  const bool is_held = preemptor != nullptr && preemptor->gated();
  if (ended.last_is_gone || is_held) {
    driver_->Activate(ended.preemptor_uid);
  } else if (ended.failed) {
    RetryAfterBackoff(ended.preemptor_uid);
  }
}

// As after an error in PostFilter. A pod that is gone, or in another attempt, needs nothing.
void SchedulingLoop::RetryAfterBackoff(const std::string& uid) {
  const queue::QueuedPod* pod = driver_->queue().Find(uid);
  if (pod == nullptr || pod->ticket != base::Ticket::kNone) return;
  retries_[uid] = {pod->timestamp, driver_->queue().BackoffOverAt(*pod)};
}

// Activate does not wait for the end of a backoff, and a pod in the backoff queue is taken early when there is nothing
// else to do. So retries wait here: otherwise a write that always fails would keep scheduler and API server busy.
void SchedulingLoop::RetryDue() {
  if (retries_.empty()) return;
  std::erase_if(retries_, [&, now = clock_.Now()](const auto& entry) {
    const auto& [uid, retry] = entry;
    if (now < retry.due) return false;
    const queue::QueuedPod* pod = driver_->queue().Find(uid);
    const bool is_asleep = pod != nullptr && pod->ticket == base::Ticket::kNone && pod->timestamp == retry.requeued;
    if (is_asleep) driver_->Activate(uid);
    return true;
  });
}

// Having nothing to do counts as progress.
void SchedulingLoop::NoteProgress(bool scheduled) {
  if (scheduled || driver_->queue().counts().active == 0) {
    progress_at_.store(clock_.Now().time_since_epoch().count(), std::memory_order_relaxed);
  }
}

base::Duration SchedulingLoop::StuckFor() const {
  const base::Duration since = clock_.Now().time_since_epoch() - base::Duration(progress_at_.load());
  return progress_at_.load() == 0 ? base::Duration::zero() : since;
}

Result<void> SchedulingLoop::CheckProgress() const {
  const base::Duration stuck = StuckFor();
  if (stuck < kStuck) return {};
  return Error::Unavailable(fmt::format("no pod has been scheduled for {}s although some are ready to be",
                                        std::chrono::duration_cast<std::chrono::seconds>(stuck).count()));
}

void SchedulingLoop::UpdateGauges() {
  metrics_.SetPending(driver_->queue().counts());
  metrics_.SetCache(driver_->cluster(), driver_->binding());
  metrics_.SetInFlight(driver_->queue());
  for (const engine::Profile* profile : driver_->scheduler().profiles()) metrics_.CountEvaluations(*profile);
  if (const base::Time now = clock_.Now(); now - rejections_counted_ >= kLongestNap) {
    metrics_.SetRejections(driver_->queue());
    rejections_counted_ = now;
  }
}

void SchedulingLoop::Stop() {
  mailbox_.Post([this] { stopping_ = true; });
}

void SchedulingLoop::StartScheduling() {
  mailbox_.Post([this] { scheduling_ = true; });
}

base::Duration SchedulingLoop::IdleTime() {
  base::Time wake = clock_.Now() + kLongestNap;
  if (ready()) {
    // A full loop goes on when a binding ends, which is mail.
    if (const auto next = full() ? driver_->NextTimeout() : driver_->NextWake()) wake = std::min(wake, *next);
  }
  if (const auto timeout = api_.NextTimeout()) wake = std::min(wake, *timeout);
  return std::max(wake - clock_.Now(), base::Duration::zero());
}

void SchedulingLoop::OnSkipped(const PodInfo& pod) {
  LOG_INFO(3, "Skip schedule deleting pod", {"pod", pod.Key()});
  api_.ReportDeleting(pod);
}

void SchedulingLoop::OnCycleBegin(const PodInfoPtr& pod) {
  LOG_INFO(3, "Attempting to schedule pod", {"pod", pod->Key()});
  metrics_.BeginCycle();
}

void SchedulingLoop::OnCycleEnd(const Attempt& attempt) {
  metrics_.OnDecided(clock_.Now() - attempt.started);
  lane_metrics_.OnDecided(attempt);
  if (attempt.post_filtered) metrics_.OnPreemption(attempt.post_filter);
  if (!options_.annotate_results || attempt.way == scheduler::Way::kNone) return;
  const engine::Profile* profile = driver_->scheduler().FindProfile(attempt.pod->pod().spec.scheduler_name);
  results_[attempt.pod->uid()] = inspect::SimulatorAnnotations(attempt, *profile);
}

void SchedulingLoop::OnWaited(const Attempt& attempt) {
  if (attempt.permit_wait) metrics_.OnWaited(attempt.permit_wait->code, attempt.permit_wait->waited);
}

void SchedulingLoop::TakeBinding(std::unique_ptr<scheduler::BindingCycle> cycle) {
  // std::function requires copyable captures.
  const auto shared = std::make_shared<std::unique_ptr<scheduler::BindingCycle>>(std::move(cycle));
  const auto finish = [this, shared] {
    driver_->Finish(std::move(*shared));
    api_.FlushNominations();
    NoteProgress(true);
  };
  runner_.Run([shared] { (*shared)->Run(); }, [this, finish] { mailbox_.Post(finish); });
}

void SchedulingLoop::OnBound(const Attempt& attempt) {
  LOG_INFO(2, "Successfully bound pod to node", {"pod", attempt.pod->Key()}, {"node", attempt.node_name},
           {"evaluatedNodes", driver_->cluster().nodes().size()}, {"feasibleNodes", attempt.feasible_nodes});
  const base::Time now = clock_.Now();
  metrics_.OnScheduled(attempt.pod->pod().spec.scheduler_name, now - attempt.started, attempt.number,
                       attempt.first_attempt ? std::optional(now - *attempt.first_attempt) : std::nullopt);
  if (attempt.flushed) metrics_.OnScheduledAfterFlush();
  api_.ReportScheduled(*attempt.pod, attempt.node_name);
  WriteDown(attempt, scheduler::Ending::kBound);
}

void SchedulingLoop::OnFailed(const Attempt& attempt, const PodInfo& newest) {
  const std::string key = attempt.pod->Key();
  const bool unschedulable = attempt.outcome == Outcome::kUnschedulable;
  metrics_.OnFailed(attempt.pod->pod().spec.scheduler_name, unschedulable, clock_.Now() - attempt.started);
  if (!unschedulable) {
    LOG_ERROR("Error scheduling pod; retrying", {"err", attempt.message}, {"pod", key});
  } else if (attempt.message == framework::kNoNodesMessage) {
    LOG_INFO(2, "Unable to schedule pod; no nodes are registered to the cluster; waiting", {"pod", key});
  } else {
    LOG_INFO(2, "Unable to schedule pod; no fit; waiting", {"pod", key}, {"err", attempt.message});
  }
  api_.ReportFailure(newest, attempt);
  WriteDown(attempt, unschedulable ? scheduler::Ending::kUnschedulable : scheduler::Ending::kError);
}

void SchedulingLoop::WriteDown(const Attempt& attempt, scheduler::Ending ending) {
  if (auto found = results_.extract(attempt.pod->uid()); !found.empty() && ending != scheduler::Ending::kStale) {
    if (ending == scheduler::Ending::kBound) {
      found.mapped().push_back(inspect::SelectedNodeAnnotation(attempt.node_name));
    }
    api_.Annotate(*attempt.pod, found.mapped());
  }
  if (journal_) journal_->Record(attempt, ending, clock_.Now(), driver_->cluster().nodes().size());
}

// Deleted, bound after all (the answer to a binding can be lost), or back under the same UID and in another attempt.
void SchedulingLoop::OnStale(const Attempt& attempt) {
  metrics_.OnFailed(attempt.pod->pod().spec.scheduler_name, attempt.outcome == Outcome::kUnschedulable,
                    clock_.Now() - attempt.started);
  LOG_INFO(2, "Pod is no longer pending in this attempt; its failure is not reported", {"pod", attempt.pod->Key()},
           {"err", attempt.message});
  WriteDown(attempt, scheduler::Ending::kStale);
}

void SchedulingLoop::OnListing(api::Kind kind, std::vector<client::ObjectChange> changes) {
  Add(kind, std::move(changes), false);
}

void SchedulingLoop::OnChanges(api::Kind kind, std::vector<client::ObjectChange> changes) {
  Add(kind, std::move(changes), true);
}

void SchedulingLoop::Add(api::Kind kind, std::vector<client::ObjectChange> changes, bool is_whole) {
  if (!backlog_.Add(kind, std::move(changes), is_whole)) return;
  mailbox_.Post([this, kind] { Apply(kind, backlog_.Take(kind)); });
}

void SchedulingLoop::OnNotServed(api::Kind kind) {
  mailbox_.Post([this, kind] { MarkListed(kind); });
}

void SchedulingLoop::Apply(api::Kind kind, const ChangeBacklog::Unread& unread) {
  for (const client::ObjectChange& change : unread.changes) {
    if (change.type == client::ObjectChange::Type::kDeleted) {
      driver_->Remove(change.object);
      if (const api::Pod* pod = change.object.As<api::Pod>()) api_.OnPodGone(*pod);
    } else {
      driver_->Put(change.object);
    }
  }
  if (unread.is_whole) MarkListed(kind);
  if (IsStorage(kind)) api_.CheckWaits();
}

void SchedulingLoop::ApplyCustom(framework::EventResource resource, const ChangeBacklog::Unread& unread) {
  for (const client::ObjectChange& change : unread.changes) {
    if (change.type == client::ObjectChange::Type::kDeleted) {
      driver_->RemoveCustom(resource, change.object.metadata());
    } else {
      driver_->PutCustom(resource, change.object.Share<api::CustomObject>());
    }
  }
  if (unread.is_whole && unlisted_custom_.erase(resource) > 0) CheckSynced();
}

void SchedulingLoop::MarkListed(api::Kind kind) {
  if (unlisted_.erase(kind) > 0) CheckSynced();
}

void SchedulingLoop::CheckSynced() {
  if (!unlisted_.empty() || !unlisted_custom_.empty()) return;
  LOG_INFO(0, "Caches are synced", {"nodes", driver_->cluster().nodes().size()},
           {"pods", driver_->cluster().pod_count()});
  synced_ = true;
}

}  // namespace berth::live
