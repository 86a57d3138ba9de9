#include "scheduler/event_handlers.h"

#include <optional>

#include "cluster/stores.h"
#include "framework/events.h"

namespace berth::scheduler {

using framework::ActionType;
using framework::EventResource;
using framework::PodInfoPtr;

namespace {

// Of the kinds that plugins may wait for; changes of others wake nobody.
template <class T>
constexpr std::optional<EventResource> kResourceOf = std::nullopt;
template <>
constexpr std::optional<EventResource> kResourceOf<api::PersistentVolume> = EventResource::kPersistentVolume;
template <>
constexpr std::optional<EventResource> kResourceOf<api::PersistentVolumeClaim> = EventResource::kPersistentVolumeClaim;
template <>
constexpr std::optional<EventResource> kResourceOf<api::StorageClass> = EventResource::kStorageClass;
template <>
constexpr std::optional<EventResource> kResourceOf<api::CSINode> = EventResource::kCSINode;
template <>
constexpr std::optional<EventResource> kResourceOf<api::CSIDriver> = EventResource::kCSIDriver;
template <>
constexpr std::optional<EventResource> kResourceOf<api::CSIStorageCapacity> = EventResource::kCSIStorageCapacity;
template <>
constexpr std::optional<EventResource> kResourceOf<api::VolumeAttachment> = EventResource::kVolumeAttachment;
template <>
constexpr std::optional<EventResource> kResourceOf<api::ResourceClaim> = EventResource::kResourceClaim;
template <>
constexpr std::optional<EventResource> kResourceOf<api::ResourceSlice> = EventResource::kResourceSlice;
template <>
constexpr std::optional<EventResource> kResourceOf<api::DeviceClass> = EventResource::kDeviceClass;
template <>
constexpr std::optional<EventResource> kResourceOf<api::Service> = EventResource::kService;

bool IsSameVersion(const api::Pod& a, const api::Pod& b) {
  return !a.metadata.resource_version.empty() && a.metadata.resource_version == b.metadata.resource_version;
}

}  // namespace

template <class T>
void EventHandlers::Happened(framework::ClusterEvent event, std::shared_ptr<const T> before,
                             std::shared_ptr<const T> after, std::string_view except) {
  if (!observer_) return queue_.OnEvent<T>(event, std::move(before), std::move(after), except);
  const base::Time start = clock_.Now();
  queue_.OnEvent<T>(event, std::move(before), std::move(after), except);
  observer_(event, clock_.Now() - start);
}

// Of a pod that waits for a node: what its own coming, changing and going takes.
void EventHandlers::Timed(ActionType action, const std::function<void()>& handle) {
  const base::Time start = observer_ ? clock_.Now() : base::Time();
  handle();
  if (observer_) observer_({EventResource::kUnschedulablePod, action}, clock_.Now() - start);
}

// Rules change the taints of devices in slices, which then look like new ones.
void EventHandlers::SlicesChanged() {
  if (!gates_.Enabled("DRADeviceTaintRules")) return;
  Happened<api::ResourceSlice>({EventResource::kResourceSlice, ActionType::kUpdate}, nullptr, nullptr);
}

void EventHandlers::TellOfFreedDevices(std::string_view except) {
  if (!cluster_.TakeFreedDevices()) return;
  Happened<api::ResourceClaim>({EventResource::kResourceClaim, ActionType::kUpdate}, nullptr, nullptr, except);
}

void EventHandlers::TellOfEndedNominations() {
  for (const framework::Nominator::Ended& ended : cluster_.nominator().TakeEnded()) {
    const std::string& uid = ended.pod->uid();
    const bool has_the_room = cluster_.NodeOf(uid) == ended.node_name;
    if (!has_the_room) OnForgotten(*ended.pod, ended.node_name, uid);
  }
}

void EventHandlers::Put(const api::Object& object) {
  if (object.kind() == api::Kind::kPod) return PutPod(object.Share<api::Pod>());
  if (object.kind() == api::Kind::kNode) return PutNode(object.Share<api::Node>());
  cluster::VisitStore(cluster_.objects(), object.kind(), [&]<class T>(framework::ObjectStore<T>& store) {
    const std::shared_ptr<const T> after = object.Share<T>();
    const std::shared_ptr<const T> before = store.Upsert(after);
    if constexpr (kResourceOf<T>) {
      Happened<T>({*kResourceOf<T>, before ? ActionType::kUpdate : ActionType::kAdd}, before, after);
      if constexpr (std::is_same_v<T, api::ResourceClaim>) {
        // The plugin's hint sees an allocation that ends, unless it was of a write that has not been reported.
        const bool is_told = before && before->status.allocation && !after->status.allocation;
        is_told ? static_cast<void>(cluster_.TakeFreedDevices()) : TellOfFreedDevices();
      }
    } else if constexpr (std::is_same_v<T, api::DeviceTaintRule>) {
      SlicesChanged();
    }
  });
}

void EventHandlers::Remove(const api::Object& object) {
  const api::ObjectMeta& metadata = object.metadata();
  if (const api::Pod* pod = object.As<api::Pod>()) return RemovePod(*pod);
  if (object.kind() == api::Kind::kNode) return RemoveNode(metadata.name);
  cluster::VisitStore(cluster_.objects(), object.kind(), [&]<class T>(framework::ObjectStore<T>& store) {
    const std::shared_ptr<const T> gone = store.Erase(metadata.namespace_.str(), metadata.name);
    if constexpr (kResourceOf<T>) {
      if (gone) Happened<T>({*kResourceOf<T>, ActionType::kDelete}, gone, nullptr);
      if constexpr (std::is_same_v<T, api::ResourceClaim>) TellOfFreedDevices();
    } else if constexpr (std::is_same_v<T, api::DeviceTaintRule>) {
      if (gone) SlicesChanged();
    }
  });
}

// Nobody is told of what is not watched any more.
void EventHandlers::PutCustom(EventResource resource, std::shared_ptr<const api::CustomObject> object) {
  framework::CustomObjects::Store* store = cluster_.custom_objects().FindMutable(resource);
  if (store == nullptr) return;
  const std::shared_ptr<const api::CustomObject> before = store->Upsert(object);
  Happened<api::CustomObject>({resource, before ? ActionType::kUpdate : ActionType::kAdd}, before, std::move(object));
}

void EventHandlers::RemoveCustom(EventResource resource, const api::ObjectMeta& metadata) {
  framework::CustomObjects::Store* store = cluster_.custom_objects().FindMutable(resource);
  const std::shared_ptr<const api::CustomObject> gone =
      store ? store->Erase(metadata.namespace_.str(), metadata.name) : nullptr;
  if (gone) Happened<api::CustomObject>({resource, ActionType::kDelete}, gone, nullptr);
}

void EventHandlers::PutPod(std::shared_ptr<const api::Pod> pod) {
  if (!pod->spec.node_name.empty()) {
    PutAssigned(std::move(pod));
  } else if (scheduler_.FindProfile(pod->spec.scheduler_name) != nullptr) {
    PutPending(std::move(pod));
  }
  TellOfEndedNominations();
}

void EventHandlers::PutAssigned(std::shared_ptr<const api::Pod> pod) {
  const std::string& uid = pod->metadata.uid;
  const PodInfoPtr known = cluster_.FindPod(uid);
  const bool confirmed = known != nullptr && !cluster_.IsAssumed(uid);
  const std::string assumed_on = known != nullptr && !confirmed ? cluster_.NodeOf(uid) : std::string();
  const bool elsewhere = !assumed_on.empty() && assumed_on != pod->spec.node_name;
  if (!assumed_on.empty()) scheduler_.NoteBound(uid, elsewhere);
  cluster_.UpsertPod(pod);
  if (!confirmed) {
    // Bound: by us, or by somebody else while it stood in the queue.
    if (queue_.Find(uid) != nullptr) Timed(ActionType::kDelete, [&] { queue_.Delete(uid); });
    // On another node than was meant: the room there is free again.
    if (elsewhere) OnForgotten(*known, assumed_on);
    return Happened<api::Pod>({EventResource::kAssignedPod, ActionType::kAdd}, nullptr, pod);
  }
  const std::shared_ptr<const api::Pod> before = known->shared_pod();
  for (const framework::ClusterEvent& event :
       framework::EventsOf(EventResource::kAssignedPod, framework::PodUpdateActions(*before, *pod, gates_))) {
    Happened<api::Pod>(event, before, pod);
  }
}

void EventHandlers::PutPending(std::shared_ptr<const api::Pod> pod) {
  const std::string& uid = pod->metadata.uid;
  const PodInfoPtr after = cluster_.MakePodInfo(pod);
  const queue::QueuedPod* queued = queue_.Find(uid);
  if (cluster_.IsAssumed(uid)) {
    // If binding fails, this is the version to try again, or to drop.
    if (queued != nullptr) queue_.Update(after);
    if (pod->metadata.deletion_timestamp) DropAssumed(uid);
    return;
  }
  const std::string& nominated = pod->status.nominated_node_name;
  if (queued == nullptr) {
    if (!nominated.empty()) cluster_.nominator().Nominate(after, nominated);
    return Timed(ActionType::kAdd, [&] { queue_.Add(after); });
  }
  const std::shared_ptr<const api::Pod> before = queued->pod->shared_pod();
  if (IsSameVersion(*before, *pod)) return;
  // A nomination made here that the API has not heard of yet stands.
  const std::string promised = cluster_.nominator().NodeOf(uid);
  const bool unheard = before->status.nominated_node_name.empty() && nominated.empty();
  cluster_.nominator().Nominate(after, unheard ? promised : nominated);
  Timed(ActionType::kUpdate, [&] { queue_.Update(after); });
  const std::string& shown = before->status.nominated_node_name;
  if (shown.empty() || nominated.empty() || shown == nominated) return;
  // It has another node now.
  cluster_.nominator().ForgetEnded(uid, shown);
  Happened<api::Pod>({EventResource::kAssignedPod, ActionType::kDelete}, before, nullptr);
}

void EventHandlers::RemovePod(const api::Pod& pod) {
  const std::string& uid = pod.metadata.uid;
  const bool assumed = cluster_.IsAssumed(uid);
  const PodInfoPtr placed = cluster_.FindPod(uid);
  if (queue_.Find(uid) != nullptr) Timed(ActionType::kDelete, [&] { queue_.Delete(uid); });
  if (assumed) return DropAssumed(uid);
  cluster_.RemovePod(uid);
  if (placed) Happened<api::Pod>({EventResource::kAssignedPod, ActionType::kDelete}, placed->shared_pod(), nullptr);
  TellOfEndedNominations();
}

// An assumed pod is being deleted, while its binding cycle goes on and will fail. One that waits for permission is
// rejected, and gives its room back by the end of its wait; the room of one that is being bound is given back here.
void EventHandlers::DropAssumed(const std::string& uid) {
  if (scheduler_.waiting_pods().IsWaiting(uid)) return scheduler_.waiting_pods().Reject(uid, "", "removed");
  const PodInfoPtr pod = cluster_.FindPod(uid);
  const std::string node_name = cluster_.NodeOf(uid);
  cluster_.Forget(uid);
  OnForgotten(*pod, node_name);
}

void EventHandlers::OnForgotten(const framework::PodInfo& pod, const std::string& node_name, std::string_view except) {
  auto placed = std::make_shared<api::Pod>(pod.pod());
  placed->spec.node_name = node_name;
  Happened<api::Pod>({EventResource::kAssignedPod, ActionType::kDelete}, std::move(placed), nullptr, except);
}

void EventHandlers::PutNode(std::shared_ptr<const api::Node> node) {
  const framework::NodeInfo* known = cluster_.Find(node->metadata.name);
  const std::shared_ptr<const api::Node> before = known ? known->shared_node() : nullptr;
  cluster_.UpsertNode(node);
  if (!before) return Happened<api::Node>({EventResource::kNode, ActionType::kAdd}, nullptr, node);
  for (const framework::ClusterEvent& event :
       framework::EventsOf(EventResource::kNode, framework::NodeUpdateActions(*before, *node, gates_))) {
    Happened<api::Node>(event, before, node);
  }
}

void EventHandlers::RemoveNode(const std::string& name) {
  const framework::NodeInfo* known = cluster_.Find(name);
  if (!known) return;
  const std::shared_ptr<const api::Node> gone = known->shared_node();
  cluster_.RemoveNode(name);
  Happened<api::Node>({EventResource::kNode, ActionType::kDelete}, gone, nullptr);
}

}  // namespace berth::scheduler
