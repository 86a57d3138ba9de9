#include "perf/in_memory_cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/stores.h"
#include "framework/events.h"
#include "scheduler/queue_setup.h"

namespace berth::perf {

using framework::PodInfo;
using framework::Status;

namespace {

// What Kubernetes gives a pod that does not say.
constexpr int64_t kDefaultGraceSeconds = 30;

bool IsPrebound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() && claim.status.phase == "Bound";
}
bool IsPrebound(const api::PersistentVolume& volume) { return volume.status.phase == "Bound"; }

}  // namespace

MonotonicClock::MonotonicClock()
    : wall_(std::chrono::time_point_cast<base::Duration>(std::chrono::system_clock::now())),
      start_(std::chrono::steady_clock::now()) {}

base::Time MonotonicClock::Now() const { return wall_ + (std::chrono::steady_clock::now() - start_); }

PodStage InMemoryCluster::PodRecord::stage() const {
  if (!pod->spec.node_name.empty()) return PodStage::kScheduled;
  // A gated pod is told so by the API server itself, in the same condition.
  return attempted || !pod->spec.scheduling_gates.empty() ? PodStage::kAttempted : PodStage::kUnattempted;
}

InMemoryCluster::InMemoryCluster(const config::FeatureGates& gates, Options options)
    : gates_(gates), options_(options), cluster_(gates_), metrics_(clock_) {}

InMemoryCluster::~InMemoryCluster() = default;

Result<std::unique_ptr<InMemoryCluster>> InMemoryCluster::Create(
    const config::KubeSchedulerConfiguration& configuration, const framework::Registry& registry,
    const config::FeatureGates& gates, Options options) {
  std::unique_ptr<InMemoryCluster> cluster(new InMemoryCluster(gates, options));
  if (Result<void> made = cluster->MakeScheduler(configuration, registry); !made) return made.error();
  return cluster;
}

Result<void> InMemoryCluster::MakeScheduler(const config::KubeSchedulerConfiguration& configuration,
                                            const framework::Registry& registry) {
  scheduler::Scheduler::Options options;
  options.seed = options_.seed;
  options.verify_incremental = options_.verify_incremental;
  Result<std::unique_ptr<scheduler::Scheduler>> made =
      scheduler::Scheduler::Create(configuration, registry, gates_, cluster_, clock_, *this, options);
  if (!made) return made.error();
  scheduler_ = std::move(*made);

  std::map<std::string, queue::ProfileHooks> hooks = scheduler::QueueHooks(*scheduler_);
  for (auto& [profile, of_profile] : hooks) {
    if (!options_.queueing_hints) {
      for (auto& [plugin, events] : of_profile.events) {
        for (framework::ClusterEventWithHint& entry : events) entry.hint = nullptr;
      }
    }
    of_profile = metrics_.Timed(std::move(of_profile));
  }
  queue_ = std::make_unique<queue::SchedulingQueue>(clock_, scheduler_->first_profile().queue_sort(), std::move(hooks),
                                                    scheduler::QueueOptions(configuration));
  handlers_ = std::make_unique<scheduler::EventHandlers>(cluster_, *queue_, *scheduler_, gates_, clock_);
  handlers_->set_observer(
      [this](const framework::ClusterEvent& event, base::Duration took) { metrics_.OnEvent(event, took); });
  volumes_ = std::make_unique<sim::VolumeController>(cluster_, *queue_);
  return {};
}

void InMemoryCluster::Notify(const api::Pod* before, PodStage stage_before, const api::Pod* after,
                             PodStage stage_after) {
  for (PodObserver* observer : observers_) observer->OnPod(before, stage_before, after, stage_after);
}

Result<void> InMemoryCluster::Create(const api::Object& object) {
  const api::ObjectMeta& metadata = object.metadata();
  const Error taken =
      Error::AlreadyExists(fmt::format("{} \"{}\" already exists", object.info().resource, api::KeyOf(metadata)));
  switch (object.kind()) {
    case api::Kind::kPod:
      if (pod_uids_.contains(api::KeyOf(metadata))) return taken;
      CreatePod(object.Share<api::Pod>());
      return {};
    case api::Kind::kNode:
      if (cluster_.Find(metadata.name)) return taken;
      break;
    case api::Kind::kNamespace:
      if (HasNamespace(metadata.name)) return taken;
      break;
    default:
      break;
  }
  Put(object);
  return {};
}

Result<void> InMemoryCluster::Update(const api::Object& object) {
  const api::ObjectMeta& metadata = object.metadata();
  const Error missing =
      Error::NotFound(fmt::format("{} \"{}\" not found", object.info().resource, api::KeyOf(metadata)));
  if (const api::Pod* pod = object.As<api::Pod>()) {
    PodRecord* record = FindPod(std::string(metadata.namespace_.str()), metadata.name);
    if (!record) return missing;
    api::Pod changed = *pod;
    changed.metadata.uid = record->pod->metadata.uid;
    changed.metadata.creation_timestamp = record->pod->metadata.creation_timestamp;
    changed.spec.node_name = record->pod->spec.node_name;
    changed.status = record->pod->status;
    ReplacePod(*record, std::make_shared<const api::Pod>(std::move(changed)));
    return {};
  }
  if (const api::Node* node = object.As<api::Node>()) {
    const framework::NodeInfo* known = cluster_.Find(metadata.name);
    if (!known) return missing;
    api::Node changed = *node;
    if (changed.status.capacity.empty() && changed.status.allocatable.empty()) changed.status = known->node().status;
    Put(api::MakeObject(std::move(changed)));
    return {};
  }
  Put(object);
  return {};
}

bool InMemoryCluster::Delete(api::Kind kind, const std::string& name_space, const std::string& name, bool at_once) {
  if (kind == api::Kind::kPod) {
    const PodRecord* record = FindPod(name_space, name);
    if (record) DeletePod(std::string(record->pod->metadata.uid), at_once);
    return record != nullptr;
  }
  if (kind == api::Kind::kNode) {
    const framework::NodeInfo* known = cluster_.Find(name);
    if (known) handlers_->Remove(api::Object(known->shared_node()));
    return known != nullptr;
  }
  std::optional<api::Object> gone;
  cluster::VisitStore(cluster_.objects(), kind, [&]<class T>(const framework::ObjectStore<T>& store) {
    if (const std::shared_ptr<const T>* found = store.FindShared(name_space, name)) gone.emplace(*found);
  });
  if (gone) handlers_->Remove(*gone);
  return gone.has_value();
}

InMemoryCluster::PodRecord* InMemoryCluster::FindPod(const std::string& name_space, const std::string& name) {
  const auto uid = pod_uids_.find(name_space + "/" + name);
  return uid == pod_uids_.end() ? nullptr : &pods_.at(uid->second);
}

void InMemoryCluster::CreatePod(std::shared_ptr<const api::Pod> pod) {
  const std::string& uid = pod->metadata.uid;
  PodRecord& record = pods_[uid];
  record.pod = pod;
  record.sequence = next_number_++;
  pod_uids_[api::KeyOf(pod->metadata)] = uid;
  Notify(nullptr, PodStage::kAbsent, pod.get(), record.stage());
  const bool ephemeral = std::any_of(pod->spec.volumes.begin(), pod->spec.volumes.end(),
                                     [](const api::Volume& volume) { return volume.from().ephemeral.has_value(); });
  if (ephemeral && pod->spec.node_name.empty()) {
    volumes_->CreateEphemeralClaims(*pod);
    volumes_->Reconcile();
  }
  handlers_->Put(api::Object(std::move(pod)));
}

void InMemoryCluster::ReplacePod(PodRecord& record, std::shared_ptr<const api::Pod> pod) {
  const std::shared_ptr<const api::Pod> before = record.pod;
  const PodStage stage_before = record.stage();
  record.pod = pod;
  Notify(before.get(), stage_before, pod.get(), record.stage());
  handlers_->Put(api::Object(std::move(pod)));
}

void InMemoryCluster::DeletePod(const std::string& uid, bool at_once) {
  PodRecord& record = pods_.at(uid);
  const api::Pod& pod = *record.pod;
  const bool runs = !at_once && !pod.spec.node_name.empty() && !api::IsTerminated(pod);
  const bool graceful = runs && pod.spec.termination_grace_period_seconds.value_or(kDefaultGraceSeconds) > 0;
  if (!graceful && pod.metadata.finalizers.empty()) return RemovePod(uid);
  if (pod.metadata.deletion_timestamp) return;
  api::Pod terminating = pod;
  terminating.metadata.deletion_timestamp = clock_.Now();
  ReplacePod(record, std::make_shared<const api::Pod>(std::move(terminating)));
}

void InMemoryCluster::RemovePod(const std::string& uid) {
  const auto it = pods_.find(uid);
  const PodRecord gone = std::move(it->second);
  pods_.erase(it);
  pod_uids_.erase(api::KeyOf(gone.pod->metadata));
  Notify(gone.pod.get(), gone.stage(), nullptr, PodStage::kAbsent);
  handlers_->Remove(api::Object(gone.pod));
}

// What the volume controller would look at again. Bound pairs, which most tests make by the thousand, are none of its
// business.
void InMemoryCluster::Put(const api::Object& object) {
  handlers_->Put(object);
  const auto* volume = object.As<api::PersistentVolume>();
  const auto* claim = object.As<api::PersistentVolumeClaim>();
  if ((volume && !IsPrebound(*volume)) || (claim && !IsPrebound(*claim)) || object.kind() == api::Kind::kStorageClass) {
    volumes_->Reconcile();
  }
}

std::vector<const InMemoryCluster::PodRecord*> InMemoryCluster::Pods() const {
  std::vector<const PodRecord*> pods;
  pods.reserve(pods_.size());
  for (const auto& [uid, record] : pods_) pods.push_back(&record);
  std::sort(pods.begin(), pods.end(), [](const PodRecord* a, const PodRecord* b) { return a->sequence < b->sequence; });
  return pods;
}

}  // namespace berth::perf
