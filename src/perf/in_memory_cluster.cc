#include "perf/in_memory_cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/stores.h"
#include "framework/events.h"

namespace berth::perf {

using framework::PodInfo;
using framework::Status;

namespace {

// Kubernetes' default.
constexpr int64_t kDefaultGraceSeconds = 30;

bool IsPrebound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() && claim.status.phase == "Bound";
}
bool IsPrebound(const api::PersistentVolume& volume) { return volume.status.phase == "Bound"; }

}  // namespace

PodStage InMemoryCluster::PodRecord::stage() const {
  if (!pod->spec.node_name.empty()) return PodStage::kScheduled;
  // For a gated pod the API server itself sets this condition.
  return attempted || !pod->spec.scheduling_gates.empty() ? PodStage::kAttempted : PodStage::kUnattempted;
}

InMemoryCluster::InMemoryCluster(const config::FeatureGates& gates, Options options)
    : gates_(gates), options_(options), metrics_(clock_), random_(options.seed) {}

InMemoryCluster::~InMemoryCluster() = default;

Result<std::unique_ptr<InMemoryCluster>> InMemoryCluster::Create(
    const config::KubeSchedulerConfiguration& configuration, const framework::Registry& registry,
    const config::FeatureGates& gates, Options options) {
  std::unique_ptr<InMemoryCluster> cluster(new InMemoryCluster(gates, options));
  if (Result<void> made = cluster->MakeDriver(configuration, registry); !made) return made.error();
  return cluster;
}

Result<void> InMemoryCluster::MakeDriver(const config::KubeSchedulerConfiguration& configuration,
                                         const framework::Registry& registry) {
  scheduler::Driver::Options options;
  options.scheduler.seed = options_.seed;
  options.scheduler.verify_incremental = options_.verify_incremental;
  options.adapt_hooks = [this](std::map<std::string, queue::ProfileHooks>& hooks) {
    for (auto& [profile, of_profile] : hooks) {
      if (!options_.queueing_hints) {
        for (auto& [plugin, events] : of_profile.events) {
          for (framework::ClusterEventWithHint& entry : events) entry.hint = nullptr;
        }
      }
      of_profile = metrics_.Timed(std::move(of_profile));
    }
  };
  Result<std::unique_ptr<scheduler::Driver>> made =
      scheduler::Driver::Create(configuration, registry, gates_, clock_, *this, *this, std::move(options));
  if (!made) return made.error();
  driver_ = std::move(*made);
  driver_->handlers().set_observer(
      [this](const framework::ClusterEvent& event, base::Duration took) { metrics_.OnEvent(event, took); });
  volumes_ = std::make_unique<controllers::VolumeController>(*driver_);
  claims_ = std::make_unique<controllers::ClaimController>(*driver_);
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
      if (cluster().Find(metadata.name)) return taken;
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
    const framework::NodeInfo* known = cluster().Find(metadata.name);
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
    const framework::NodeInfo* known = cluster().Find(name);
    if (known) driver_->Remove(api::Object(known->shared_node()));
    return known != nullptr;
  }
  std::optional<api::Object> gone;
  cluster::VisitStore(driver_->cluster().objects(), kind, [&]<class T>(const framework::ObjectStore<T>& store) {
    if (const std::shared_ptr<const T>* found = store.FindShared(name_space, name)) gone.emplace(*found);
  });
  if (gone) driver_->Remove(*gone);
  return gone.has_value();
}

InMemoryCluster::PodRecord* InMemoryCluster::FindPod(const std::string& name_space, const std::string& name) {
  const auto uid = pod_uids_.find(name_space + "/" + name);
  return uid == pod_uids_.end() ? nullptr : &pods_.at(uid->second);
}

void InMemoryCluster::CreatePod(std::shared_ptr<const api::Pod> pod) {
  if (!pod->spec.resource_claims.empty()) pod = claims_->CreateClaims(pod);
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
  driver_->Put(api::Object(std::move(pod)));
}

void InMemoryCluster::ReplacePod(PodRecord& record, std::shared_ptr<const api::Pod> pod) {
  const std::shared_ptr<const api::Pod> before = record.pod;
  const PodStage stage_before = record.stage();
  record.pod = pod;
  Notify(before.get(), stage_before, pod.get(), record.stage());
  driver_->Put(api::Object(std::move(pod)));
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
  driver_->Remove(api::Object(gone.pod));
  if (!gone.pod->spec.resource_claims.empty() || gone.pod->status.extended_resource_claim_status) {
    claims_->Release(*gone.pod);
  }
}

// Reports to the volume controller what it would reconsider. It ignores bound pairs, which most tests create by the
// thousand.
void InMemoryCluster::Put(const api::Object& object) {
  if (auto made = object.Share<api::ResourceClaimTemplate>()) return claims_->AddTemplate(std::move(made));
  driver_->Put(object);
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
