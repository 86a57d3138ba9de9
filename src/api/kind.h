// The registry of object kinds: what each is called, where it lives in the API, and how to decode one.
// Adding a kind: a line in the enumeration, one in KindFor, one in the table of kind.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace berth::codec {
class Message;
}

namespace berth::api {

struct ObjectMeta;

enum class Kind : uint8_t {
  kPod,
  kNode,
  kNamespace,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kService,
  kReplicationController,
  kReplicaSet,
  kStatefulSet,
  kDeployment,
  kDaemonSet,
  kJob,
  kPodDisruptionBudget,
  kPriorityClass,
  kLimitRange,
  kResourceQuota,
  kRuntimeClass,
  kStorageClass,
  kCSINode,
  kCSIDriver,
  kCSIStorageCapacity,
  kVolumeAttachment,
  kResourceClaim,
  kResourceClaimTemplate,
  kResourceSlice,
  kDeviceClass,
  kDeviceTaintRule,
  kLease,
  kEvent,
  // Any other kind, of which only the metadata is read (custom_object.h). Not in the registry: no document names it.
  kCustomObject,
};
inline constexpr size_t kKindCount = static_cast<size_t>(Kind::kEvent) + 1;  // in the registry

struct Pod;
struct Node;
struct Namespace;
struct PersistentVolume;
struct PersistentVolumeClaim;
struct Service;
struct ReplicationController;
struct ReplicaSet;
struct StatefulSet;
struct Deployment;
struct DaemonSet;
struct Job;
struct PodDisruptionBudget;
struct PriorityClass;
struct LimitRange;
struct ResourceQuota;
struct RuntimeClass;
struct StorageClass;
struct CSINode;
struct CSIDriver;
struct CSIStorageCapacity;
struct VolumeAttachment;
struct ResourceClaim;
struct ResourceClaimTemplate;
struct ResourceSlice;
struct DeviceClass;
struct DeviceTaintRule;
struct Lease;
struct Event;
struct CustomObject;

constexpr Kind KindFor(const Pod*) { return Kind::kPod; }
constexpr Kind KindFor(const Node*) { return Kind::kNode; }
constexpr Kind KindFor(const Namespace*) { return Kind::kNamespace; }
constexpr Kind KindFor(const PersistentVolume*) { return Kind::kPersistentVolume; }
constexpr Kind KindFor(const PersistentVolumeClaim*) { return Kind::kPersistentVolumeClaim; }
constexpr Kind KindFor(const Service*) { return Kind::kService; }
constexpr Kind KindFor(const ReplicationController*) { return Kind::kReplicationController; }
constexpr Kind KindFor(const ReplicaSet*) { return Kind::kReplicaSet; }
constexpr Kind KindFor(const StatefulSet*) { return Kind::kStatefulSet; }
constexpr Kind KindFor(const Deployment*) { return Kind::kDeployment; }
constexpr Kind KindFor(const DaemonSet*) { return Kind::kDaemonSet; }
constexpr Kind KindFor(const Job*) { return Kind::kJob; }
constexpr Kind KindFor(const PodDisruptionBudget*) { return Kind::kPodDisruptionBudget; }
constexpr Kind KindFor(const PriorityClass*) { return Kind::kPriorityClass; }
constexpr Kind KindFor(const LimitRange*) { return Kind::kLimitRange; }
constexpr Kind KindFor(const ResourceQuota*) { return Kind::kResourceQuota; }
constexpr Kind KindFor(const RuntimeClass*) { return Kind::kRuntimeClass; }
constexpr Kind KindFor(const StorageClass*) { return Kind::kStorageClass; }
constexpr Kind KindFor(const CSINode*) { return Kind::kCSINode; }
constexpr Kind KindFor(const CSIDriver*) { return Kind::kCSIDriver; }
constexpr Kind KindFor(const CSIStorageCapacity*) { return Kind::kCSIStorageCapacity; }
constexpr Kind KindFor(const VolumeAttachment*) { return Kind::kVolumeAttachment; }
constexpr Kind KindFor(const ResourceClaim*) { return Kind::kResourceClaim; }
constexpr Kind KindFor(const ResourceClaimTemplate*) { return Kind::kResourceClaimTemplate; }
constexpr Kind KindFor(const ResourceSlice*) { return Kind::kResourceSlice; }
constexpr Kind KindFor(const DeviceClass*) { return Kind::kDeviceClass; }
constexpr Kind KindFor(const DeviceTaintRule*) { return Kind::kDeviceTaintRule; }
constexpr Kind KindFor(const Lease*) { return Kind::kLease; }
constexpr Kind KindFor(const Event*) { return Kind::kEvent; }
constexpr Kind KindFor(const CustomObject*) { return Kind::kCustomObject; }

// The Kind of a C++ type; does not compile for other types.
template <class T>
inline constexpr Kind kKindOf = KindFor(static_cast<const T*>(nullptr));

struct KindInfo {
  Kind kind;
  std::string_view name;      // "PodDisruptionBudget"
  std::string_view resource;  // "poddisruptionbudgets"
  bool namespaced;
  // The first is the one we write. The others are older versions in which every field we keep has the same JSON name,
  // the same protobuf number and the same meaning.
  std::span<const std::string_view> api_versions;

  const codec::Message& (*message)();
  // Makes a new empty object; the two others access such an object.
  std::shared_ptr<void> (*make)();
  ObjectMeta& (*metadata)(void* object);
  const ObjectMeta& (*const_metadata)(const void* object);

  std::string_view api_version() const { return api_versions.front(); }
};

const KindInfo& InfoOf(Kind kind);
// In the order of the enumeration.
std::span<const KindInfo> AllKinds();
// Null when the kind is unknown or known only under other versions.
const KindInfo* FindKind(std::string_view api_version, std::string_view name);

}  // namespace berth::api
