#include "perf/live_cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/apply.h"
#include "framework/events.h"

namespace berth::perf {

using framework::ActionType;
using framework::EventResource;
using framework::PodInfo;
using framework::PodInfoPtr;
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

PodStage LiveCluster::PodRecord::stage() const {
  if (!pod->spec.node_name.empty()) return PodStage::kScheduled;
  // A gated pod is told so by the API server itself, in the same condition.
  return attempted || !pod->spec.scheduling_gates.empty() ? PodStage::kAttempted : PodStage::kUnattempted;
}

LiveCluster::LiveCluster(const config::FeatureGates& gates, Options options)
    : gates_(gates), options_(options), cluster_(gates_), metrics_(clock_) {}

LiveCluster::~LiveCluster() = default;

Result<std::unique_ptr<LiveCluster>> LiveCluster::Create(const config::KubeSchedulerConfiguration& configuration,
                                                         const framework::Registry& registry,
                                                         const config::FeatureGates& gates, Options options) {
  std::unique_ptr<LiveCluster> cluster(new LiveCluster(gates, options));
  if (Result<void> made = cluster->MakeScheduler(configuration, registry); !made) return made.error();
  return cluster;
}

Result<void> LiveCluster::MakeScheduler(const config::KubeSchedulerConfiguration& configuration,
                                        const framework::Registry& registry) {
  scheduler::Scheduler::Options options;
  options.seed = options_.seed;
  options.verify_incremental = options_.verify_incremental;
  Result<std::unique_ptr<scheduler::Scheduler>> made =
      scheduler::Scheduler::Create(configuration, registry, gates_, cluster_, clock_, *this, options);
  if (!made) return made.error();
  scheduler_ = std::move(*made);

  std::map<std::string, queue::ProfileHooks> hooks;
  for (const engine::Profile* profile : scheduler_->profiles()) {
    queue::ProfileHooks of_profile{[profile](const PodInfo& pod) { return profile->RunPreEnqueue(pod); },
                                   profile->EventsToRegister()};
    if (!options_.queueing_hints) {
      for (auto& [plugin, events] : of_profile.events) {
        for (framework::ClusterEventWithHint& entry : events) entry.hint = nullptr;
      }
    }
    hooks[profile->scheduler_name()] = metrics_.Timed(std::move(of_profile));
  }
  queue::SchedulingQueue::Options queue_options;
  queue_options.initial_backoff = std::chrono::seconds(configuration.pod_initial_backoff_seconds);
  queue_options.max_backoff = std::chrono::seconds(configuration.pod_max_backoff_seconds);
  queue_ = std::make_unique<queue::SchedulingQueue>(clock_, scheduler_->first_profile().queue_sort(), std::move(hooks),
                                                    queue_options);
  volumes_ = std::make_unique<sim::VolumeController>(cluster_, *queue_);
  return {};
}

void LiveCluster::Notify(const api::Pod* before, PodStage stage_before, const api::Pod* after, PodStage stage_after) {
  for (PodObserver* observer : observers_) observer->OnPod(before, stage_before, after, stage_after);
}

Result<void> LiveCluster::Create(const api::Object& object) {
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
      PutNode(object.Share<api::Node>());
      return {};
    case api::Kind::kNamespace:
      if (HasNamespace(metadata.name)) return taken;
      [[fallthrough]];
    default:
      PutOther(object);
      return {};
  }
}

Result<void> LiveCluster::Update(const api::Object& object) {
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
    PutNode(std::make_shared<const api::Node>(std::move(changed)));
    return {};
  }
  PutOther(object);
  return {};
}

bool LiveCluster::Delete(api::Kind kind, const std::string& name_space, const std::string& name, bool at_once) {
  switch (kind) {
    case api::Kind::kPod: {
      const PodRecord* record = FindPod(name_space, name);
      if (record) DeletePod(std::string(record->pod->metadata.uid), at_once);
      return record != nullptr;
    }
    case api::Kind::kNode: {
      const framework::NodeInfo* known = cluster_.Find(name);
      if (!known) return false;
      const auto gone = std::make_shared<const api::Node>(known->node());
      cluster_.RemoveNode(name);
      Happened<api::Node>({EventResource::kNode, ActionType::kDelete}, gone, nullptr);
      return true;
    }
    case api::Kind::kNamespace:
      return cluster_.objects().namespaces.Erase("", name) != nullptr;
    case api::Kind::kService:
      return cluster_.objects().services.Erase(name_space, name) != nullptr;
    case api::Kind::kPersistentVolumeClaim:
      return cluster_.objects().persistent_volume_claims.Erase(name_space, name) != nullptr;
    case api::Kind::kPersistentVolume:
      return cluster_.objects().persistent_volumes.Erase("", name) != nullptr;
    case api::Kind::kPodDisruptionBudget:
      return cluster_.objects().pod_disruption_budgets.Erase(name_space, name) != nullptr;
    case api::Kind::kReplicaSet:
      return cluster_.objects().replica_sets.Erase(name_space, name) != nullptr;
    case api::Kind::kReplicationController:
      return cluster_.objects().replication_controllers.Erase(name_space, name) != nullptr;
    case api::Kind::kStatefulSet:
      return cluster_.objects().stateful_sets.Erase(name_space, name) != nullptr;
    default:
      return false;
  }
}

LiveCluster::PodRecord* LiveCluster::FindPod(const std::string& name_space, const std::string& name) {
  const auto uid = pod_uids_.find(name_space + "/" + name);
  return uid == pod_uids_.end() ? nullptr : &pods_.at(uid->second);
}

void LiveCluster::CreatePod(std::shared_ptr<const api::Pod> pod) {
  const std::string& uid = pod->metadata.uid;
  PodRecord& record = pods_[uid];
  record.pod = pod;
  record.sequence = next_number_++;
  pod_uids_[api::KeyOf(pod->metadata)] = uid;
  Notify(nullptr, PodStage::kAbsent, pod.get(), record.stage());
  if (!pod->spec.node_name.empty()) {
    cluster_.UpsertPod(pod);
    return Happened<api::Pod>({EventResource::kAssignedPod, ActionType::kAdd}, nullptr, pod);
  }
  if (!IsOurs(*pod)) return;
  const bool ephemeral = std::any_of(pod->spec.volumes.begin(), pod->spec.volumes.end(),
                                     [](const api::Volume& volume) { return volume.from().ephemeral.has_value(); });
  if (ephemeral) {
    volumes_->CreateEphemeralClaims(*pod);
    volumes_->Reconcile();
  }
  queue_->Add(cluster_.MakePodInfo(std::move(pod)));
}

void LiveCluster::ReplacePod(PodRecord& record, std::shared_ptr<const api::Pod> pod) {
  const std::shared_ptr<const api::Pod> before = record.pod;
  const PodStage stage_before = record.stage();
  record.pod = pod;
  Notify(before.get(), stage_before, pod.get(), record.stage());
  if (!pod->spec.node_name.empty()) {
    cluster_.UpsertPod(pod);
    for (const framework::ClusterEvent& event :
         framework::EventsOf(EventResource::kAssignedPod, framework::PodUpdateActions(*before, *pod, gates_))) {
      Happened<api::Pod>(event, before, pod);
    }
    return;
  }
  if (IsOurs(*pod)) queue_->Update(cluster_.MakePodInfo(std::move(pod)));
}

void LiveCluster::DeletePod(const std::string& uid, bool at_once) {
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

void LiveCluster::RemovePod(const std::string& uid) {
  const auto it = pods_.find(uid);
  const PodRecord gone = std::move(it->second);
  pods_.erase(it);
  pod_uids_.erase(api::KeyOf(gone.pod->metadata));
  const bool promised = !cluster_.nominator().NodeOf(uid).empty();
  Notify(gone.pod.get(), gone.stage(), nullptr, PodStage::kAbsent);
  queue_->Delete(uid);
  cluster_.RemovePod(uid);
  // Room that was promised to it is as free now as room that it had.
  if (gone.stage() != PodStage::kScheduled && !promised) return;
  Happened<api::Pod>({EventResource::kAssignedPod, ActionType::kDelete}, gone.pod, nullptr);
}

void LiveCluster::PutNode(std::shared_ptr<const api::Node> node) {
  const framework::NodeInfo* known = cluster_.Find(node->metadata.name);
  const auto before = known ? std::make_shared<const api::Node>(known->node()) : nullptr;
  cluster_.UpsertNode(node);
  if (!before) return Happened<api::Node>({EventResource::kNode, ActionType::kAdd}, nullptr, node);
  for (const framework::ClusterEvent& event :
       framework::EventsOf(EventResource::kNode, framework::NodeUpdateActions(*before, *node, gates_))) {
    Happened<api::Node>(event, before, node);
  }
}

void LiveCluster::PutOther(const api::Object& object) {
  framework::Objects& objects = cluster_.objects();
  const auto put = [&]<class T>(framework::ObjectStore<T>& store, EventResource resource) {
    const std::shared_ptr<const T> after = object.Share<T>();
    const std::shared_ptr<const T> before = store.Upsert(after);
    Happened<T>({resource, before ? ActionType::kUpdate : ActionType::kAdd}, before, after);
  };
  switch (object.kind()) {
    case api::Kind::kPersistentVolume:
      put(objects.persistent_volumes, EventResource::kPersistentVolume);
      if (!IsPrebound(*object.As<api::PersistentVolume>())) volumes_->Reconcile();
      return;
    case api::Kind::kPersistentVolumeClaim:
      put(objects.persistent_volume_claims, EventResource::kPersistentVolumeClaim);
      if (!IsPrebound(*object.As<api::PersistentVolumeClaim>())) volumes_->Reconcile();
      return;
    case api::Kind::kStorageClass:
      put(objects.storage_classes, EventResource::kStorageClass);
      return volumes_->Reconcile();
    case api::Kind::kCSINode:
      return put(objects.csi_nodes, EventResource::kCSINode);
    case api::Kind::kCSIDriver:
      return put(objects.csi_drivers, EventResource::kCSIDriver);
    case api::Kind::kCSIStorageCapacity:
      return put(objects.csi_storage_capacities, EventResource::kCSIStorageCapacity);
    case api::Kind::kVolumeAttachment:
      return put(objects.volume_attachments, EventResource::kVolumeAttachment);
    case api::Kind::kResourceClaim:
      return put(objects.resource_claims, EventResource::kResourceClaim);
    case api::Kind::kResourceSlice:
      return put(objects.resource_slices, EventResource::kResourceSlice);
    case api::Kind::kDeviceClass:
      return put(objects.device_classes, EventResource::kDeviceClass);
    default:
      return cluster::Apply(cluster_, object);
  }
}

std::vector<const LiveCluster::PodRecord*> LiveCluster::Pods() const {
  std::vector<const PodRecord*> pods;
  pods.reserve(pods_.size());
  for (const auto& [uid, record] : pods_) pods.push_back(&record);
  std::sort(pods.begin(), pods.end(), [](const PodRecord* a, const PodRecord* b) { return a->sequence < b->sequence; });
  return pods;
}

}  // namespace berth::perf
