#include "api/kind.h"

#include "api/coordination.h"
#include "api/custom_object.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/policy.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "api/workload.h"
#include "base/check.h"
#include "codec/type.h"

namespace berth::api {
namespace {

constexpr std::string_view kCore[] = {"v1"};
constexpr std::string_view kApps[] = {"apps/v1", "apps/v1beta2", "apps/v1beta1"};
constexpr std::string_view kAppsAndExtensions[] = {"apps/v1", "apps/v1beta2", "apps/v1beta1", "extensions/v1beta1"};
constexpr std::string_view kBatch[] = {"batch/v1"};
constexpr std::string_view kPolicy[] = {"policy/v1", "policy/v1beta1"};
constexpr std::string_view kScheduling[] = {"scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1"};
constexpr std::string_view kNode[] = {"node.k8s.io/v1", "node.k8s.io/v1beta1"};
constexpr std::string_view kStorage[] = {"storage.k8s.io/v1", "storage.k8s.io/v1beta1"};
constexpr std::string_view kResource[] = {"resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"};
// DeviceTaintRules are not in resource.k8s.io/v1 yet.
constexpr std::string_view kDeviceTaintRules[] = {"resource.k8s.io/v1beta2", "resource.k8s.io/v1alpha3"};
constexpr std::string_view kCoordination[] = {"coordination.k8s.io/v1", "coordination.k8s.io/v1beta1"};
constexpr std::string_view kEvents[] = {"events.k8s.io/v1", "events.k8s.io/v1beta1"};

constexpr bool kNamespaced = true;
constexpr bool kClusterScoped = false;

template <class T>
constexpr KindInfo Row(std::string_view name, std::string_view resource, bool namespaced,
                       std::span<const std::string_view> api_versions) {
  return {
      .kind = kKindOf<T>,
      .name = name,
      .resource = resource,
      .namespaced = namespaced,
      .api_versions = api_versions,
      .message = &codec::DescriptionOf<T>,
      .make = []() -> std::shared_ptr<void> { return std::make_shared<T>(); },
      .metadata = [](void* object) -> ObjectMeta& { return static_cast<T*>(object)->metadata; },
      .const_metadata = [](const void* object) -> const ObjectMeta& { return static_cast<const T*>(object)->metadata; },
  };
}

constexpr KindInfo kKinds[] = {
    Row<Pod>("Pod", "pods", kNamespaced, kCore),
    Row<Node>("Node", "nodes", kClusterScoped, kCore),
    Row<Namespace>("Namespace", "namespaces", kClusterScoped, kCore),
    Row<PersistentVolume>("PersistentVolume", "persistentvolumes", kClusterScoped, kCore),
    Row<PersistentVolumeClaim>("PersistentVolumeClaim", "persistentvolumeclaims", kNamespaced, kCore),
    Row<Service>("Service", "services", kNamespaced, kCore),
    Row<ReplicationController>("ReplicationController", "replicationcontrollers", kNamespaced, kCore),
    Row<ReplicaSet>("ReplicaSet", "replicasets", kNamespaced, kAppsAndExtensions),
    Row<StatefulSet>("StatefulSet", "statefulsets", kNamespaced, kApps),
    Row<Deployment>("Deployment", "deployments", kNamespaced, kAppsAndExtensions),
    Row<DaemonSet>("DaemonSet", "daemonsets", kNamespaced, kAppsAndExtensions),
    Row<Job>("Job", "jobs", kNamespaced, kBatch),
    Row<PodDisruptionBudget>("PodDisruptionBudget", "poddisruptionbudgets", kNamespaced, kPolicy),
    Row<PriorityClass>("PriorityClass", "priorityclasses", kClusterScoped, kScheduling),
    Row<LimitRange>("LimitRange", "limitranges", kNamespaced, kCore),
    Row<ResourceQuota>("ResourceQuota", "resourcequotas", kNamespaced, kCore),
    Row<RuntimeClass>("RuntimeClass", "runtimeclasses", kClusterScoped, kNode),
    Row<StorageClass>("StorageClass", "storageclasses", kClusterScoped, kStorage),
    Row<CSINode>("CSINode", "csinodes", kClusterScoped, kStorage),
    Row<CSIDriver>("CSIDriver", "csidrivers", kClusterScoped, kStorage),
    Row<CSIStorageCapacity>("CSIStorageCapacity", "csistoragecapacities", kNamespaced, kStorage),
    Row<VolumeAttachment>("VolumeAttachment", "volumeattachments", kClusterScoped, kStorage),
    Row<ResourceClaim>("ResourceClaim", "resourceclaims", kNamespaced, kResource),
    Row<ResourceClaimTemplate>("ResourceClaimTemplate", "resourceclaimtemplates", kNamespaced, kResource),
    Row<ResourceSlice>("ResourceSlice", "resourceslices", kClusterScoped, kResource),
    Row<DeviceClass>("DeviceClass", "deviceclasses", kClusterScoped, kResource),
    Row<DeviceTaintRule>("DeviceTaintRule", "devicetaintrules", kClusterScoped, kDeviceTaintRules),
    Row<Lease>("Lease", "leases", kNamespaced, kCoordination),
    Row<Event>("Event", "events", kNamespaced, kEvents),
};
static_assert(std::size(kKinds) == kKindCount);

constexpr std::string_view kAnyVersion[] = {""};
constexpr KindInfo kCustomObjectInfo = Row<CustomObject>("CustomObject", "customobjects", kNamespaced, kAnyVersion);

}  // namespace

const KindInfo& InfoOf(Kind kind) {
  if (kind == Kind::kCustomObject) return kCustomObjectInfo;
  const KindInfo& info = kKinds[static_cast<size_t>(kind)];
  CHECK(info.kind == kind);
  return info;
}

std::span<const KindInfo> AllKinds() { return kKinds; }

const KindInfo* FindKind(std::string_view api_version, std::string_view name) {
  for (const KindInfo& info : kKinds) {
    if (info.name != name) continue;
    for (std::string_view accepted : info.api_versions) {
      if (accepted == api_version) return &info;
    }
  }
  return nullptr;
}

}  // namespace berth::api
