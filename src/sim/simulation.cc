#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/custom_object.h"
#include "base/ascii.h"
#include "explain/explain.h"
#include "input/owned_pods.h"

namespace berth::sim {

using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

namespace {

// A pod whose cycles keep ending in internal errors is given up: no external event will ever help here.
constexpr int kMaxErrors = 3;

// This many steps per pod without one being bound or evicted mean that none ever will be: pods only requeue each other.
constexpr size_t kMaxIdleSteps = 20;

void CountPlaced(SimulationReport& report) {
  std::map<std::string, std::string> zone_of;  // by node
  for (const NodeUse& node : report.utilisation.nodes) zone_of[node.node] = node.zone;
  std::map<std::string, size_t> placed;  // by zone
  for (const PodReport& pod : report.pods) {
    if (pod.outcome == PodOutcome::kScheduled) ++placed[zone_of[pod.node]];
  }
  for (ZoneUse& zone : report.utilisation.zones) zone.placed = placed[zone.zone];
}

}  // namespace

size_t SimulationReport::Count(PodOutcome outcome) const {
  return static_cast<size_t>(
      std::count_if(pods.begin(), pods.end(), [&](const PodReport& pod) { return pod.outcome == outcome; }));
}

Simulation::Simulation(const config::FeatureGates& gates, Options options)
    : gates_(gates), options_(std::move(options)) {}

Result<std::unique_ptr<Simulation>> Simulation::Create(const std::vector<api::Object>& objects,
                                                       const config::KubeSchedulerConfiguration& configuration,
                                                       const framework::Registry& registry,
                                                       const config::FeatureGates& gates, Options options) {
  std::unique_ptr<Simulation> simulation(new Simulation(gates, std::move(options)));
  simulation->SetClock(objects);
  if (Result<void> made = simulation->MakeDriver(configuration, registry); !made) return made.error();
  simulation->LoadCluster(objects);
  simulation->EnqueuePending();
  simulation->rollouts_->Advance();
  return simulation;
}

void Simulation::SetClock(const std::vector<api::Object>& objects) {
  base::Time now{};
  for (const api::Object& object : objects) {
    if (object.metadata().creation_timestamp) now = std::max(now, *object.metadata().creation_timestamp);
    const api::Pod* pod = object.As<api::Pod>();
    if (pod && !api::IsTerminated(*pod) && pod->status.start_time) now = std::max(now, *pod->status.start_time);
  }
  clock_.Set(now);
}

// Sorted by namespace and name, so that the order of files and documents does not matter.
void Simulation::LoadCluster(const std::vector<api::Object>& objects) {
  std::vector<api::Object> sorted = objects;
  std::stable_sort(sorted.begin(), sorted.end(), [](const api::Object& a, const api::Object& b) {
    return std::make_pair(a.kind(), api::KeyOf(a.metadata())) < std::make_pair(b.kind(), api::KeyOf(b.metadata()));
  });
  std::set<std::string_view> nodes;
  for (const api::Object& object : sorted) {
    if (object.kind() == api::Kind::kNode) nodes.insert(object.metadata().name);
  }
  std::set<std::string> old_uids;
  for (const input::Rollout& rollout : options_.rollouts) {
    old_uids.insert(rollout.old_uids.begin(), rollout.old_uids.end());
  }
  if (!options_.rollouts.empty()) rules_ = input::RulesOf(sorted);
  for (const api::Object& object : sorted) {
    if (auto made = object.Share<api::ResourceClaimTemplate>()) {
      claims_->AddTemplate(std::move(made));
      continue;
    }
    if (auto custom = object.Share<api::CustomObject>()) {
      PutCustom(std::move(custom));
      continue;
    }
    const auto pod = object.Share<api::Pod>();
    // The scheduler's watch excludes pods that have terminated.
    if (pod && api::IsTerminated(*pod)) continue;
    if (pod && pod->spec.node_name.empty()) {
      pending_.push_back(pod);
      continue;
    }
    if (pod && nodes.contains(pod->spec.node_name)) ++result_.bound_before;
    if (pod && !nodes.contains(pod->spec.node_name)) NoteLost(*pod);
    if (pod && old_uids.contains(pod->metadata.uid)) old_pods_.emplace(pod->metadata.uid, pod);
    driver_->Put(object);
  }
  rollouts_ = std::make_unique<Rollouts>(
      std::move(options_.rollouts),
      Rollouts::Hooks{.create = [this](const std::shared_ptr<const api::Pod>& created) { return CreatePod(created); },
                      .remove = [this](const std::string& uid) { RemoveOld(uid); },
                      .has_node = [this](const std::string& uid) { return !cluster().NodeOf(uid).empty(); }});
  result_.nodes = cluster().nodes().size();
}

void Simulation::NoteLost(const api::Pod& pod) {
  PodReport& report = result_.lost.emplace_back();
  report.key = api::KeyOf(pod.metadata);
  report.owner = input::WorkloadOf(pod);
  report.message = fmt::format("its node \"{}\" is not in the input", pod.spec.node_name);
}

Result<void> Simulation::MakeDriver(const config::KubeSchedulerConfiguration& configuration,
                                    const framework::Registry& registry) {
  scheduler::Driver::Options options;
  options.scheduler.seed = options_.seed;
  options.scheduler.verify_incremental = options_.verify_incremental;
  options.scheduler.exhaustive_preemption = true;
  options.scheduler.runner_ups = options_.runner_ups;
  options.scheduler.extenders = options_.extenders;
  max_sleep_ = options.max_unschedulable;
  Result<std::unique_ptr<scheduler::Driver>> made =
      scheduler::Driver::Create(configuration, registry, gates_, clock_, *this, *this, std::move(options));
  if (!made) return made.error();
  driver_ = std::move(*made);
  volumes_ = std::make_unique<controllers::VolumeController>(*driver_);
  claims_ = std::make_unique<controllers::ClaimController>(*driver_);
  return {};
}

// Pods enter the queue in the order in which they were created.
void Simulation::EnqueuePending() {
  std::stable_sort(pending_.begin(), pending_.end(), [](const auto& a, const auto& b) {
    return a->metadata.creation_timestamp.value_or(base::Time::max()) <
           b->metadata.creation_timestamp.value_or(base::Time::max());
  });
  for (const std::shared_ptr<const api::Pod>& pod : pending_) Enqueue(pod);
}

void Simulation::Enqueue(const std::shared_ptr<const api::Pod>& pod) {
  PodReport& report = reports_[pod->metadata.uid];
  report.key = api::KeyOf(pod->metadata);
  report.owner = input::WorkloadOf(*pod);
  if (!driver_->Serves(pod->spec.scheduler_name)) {
    report.outcome = PodOutcome::kForeign;
    report.message =
        fmt::format("no profile has the name \"{}\"", api::SchedulerNameOrDefault(pod->spec.scheduler_name));
    return;
  }
  volumes_->CreateEphemeralClaims(*pod);
  driver_->Put(api::Object(claims_->CreateClaims(pod)));
  clock_.Advance(std::chrono::microseconds(1));
}

void Simulation::RemoveOld(const std::string& uid) {
  const auto pod = old_pods_.find(uid);
  if (pod == old_pods_.end()) return;
  rules_.Release(*pod->second);
  if (cluster().NodeOf(uid).empty()) return;
  ++changes_;
  driver_->Remove(api::Object(pod->second));
  claims_->Release(*pod->second);
}

std::string Simulation::CreatePod(const std::shared_ptr<const api::Pod>& pod) {
  if (std::string why = rules_.Admit(*pod); !why.empty()) return why;
  if (pod->spec.node_name.empty()) {
    Submit(pod);
    return {};
  }
  // Its template sets the node; it is not scheduled.
  ++changes_;
  driver_->Put(api::Object(pod));
  return {};
}

void Simulation::Submit(std::shared_ptr<const api::Pod> pod) {
  CHECK(pod->spec.node_name.empty() && !reports_.contains(pod->metadata.uid));
  Enqueue(pod);
  pending_.push_back(std::move(pod));
}

PodReport Simulation::Place(std::shared_ptr<const api::Pod> pod) {
  Submit(pod);
  const PodReport& report = reports_[pod->metadata.uid];
  RunUntil(&report);
  NoteIfGated(pod);
  return report;
}

void Simulation::RunUntil(const PodReport* report) {
  const size_t patience = kMaxIdleSteps * (pending_.size() + 1);
  size_t seen = changes_;
  for (size_t idle = 0; idle < patience; ++idle) {
    if (report && report->outcome == PodOutcome::kScheduled) return;
    if (!Step()) return;
    if (changes_ == seen) continue;
    seen = changes_;
    idle = 0;
  }
}

SimulationReport Simulation::Run() {
  volumes_->Reconcile();
  RunUntil(nullptr);
  CollectGated();

  CollectDevices();
  result_.pods.clear();
  for (auto& [uid, report] : reports_) result_.pods.push_back(report);
  CollectWaiting();
  std::sort(result_.pods.begin(), result_.pods.end(),
            [](const PodReport& a, const PodReport& b) { return a.key < b.key; });
  result_.utilisation = MeasureUtilisation(cluster());
  CountPlaced(result_);
  CollectExplanations();
  return result_;
}

void Simulation::CollectDevices() {
  for (auto& [uid, report] : reports_) report.devices.clear();
  for (const auto& [key, claim] : cluster().objects().resource_claims) {
    if (!claim->status.allocation) continue;
    for (const api::ResourceClaimConsumerReference& user : claim->status.reserved_for) {
      const auto found = reports_.find(user.uid);
      if (found == reports_.end() || found->second.outcome != PodOutcome::kScheduled) continue;
      for (const api::DeviceRequestAllocationResult& result : claim->status.allocation->devices.results) {
        found->second.devices.push_back({claim->metadata.name, result.request, result.driver, result.pool,
                                         result.device, result.consumed_capacity});
      }
    }
  }
}

// What counts is how each pod ended, not its attempt: it may have been evicted since, or never had an attempt. A pod
// that was to be explained because it stays pending may have been scheduled after all.
void Simulation::CollectExplanations() {
  result_.explanations.clear();
  for (const PodReport& pod : result_.pods) {
    const bool pending = pod.outcome == PodOutcome::kPending;
    if (!options_.explain.contains(pod.key) && !(options_.explain_pending && pending)) continue;
    const auto found = explanations_.find(pod.key);
    explain::Explanation told = found == explanations_.end() ? explain::Explanation{.pod = pod.key} : found->second;
    told.node = pod.outcome == PodOutcome::kScheduled ? pod.node : "";
    told.message = pod.outcome == PodOutcome::kPreempted ? "made room for " + pod.preempted_by : pod.message;
    result_.explanations.push_back(std::move(told));
  }
}

bool Simulation::Step() {
  if (driver_->Step()) {
    if (options_.progress) options_.progress(tried_, pending_.size());
    return true;
  }
  // Nothing is ready. Controllers continue their rollouts.
  if (rollouts_->Advance()) return true;
  // Advance the clock for pods that time can help: those in backoff and those waiting in Permit.
  const queue::SchedulingQueue::Counts counts = driver().queue().counts();
  std::optional<base::Time> wake;
  if (counts.backoff > 0 || !driver().scheduler().waiting_pods().empty()) wake = driver_->NextWake();
  // The others stay unschedulable until an event helps them, or for the queue's longest time: worth simulating only
  // when something has changed since the last time.
  if (!wake && counts.unschedulable > 0 && changes_ != changes_at_flush_) {
    changes_at_flush_ = changes_;
    wake = clock_.Now() + max_sleep_ + base::Duration(1);
  }
  if (!wake) return false;
  clock_.Set(std::max(*wake, clock_.Now()));
  return true;
}

explain::Explanation Simulation::ExplainNow(const PodInfo& pod) {
  return explain::Explain(*driver_->scheduler().FindProfile(pod.pod().spec.scheduler_name), pod);
}

// Explanations of named pods are made before the attempt, when the cluster is as the attempt finds it. Those of pods
// that fit nowhere are made afterwards, unless a pod was evicted.
void Simulation::OnCycleBegin(const PodInfoPtr& pod) {
  explaining_.reset();
  if (options_.explain.contains(pod->Key())) explaining_ = ExplainNow(*pod);
}

void Simulation::OnCycleEnd(const scheduler::Attempt& attempt) {
  const bool failed = attempt.outcome == scheduler::Outcome::kUnschedulable;
  if (!explaining_ && options_.explain_pending && failed && attempt.post_filter.nominated_node_name.empty()) {
    explaining_ = ExplainNow(*attempt.pod);
  }
  if (explaining_) NoteExplanation(*std::move(explaining_), attempt);
  explaining_.reset();
}

void Simulation::NoteExplanation(explain::Explanation explanation, const scheduler::Attempt& attempt) {
  explanation.runner_up = attempt.runner_up;
  explanation.nominated = attempt.nominated;
  explain::Explanation& place = explanations_[explanation.pod];
  // How it got the node that it was nominated to.
  if (!explanation.preemption) explanation.preemption = std::move(place.preemption);
  place = std::move(explanation);
}

PodReport& Simulation::NoteTried(const scheduler::Attempt& attempt) {
  PodReport& report = reports_[attempt.pod->uid()];
  if (!report.tried) ++tried_;
  report.tried = true;
  report.feasible_nodes = attempt.feasible_nodes;
  return report;
}

void Simulation::OnWaiting(const scheduler::Attempt& attempt) {
  NoteTried(attempt).message = "waiting for permission to bind to node \"" + attempt.node_name + "\"";
}

void Simulation::OnBound(const scheduler::Attempt& attempt) {
  PodReport& report = NoteTried(attempt);
  report.outcome = PodOutcome::kScheduled;
  report.node = attempt.node_name;
  report.message.clear();
  report.preempting = attempt.nominated;
  report.nominated_node.clear();
  report.scored = attempt.scored;
  report.score = attempt.score;
  report.runner_up = attempt.runner_up;
  report.runner_up_score = attempt.runner_up_score;
}

void Simulation::OnFailed(const scheduler::Attempt& attempt, const PodInfo& /*newest*/) {
  PodReport& report = NoteTried(attempt);
  report.outcome = PodOutcome::kPending;
  report.message = attempt.message + WhatIsAbsent(attempt.message);
  const std::string& uid = attempt.pod->uid();
  const queue::QueuedPod* queued = driver().queue().Find(uid);
  if (queued != nullptr && queued->consecutive_errors >= kMaxErrors) driver_->GiveUp(uid);
}

// "Not found" says little about a kind that was not in the input.
std::string Simulation::WhatIsAbsent(std::string_view message) const {
  if (message.find("not found") == std::string_view::npos) return {};
  for (const api::Kind kind : options_.absent) {
    if (message.find(base::LowerCase(api::InfoOf(kind).name)) == std::string_view::npos) continue;
    return fmt::format(" (the input has no {} at all, so this says nothing)", api::InfoOf(kind).name);
  }
  return {};
}

void Simulation::OnSkipped(const PodInfo& pod) {
  reports_[pod.uid()].message = "skip schedule deleting pod: " + pod.Key();
}

void Simulation::CollectGated() {
  for (const std::shared_ptr<const api::Pod>& pod : pending_) NoteIfGated(pod);
}

void Simulation::CollectWaiting() {
  rollouts_->ForEachWaiting([&](const std::shared_ptr<const api::Pod>& pod, std::string why) {
    PodReport& report = result_.pods.emplace_back();
    report.key = api::KeyOf(pod->metadata);
    report.owner = input::WorkloadOf(*pod);
    report.message = std::move(why);
  });
  for (const input::RefusedPod& refused : options_.refused) {
    PodReport& report = result_.pods.emplace_back();
    report.key = api::KeyOf(refused.pod->metadata);
    report.owner = input::WorkloadOf(*refused.pod);
    report.message = refused.message;
  }
  result_.rollouts = rollouts_->Report();
}

void Simulation::NoteIfGated(const std::shared_ptr<const api::Pod>& pod) {
  const queue::QueuedPod* queued = driver().queue().Find(pod->metadata.uid);
  if (!queued || !queued->gated()) return;
  PodReport& report = reports_[pod->metadata.uid];
  report.outcome = PodOutcome::kGated;
  report.message = driver().scheduler().FindProfile(pod->spec.scheduler_name)->RunPreEnqueue(*queued->pod).Message();
}

Status Simulation::Bind(const PodInfo& pod, const std::string& node_name) {
  api::Pod bound = pod.pod();
  bound.spec.node_name = node_name;
  bound.status.phase = "Running";
  bound.status.nominated_node_name.clear();
  if (auto taken = node_allocatable_.extract(pod.uid()); !taken.empty()) {
    bound.status.node_allocatable_resource_claim_statuses = std::move(taken.mapped());
  }
  if (!bound.status.start_time) bound.status.start_time = clock_.Now();
  ++changes_;
  driver_->Put(api::MakeObject(std::move(bound)));
  return Status::Success();
}

// The victim is deleted at once and not recreated: what its controller would do is left to the reader of the report.
Status Simulation::Evict(const PodInfo& victim, const PodInfo& preemptor) {
  PodReport report;
  report.key = victim.Key();
  report.outcome = PodOutcome::kPreempted;
  report.node = cluster().NodeOf(victim.uid());
  report.preempted_by = preemptor.Key();
  result_.preempted.push_back(report);
  if (const auto ours = reports_.find(victim.uid()); ours != reports_.end()) ours->second = report;
  ++changes_;
  driver_->Remove(api::Object(victim.shared_pod()));
  claims_->Release(*victim.shared_pod());
  return Status::Success();
}

Status Simulation::SetNominatedNode(const PodInfo& pod, const std::string& node_name) {
  api::Pod changed = pod.pod();
  changed.status.nominated_node_name = node_name;
  // It must not look like the input's version; an empty one always differs.
  changed.metadata.resource_version.clear();
  reports_[pod.uid()].nominated_node = node_name;
  driver_->Put(api::MakeObject(std::move(changed)));
  return Status::Success();
}

Status Simulation::UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) {
  volumes_->Write(std::move(volume));
  return Status::Success();
}

Status Simulation::UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) {
  volumes_->Write(std::move(claim));
  return Status::Success();
}

// The controllers have already handled what was just written. A second check covers what the input left half done.
Status Simulation::Await(const std::function<std::optional<Status>()>& check, base::Duration /*timeout*/) {
  if (std::optional<Status> answer = check()) return *std::move(answer);
  volumes_->Reconcile();
  claims_->PrepareDevices();
  if (std::optional<Status> answer = check()) return *std::move(answer);
  return Status::Error("binding volumes: context deadline exceeded");
}

framework::ApiWriter::ClaimResult Simulation::GetResourceClaim(const std::string& name_space, const std::string& name) {
  return claims_->Get(name_space, name);
}

framework::ApiWriter::ClaimResult Simulation::CreateResourceClaim(const api::ResourceClaim& claim) {
  return claims_->Create(claim);
}

framework::ApiWriter::ClaimResult Simulation::UpdateResourceClaim(const api::ResourceClaim& claim) {
  return claims_->UpdateFinalizers(claim);
}

framework::ApiWriter::ClaimResult Simulation::UpdateResourceClaimStatus(const api::ResourceClaim& claim) {
  return claims_->UpdateStatus(claim);
}

Status Simulation::UnreserveResourceClaim(const api::ResourceClaim& claim, const PodInfo& pod) {
  claims_->Unreserve(claim, pod.uid());
  return Status::Success();
}

Status Simulation::DeallocateResourceClaim(const api::ResourceClaim& claim, const PodInfo& /*pod*/) {
  ++changes_;
  claims_->Deallocate(claim);
  return Status::Success();
}

Status Simulation::DeleteResourceClaim(const api::ResourceClaim& claim, const PodInfo& /*pod*/) {
  ++changes_;
  claims_->Delete(claim);
  return Status::Success();
}

}  // namespace berth::sim
