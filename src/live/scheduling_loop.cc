#include "live/scheduling_loop.h"

#include <algorithm>

#include "base/log.h"
#include "framework/diagnosis.h"
#include "scheduler/queue_setup.h"

namespace berth::live {

using framework::PodInfo;
using framework::PodInfoPtr;
using scheduler::Attempt;
using scheduler::Outcome;

namespace {

// With nothing to wait for it still looks around now and then, so that a clock that jumps cannot put it to sleep.
constexpr base::Duration kLongestNap = std::chrono::seconds(1);

// In a long backlog gauges are brought up to date now and then; otherwise whenever there is nothing to do.
constexpr uint64_t kStepsBetweenGauges = 256;

bool IsStorage(api::Kind kind) {
  return kind == api::Kind::kPersistentVolume || kind == api::Kind::kPersistentVolumeClaim ||
         kind == api::Kind::kNode || kind == api::Kind::kCSINode;
}

}  // namespace

SchedulingLoop::SchedulingLoop(const config::FeatureGates& gates, const base::Clock& clock, client::ApiClient& client,
                               client::EventRecorder& events, metrics::SchedulerMetrics& metrics, Options options)
    : gates_(gates),
      clock_(clock),
      options_(std::move(options)),
      cluster_(gates_),
      threads_(options_.binding_threads),
      api_(client, events, mailbox_, threads_, cluster_, clock,
           [this](const std::string& uid, bool failed, base::Duration took) {
             metrics_.OnEvicted(failed, took);
             if (failed) queue_->Activate(uid);  // no victim's end may ever wake it
           }),
      metrics_(metrics),
      unlisted_(options_.kinds) {}

SchedulingLoop::~SchedulingLoop() = default;

Result<std::unique_ptr<SchedulingLoop>> SchedulingLoop::Create(const config::KubeSchedulerConfiguration& configuration,
                                                               const framework::Registry& registry,
                                                               const config::FeatureGates& gates,
                                                               const base::Clock& clock, client::ApiClient& client,
                                                               client::EventRecorder& events,
                                                               metrics::SchedulerMetrics& metrics, Options options) {
  std::unique_ptr<SchedulingLoop> loop(new SchedulingLoop(gates, clock, client, events, metrics, std::move(options)));
  if (Result<void> made = loop->MakeScheduler(configuration, registry); !made) return made.error();
  return loop;
}

Result<void> SchedulingLoop::MakeScheduler(const config::KubeSchedulerConfiguration& configuration,
                                           const framework::Registry& registry) {
  scheduler::Scheduler::Options options;
  options.seed = options_.seed;
  options.verify_incremental = options_.verify_incremental;
  options.extenders = options_.extenders;
  options.take_binding = [this](std::unique_ptr<scheduler::BindingCycle> cycle) { TakeBinding(std::move(cycle)); };
  Result<std::unique_ptr<scheduler::Scheduler>> made =
      scheduler::Scheduler::Create(configuration, registry, gates_, cluster_, clock_, api_, std::move(options));
  if (!made) return made.error();
  scheduler_ = std::move(*made);

  for (const engine::Profile* profile : scheduler_->profiles()) {
    metrics_.Observe(*scheduler_->FindProfile(profile->scheduler_name()));
  }
  queue::SchedulingQueue::Options queue_options = scheduler::QueueOptions(configuration);
  queue_options.max_unschedulable = options_.max_unschedulable;
  queue_ = std::make_unique<queue::SchedulingQueue>(clock_, scheduler_->first_profile().queue_sort(),
                                                    scheduler::QueueHooks(*scheduler_), queue_options);
  queue_->set_observer([this](queue::PodState place, std::string_view cause) { metrics_.OnIncoming(place, cause); });
  handlers_ = std::make_unique<scheduler::EventHandlers>(cluster_, *queue_, *scheduler_, gates_, clock_);
  handlers_->set_observer(
      [this](const framework::ClusterEvent& event, base::Duration took) { metrics_.OnEvent(event, took); });
  return {};
}

void SchedulingLoop::Run() {
  while (true) {
    if (!mailbox_.empty()) mailbox_.RunAll();
    if (stopping_) break;
    for (const Attempt& attempt : scheduler_->FinishWaiting()) Settle(attempt, clock_.Now());
    if (ready() && Step()) {
      if (++steps_ % kStepsBetweenGauges == 0) UpdateGauges();
      continue;
    }
    UpdateGauges();
    mailbox_.WaitFor(IdleTime());
    api_.CheckWaits();
  }
  // Nothing new begins, and what is under way comes to its end.
  api_.AbandonWaits();
  while (!binding_.empty()) {
    mailbox_.WaitFor(kLongestNap);
    mailbox_.RunAll();
    api_.AbandonWaits();
  }
}

void SchedulingLoop::UpdateGauges() {
  metrics_.SetPending(queue_->counts());
  metrics_.SetCache(cluster_, binding_.size());
  if (const base::Time now = clock_.Now(); now - rejections_counted_ >= kLongestNap) {
    metrics_.SetRejections(*queue_);
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
    if (const auto flush = queue_->NextFlush()) wake = std::min(wake, *flush);
    if (!scheduler_->waiting_pods().empty()) wake = std::min(wake, scheduler_->waiting_pods().NextTimeout());
  }
  if (const auto timeout = api_.NextTimeout()) wake = std::min(wake, *timeout);
  return std::max(wake - clock_.Now(), base::Duration::zero());
}

bool SchedulingLoop::Step() {
  const queue::QueuedPod* next = queue_->Pop();
  if (!next) return false;
  const PodInfoPtr pod = next->pod;
  if (pod->pod().metadata.deletion_timestamp) {
    LOG_INFO(3, "Skip schedule deleting pod", {"pod", pod->Key()});
    api_.ReportDeleting(*pod);
    queue_->Done(pod->uid());
    return true;
  }
  LOG_INFO(3, "Attempting to schedule pod", {"pod", pod->Key()});
  const base::Time started = clock_.Now();
  metrics_.BeginCycle();
  const Attempt attempt = scheduler_->ScheduleOne(pod);
  metrics_.OnDecided(clock_.Now() - started);
  metrics_.EndCycle(pod->pod().spec.scheduler_name);
  if (attempt.post_filtered) metrics_.OnPreemption(attempt.post_filter);
  Settle(attempt, started);
  api_.FlushNominations();
  return true;
}

void SchedulingLoop::Settle(const Attempt& attempt, base::Time started) {
  switch (attempt.outcome) {
    case Outcome::kWaiting:
    case Outcome::kBound:  // told by FinishBinding
      return;
    case Outcome::kBinding:
      if (const auto it = binding_.find(attempt.pod->uid()); it != binding_.end()) it->second.started = started;
      return queue_->Bind(attempt.pod->uid());
    case Outcome::kUnschedulable:
    case Outcome::kError:
      return OnFailed(attempt, started);
  }
}

void SchedulingLoop::TakeBinding(std::unique_ptr<scheduler::BindingCycle> cycle) {
  const std::string& uid = cycle->attempt().pod->uid();
  Binding binding{.started = clock_.Now(), .first_attempt = {}, .attempts = 1};
  if (const queue::QueuedPod* queued = queue_->Find(uid)) {
    binding.first_attempt = queued->first_attempt;
    binding.attempts = queued->attempts;
  }
  binding_[uid] = binding;
  // A function can hold only what can be copied.
  const auto shared = std::make_shared<std::unique_ptr<scheduler::BindingCycle>>(std::move(cycle));
  threads_.Run([this, shared] {
    (*shared)->Run();
    mailbox_.Post([this, shared] { FinishBinding(std::move(*shared)); });
  });
}

void SchedulingLoop::FinishBinding(std::unique_ptr<scheduler::BindingCycle> cycle) {
  const std::string node_name = cycle->attempt().node_name;
  const Attempt attempt = scheduler_->Finish(std::move(cycle));
  const auto it = binding_.find(attempt.pod->uid());
  const Binding binding = it->second;
  binding_.erase(it);
  if (attempt.outcome == Outcome::kBound) return OnBound(attempt, binding);
  // Its room is free again for the others.
  handlers_->OnForgotten(*attempt.pod, node_name);
  OnFailed(attempt, binding.started);
  api_.FlushNominations();
}

void SchedulingLoop::OnBound(const Attempt& attempt, const Binding& binding) {
  LOG_INFO(2, "Successfully bound pod to node", {"pod", attempt.pod->Key()}, {"node", attempt.node_name},
           {"evaluatedNodes", cluster_.nodes().size()}, {"feasibleNodes", attempt.feasible_nodes});
  const base::Time now = clock_.Now();
  metrics_.OnScheduled(attempt.pod->pod().spec.scheduler_name, now - binding.started, binding.attempts,
                       binding.first_attempt ? std::optional(now - *binding.first_attempt) : std::nullopt);
  api_.ReportScheduled(*attempt.pod, attempt.node_name);
  queue_->Done(attempt.pod->uid());
}

void SchedulingLoop::OnFailed(const Attempt& attempt, base::Time started) {
  const std::string& uid = attempt.pod->uid();
  const std::string key = attempt.pod->Key();
  const bool unschedulable = attempt.outcome == Outcome::kUnschedulable;
  metrics_.OnFailed(attempt.pod->pod().spec.scheduler_name, unschedulable, clock_.Now() - started);
  if (!unschedulable) {
    LOG_ERROR("Error scheduling pod; retrying", {"err", attempt.message}, {"pod", key});
  } else if (attempt.message == framework::kNoNodesMessage) {
    LOG_INFO(2, "Unable to schedule pod; no nodes are registered to the cluster; waiting", {"pod", key});
  } else {
    LOG_INFO(2, "Unable to schedule pod; no fit; waiting", {"pod", key}, {"err", attempt.message});
  }
  const queue::QueuedPod* queued = queue_->Find(uid);
  if (queued == nullptr) {
    // Deleted, or bound after all: the answer to a binding can be lost.
    LOG_INFO(2, "Pod is no longer pending; its failure is not reported", {"pod", key});
    return;
  }
  const PodInfoPtr newest = queued->pod;
  queue_->Requeue(uid, attempt.unschedulable_plugins, attempt.pending_plugins);
  api_.ReportFailure(*newest, attempt);
}

void SchedulingLoop::OnChanges(api::Kind kind, std::vector<client::ObjectChange> changes) {
  mailbox_.Post([this, kind, changes = std::move(changes)] { Apply(kind, changes); });
}

void SchedulingLoop::OnNotServed(api::Kind kind) {
  mailbox_.Post([this, kind] { MarkListed(kind); });
}

void SchedulingLoop::Apply(api::Kind kind, const std::vector<client::ObjectChange>& changes) {
  for (const client::ObjectChange& change : changes) {
    if (change.type == client::ObjectChange::Type::kDeleted) {
      handlers_->Remove(change.object);
    } else {
      handlers_->Put(change.object);
    }
  }
  MarkListed(kind);
  if (IsStorage(kind)) api_.CheckWaits();
}

void SchedulingLoop::MarkListed(api::Kind kind) {
  if (unlisted_.erase(kind) > 0 && unlisted_.empty()) {
    LOG_INFO(0, "Caches are synced", {"nodes", cluster_.nodes().size()}, {"pods", cluster_.pod_count()});
    synced_ = true;
  }
}

}  // namespace berth::live
