// InMemoryCluster's scheduling: one pod at a time, and what the scheduler writes back.
#include <algorithm>

#include "perf/in_memory_cluster.h"

namespace berth::perf {

using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

bool InMemoryCluster::Step() { return driver_->Step(); }

std::optional<base::Time> InMemoryCluster::NextWake() {
  const bool timed = queue().counts().backoff > 0 || !driver().scheduler().waiting_pods().empty();
  return timed ? driver_->NextWake() : std::nullopt;
}

void InMemoryCluster::OnCycleBegin(const PodInfoPtr& pod) {
  metrics_.BeginCycle(*driver_->scheduler().FindProfile(pod->pod().spec.scheduler_name));
}

void InMemoryCluster::OnCycleEnd(const scheduler::Attempt& attempt) {
  metrics_.OnAttempt(attempt.outcome, clock_.Now() - attempt.started);
  ++ways_.all;
  if (attempt.way == scheduler::Way::kLane) ++ways_.kept;
  if (attempt.way == scheduler::Way::kScratch) ++ways_.from_scratch[static_cast<size_t>(attempt.long_way)];
  metrics_.EndCycle(*driver_->scheduler().FindProfile(attempt.pod->pod().spec.scheduler_name));
}

void InMemoryCluster::OnBound(const scheduler::Attempt& attempt) {
  if (attempt.first_attempt) metrics_.OnScheduled(clock_.Now() - *attempt.first_attempt);
}

void InMemoryCluster::OnFailed(const scheduler::Attempt& attempt, const PodInfo& /*newest*/) {
  const auto it = pods_.find(attempt.pod->uid());
  if (it == pods_.end()) return;
  PodRecord& record = it->second;
  const PodStage before = record.stage();
  record.attempted = true;
  record.message = attempt.message;
  if (before != record.stage()) Notify(record.pod.get(), before, record.pod.get(), record.stage());
}

Status InMemoryCluster::Bind(const PodInfo& pod, const std::string& node_name) {
  const auto it = pods_.find(pod.uid());
  if (it == pods_.end()) return Status::Error("pods \"" + pod.name() + "\" not found");
  api::Pod bound = *it->second.pod;
  bound.spec.node_name = node_name;
  bound.status.nominated_node_name.clear();
  bound.status.start_time = clock_.Now();
  ReplacePod(it->second, std::make_shared<const api::Pod>(std::move(bound)));
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
  ReplacePod(it->second, std::make_shared<const api::Pod>(std::move(changed)));
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

// The controller answers at once; the second check is for what was left half done.
Status InMemoryCluster::Await(const std::function<std::optional<Status>()>& check, base::Duration /*timeout*/) {
  if (std::optional<Status> answer = check()) return *std::move(answer);
  volumes_->Reconcile();
  claims_->PrepareDevices();
  if (std::optional<Status> answer = check()) return *std::move(answer);
  return Status::Error("binding volumes: context deadline exceeded");
}

}  // namespace berth::perf
