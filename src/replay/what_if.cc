#include "replay/what_if.h"

#include <algorithm>
#include <utility>

#include "cluster/apply.h"
#include "cluster/stores.h"
#include "input/owned_pods.h"
#include "sim/utilisation.h"

namespace berth::replay {

using framework::PodInfo;
using framework::Status;

namespace {

// Somebody besides the scheduler has to do something for the pod before it can run.
bool NeedsClaims(const api::Pod& pod) {
  return !pod.spec.resource_claims.empty() ||
         std::any_of(pod.spec.volumes.begin(), pod.spec.volumes.end(), [](const api::Volume& volume) {
           return volume.from().persistent_volume_claim.has_value() || volume.from().ephemeral.has_value();
         });
}

}  // namespace

WhatIf::~WhatIf() = default;

Result<std::unique_ptr<WhatIf>> WhatIf::Create(const record::Header& header,
                                               const config::KubeSchedulerConfiguration& configuration,
                                               const framework::Registry& registry, const config::FeatureGates& gates) {
  std::unique_ptr<WhatIf> made(new WhatIf(gates));
  scheduler::Driver::Options options;
  options.scheduler.seed = header.seed;
  options.max_unschedulable = header.max_unschedulable;
  Result<std::unique_ptr<scheduler::Driver>> driver =
      scheduler::Driver::Create(configuration, registry, made->gates_, made->clock_, *made, *made, std::move(options));
  if (!driver) return driver.error();
  made->driver_ = *std::move(driver);
  return made;
}

void WhatIf::Apply(const Input& input) {
  if (input.type != FrameType::kClaimLanded) clock_.Set(std::max(clock_.Now(), input.time));
  for (const Decision& decision : input.decisions) Note(decision);
  switch (input.type) {
    case FrameType::kCheckpointBegin:
      // Of a file that is not the first, everything in it is known.
      if (pods_.empty() && driver_->cluster().nodes().empty()) Begin(*input.checkpoint);
      return;
    case FrameType::kPut:
    case FrameType::kAdd:
      return Put(*input.object);
    case FrameType::kRemove:
      return Remove(*input.object);
    case FrameType::kPutCustom:
    case FrameType::kRemoveCustom:
      return GiveCustom(input.custom, input.type == FrameType::kPutCustom);
    case FrameType::kStep:
    case FrameType::kTend:
      while (driver_->Step()) {
      }
      return;
    default:
      return;  // what the recorded scheduler's writes led to
  }
}

void WhatIf::Begin(const scheduler::Checkpoint& checkpoint) {
  for (const api::Object& object : checkpoint.objects) Put(object);
  for (const scheduler::Checkpoint::Custom& custom : checkpoint.custom) {
    GiveCustom({custom.resource, custom.object}, /*is_there=*/true);
  }
  for (const scheduler::Checkpoint::Node& node : checkpoint.nodes) Put(api::Object(node.node));
  for (const scheduler::Checkpoint::Pod& from : checkpoint.pods) {
    // One that was assumed is as good as bound: nothing has said otherwise yet.
    api::Pod pod = *from.pod->shared_pod();
    pod.spec.node_name = from.node_name;
    Put(api::MakeObject(std::move(pod)));
  }
  for (const auto& queued : checkpoint.queue.pods) {
    if (recorded_cluster_.FindPod(queued.queued.pod->uid()) == nullptr) {
      Put(api::Object(queued.queued.pod->shared_pod()));
    }
  }
}

void WhatIf::Put(const api::Object& object) {
  if (object.kind() == api::Kind::kPod) {
    PutPod(object.Share<api::Pod>());
  } else {
    driver_->Put(object);
  }
  cluster::Apply(recorded_cluster_, object);
}

void WhatIf::GiveCustom(const record::RecordedCustom& custom, bool is_there) {
  for (const auto& [number, watched] : std::as_const(*driver_).cluster().custom_objects().watched()) {
    if (watched.resource.Text() != custom.resource) continue;
    return is_there ? driver_->PutCustom(number, custom.object)
                    : driver_->RemoveCustom(number, custom.object->metadata);
  }
}

WhatIf::Placed& WhatIf::EntryOf(const api::Pod& pod) {
  Placed& entry = pods_[pod.metadata.uid];
  if (entry.key.empty()) {
    entry.key = api::KeyOf(pod.metadata);
    entry.owner = input::WorkloadOf(pod);
    for (sim::PodReport* report : {&entry.recorded, &entry.decided}) {
      report->key = entry.key;
      report->owner = entry.owner;
    }
  }
  return entry;
}

void WhatIf::PutPod(const std::shared_ptr<const api::Pod>& pod) {
  const std::string& uid = pod->metadata.uid;
  if (evicted_.contains(uid)) return;
  const bool is_bound = !pod->spec.node_name.empty();
  const bool was_pending = pods_.contains(uid);
  // A victim is heard of until it is gone.
  if (is_bound && was_pending && pods_[uid].recorded.outcome != sim::PodOutcome::kPreempted) {
    pods_[uid].recorded.outcome = sim::PodOutcome::kScheduled;
    pods_[uid].recorded.node = pod->spec.node_name;
  }
  // Bound before the recording began, or somebody else's.
  if ((is_bound && !was_pending) || !driver_->Serves(pod->spec.scheduler_name)) {
    driver_->Put(api::Object(pod));
    return;
  }
  if (NeedsClaims(*pod)) {
    left_alone_.insert(uid);
    if (is_bound) driver_->Put(api::Object(pod));
    return;
  }
  (void)EntryOf(*pod);
  api::Pod placed = *pod;
  const auto ours = node_of_.find(uid);
  placed.spec.node_name = ours == node_of_.end() ? std::string() : ours->second;
  if (ours == node_of_.end()) placed.status.nominated_node_name.clear();
  driver_->Put(api::MakeObject(std::move(placed)));
}

void WhatIf::Remove(const api::Object& object) {
  if (const api::Pod* pod = object.As<api::Pod>()) {
    recorded_cluster_.RemovePod(pod->metadata.uid);
    node_of_.erase(pod->metadata.uid);
    if (evicted_.erase(pod->metadata.uid) > 0) return;
  } else if (object.kind() == api::Kind::kNode) {
    recorded_cluster_.RemoveNode(object.metadata().name);
  }
  driver_->Remove(object);
}

void WhatIf::Note(const Decision& decision) {
  for (const std::string& victim : decision.victims) {
    for (auto& [uid, entry] : pods_) {
      if (entry.key != victim || entry.recorded.outcome != sim::PodOutcome::kScheduled) continue;
      entry.recorded.outcome = sim::PodOutcome::kPreempted;
      entry.recorded.preempted_by = decision.pod;
    }
  }
  const auto found = pods_.find(decision.uid);
  if (found == pods_.end() || found->second.recorded.outcome == sim::PodOutcome::kScheduled) return;
  found->second.recorded.message = decision.message;
}

Status WhatIf::Bind(const PodInfo& pod, const std::string& node_name) {
  api::Pod bound = pod.pod();
  bound.spec.node_name = node_name;
  bound.status.nominated_node_name.clear();
  if (!bound.status.start_time) bound.status.start_time = clock_.Now();
  node_of_[pod.uid()] = node_name;
  sim::PodReport& report = EntryOf(bound).decided;
  report.outcome = sim::PodOutcome::kScheduled;
  report.node = node_name;
  driver_->Put(api::MakeObject(std::move(bound)));
  return {};
}

Status WhatIf::Evict(const PodInfo& victim, const PodInfo& preemptor) {
  sim::PodReport& report = EntryOf(victim.pod()).decided;
  report.node = std::as_const(*driver_).cluster().NodeOf(victim.uid());
  report.outcome = sim::PodOutcome::kPreempted;
  report.preempted_by = preemptor.Key();
  node_of_.erase(victim.uid());
  evicted_.insert(victim.uid());
  driver_->Remove(api::Object(victim.shared_pod()));
  return {};
}

Status WhatIf::SetNominatedNode(const PodInfo& pod, const std::string& node_name) {
  api::Pod changed = pod.pod();
  changed.status.nominated_node_name = node_name;
  changed.metadata.resource_version.clear();  // another version than any that was recorded
  driver_->Put(api::MakeObject(std::move(changed)));
  return {};
}

void WhatIf::OnFailed(const scheduler::Attempt& attempt, const PodInfo&) {
  EntryOf(attempt.pod->pod()).decided.message = attempt.message;
}

sim::RunOutcome WhatIf::Recorded() const {
  sim::RunOutcome outcome;
  for (const auto& [uid, entry] : pods_) outcome.pods[entry.key] = entry.recorded;
  outcome.utilisation = sim::MeasureUtilisation(recorded_cluster_);
  return outcome;
}

sim::RunOutcome WhatIf::Decided() const {
  sim::RunOutcome outcome;
  for (const auto& [uid, entry] : pods_) outcome.pods[entry.key] = entry.decided;
  outcome.utilisation = sim::MeasureUtilisation(std::as_const(*driver_).cluster());
  return outcome;
}

}  // namespace berth::replay
