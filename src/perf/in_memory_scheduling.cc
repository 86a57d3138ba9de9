// InMemoryCluster's scheduling: one pod at a time, and what the scheduler writes back.
#include <algorithm>

#include "framework/events.h"
#include "perf/in_memory_cluster.h"

namespace berth::perf {

using framework::ActionType;
using framework::EventResource;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

bool InMemoryCluster::Step() {
  for (const scheduler::Attempt& attempt : scheduler_->FinishWaiting()) Settle(attempt);
  const queue::QueuedPod* next = queue_->Pop();
  if (!next) return false;
  const PodInfoPtr pod = next->pod;
  if (pod->pod().metadata.deletion_timestamp) {
    queue_->Done(pod->uid());
    return true;
  }
  engine::Profile& profile = *scheduler_->FindProfile(pod->pod().spec.scheduler_name);
  metrics_.BeginCycle(profile);
  const base::Time start = clock_.Now();
  const scheduler::Attempt attempt = scheduler_->ScheduleOne(pod);
  metrics_.OnAttempt(attempt.outcome, clock_.Now() - start);
  metrics_.EndCycle(profile);
  Settle(attempt);
  return true;
}

std::optional<base::Time> InMemoryCluster::NextWake() {
  std::optional<base::Time> wake;
  if (queue_->counts().backoff > 0) wake = queue_->NextFlush();
  if (!scheduler_->waiting_pods().empty()) {
    const base::Time timeout = scheduler_->waiting_pods().NextTimeout();
    wake = wake ? std::min(*wake, timeout) : timeout;
  }
  return wake;
}

void InMemoryCluster::Settle(const scheduler::Attempt& attempt) {
  const std::string& uid = attempt.pod->uid();
  switch (attempt.outcome) {
    case scheduler::Outcome::kBinding:
    case scheduler::Outcome::kWaiting:
      return;
    case scheduler::Outcome::kBound:
      if (const queue::QueuedPod* queued = queue_->Find(uid); queued && queued->first_attempt)
        metrics_.OnScheduled(clock_.Now() - *queued->first_attempt);
      return queue_->Done(uid);
    case scheduler::Outcome::kUnschedulable:
    case scheduler::Outcome::kError:
      break;
  }
  if (const auto it = pods_.find(uid); it != pods_.end()) {
    PodRecord& record = it->second;
    const PodStage before = record.stage();
    record.attempted = true;
    record.message = attempt.message;
    if (before != record.stage()) Notify(record.pod.get(), before, record.pod.get(), record.stage());
  }
  queue_->Requeue(uid, attempt.unschedulable_plugins, attempt.pending_plugins);
}

Status InMemoryCluster::Bind(const PodInfo& pod, const std::string& node_name) {
  const auto it = pods_.find(pod.uid());
  if (it == pods_.end()) return Status::Error("pods \"" + pod.name() + "\" not found");
  PodRecord& record = it->second;
  const std::shared_ptr<const api::Pod> before = record.pod;
  const PodStage stage_before = record.stage();
  api::Pod bound = *before;
  bound.spec.node_name = node_name;
  bound.status.nominated_node_name.clear();
  bound.status.start_time = clock_.Now();
  record.pod = std::make_shared<const api::Pod>(std::move(bound));
  cluster_.UpsertPod(record.pod);
  Notify(before.get(), stage_before, record.pod.get(), PodStage::kScheduled);
  const framework::ClusterEvent event{EventResource::kAssignedPod, ActionType::kAdd};
  const base::Time start = clock_.Now();
  queue_->OnEvent<api::Pod>(event, nullptr, record.pod);
  metrics_.OnEvent(event, clock_.Now() - start);
  return Status::Success();
}

Status InMemoryCluster::Evict(const PodInfo& victim, const PodInfo& /*preemptor*/) {
  if (pods_.contains(victim.uid())) DeletePod(std::string(victim.uid()));
  return Status::Success();
}

Status InMemoryCluster::SetNominatedNode(const PodInfo& pod, const std::string& node_name) {
  const auto it = pods_.find(pod.uid());
  if (it == pods_.end()) return Status::Success();
  api::Pod changed = *it->second.pod;
  changed.status.nominated_node_name = node_name;
  it->second.pod = std::make_shared<const api::Pod>(std::move(changed));
  const PodInfoPtr info = cluster_.MakePodInfo(it->second.pod);
  cluster_.nominator().Nominate(info, node_name);
  queue_->Update(info);
  return Status::Success();
}

Status InMemoryCluster::UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) {
  volumes_->Write(std::move(volume));
  return Status::Success();
}

Status InMemoryCluster::UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) {
  volumes_->Write(std::move(claim));
  return Status::Success();
}

// The controller answers at once; a second look is for what was left half done.
Status InMemoryCluster::Await(const std::function<std::optional<Status>()>& check, base::Duration /*timeout*/) {
  if (std::optional<Status> answer = check()) return *std::move(answer);
  volumes_->Reconcile();
  if (std::optional<Status> answer = check()) return *std::move(answer);
  return Status::Error("binding volumes: context deadline exceeded");
}

}  // namespace berth::perf
