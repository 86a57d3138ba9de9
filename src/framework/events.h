// Cluster events, and how plugins say which of them could help a pod they rejected.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "config/feature_gates.h"
#include "framework/pod_info.h"

namespace berth::api {
struct CustomObject;
struct Service;
}  // namespace berth::api

namespace berth::framework {

enum class EventResource : uint8_t {
  kPod,
  kNode,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kCSINode,
  kCSIDriver,
  kVolumeAttachment,
  kCSIStorageCapacity,
  kStorageClass,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass,
  kService,
  // Events are of one of these two; plugins register for kPod, which means both.
  kAssignedPod,
  kUnschedulablePod,
  kWildCard,
  // This value and all above it are resources that plugins have asked for by name (custom_objects.h).
  kFirstCustom = 64,
};

// A set of actions; combine with |.
enum class ActionType : uint32_t {
  kNone = 0,
  kAdd = 1 << 0,
  kDelete = 1 << 1,
  kUpdateNodeAllocatable = 1 << 2,
  kUpdateNodeLabel = 1 << 3,
  kUpdateNodeTaint = 1 << 4,
  kUpdateNodeCondition = 1 << 5,
  kUpdateNodeAnnotation = 1 << 6,
  kUpdateNodeDeclaredFeature = 1 << 7,
  kUpdatePodLabel = 1 << 8,
  kUpdatePodScaleDown = 1 << 9,
  kUpdatePodToleration = 1 << 10,
  kUpdatePodSchedulingGatesEliminated = 1 << 11,
  kUpdatePodGeneratedResourceClaim = 1 << 12,
  kAll = (1 << 13) - 1,
  kUpdate = kAll & ~(kAdd | kDelete),
};
constexpr ActionType operator|(ActionType a, ActionType b) {
  return static_cast<ActionType>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr ActionType operator&(ActionType a, ActionType b) {
  return static_cast<ActionType>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));
}

struct ClusterEvent {
  EventResource resource = EventResource::kWildCard;
  ActionType action = ActionType::kAll;

  bool IsWildCard() const { return resource == EventResource::kWildCard && action == ActionType::kAll; }
  // A registration covers an event when the resources agree and the actions overlap. A particular registration
  // (kUpdatePodLabel) does not cover the general kUpdate, which stands for "something else about it changed".
  bool Covers(const ClusterEvent& happened) const;
  // "NodeAdd", "AssignedPodDelete" …, as metrics and logs name it; for a single action, kUpdate or kAll.
  std::string Label() const;

  friend bool operator==(const ClusterEvent&, const ClusterEvent&) = default;
};

// The object before or after the event. Null pointers do not occur; monostate means "there was none".
class EventObject {
 public:
  EventObject() = default;
  template <class T>
  EventObject(const T* object) : object_(object) {}  // NOLINT: implicit

  // Null when the event is about another kind, or there is no object on this side.
  template <class T>
  const T* As() const {
    const T* const* found = std::get_if<const T*>(&object_);
    return found ? *found : nullptr;
  }
  bool empty() const { return object_.index() == 0; }

 private:
  std::variant<std::monostate, const api::Pod*, const api::Node*, const api::PersistentVolume*,
               const api::PersistentVolumeClaim*, const api::CSINode*, const api::CSIDriver*,
               const api::VolumeAttachment*, const api::CSIStorageCapacity*, const api::StorageClass*,
               const api::ResourceClaim*, const api::ResourceSlice*, const api::DeviceClass*, const api::Service*,
               const api::CustomObject*>
      object_;
};

enum class QueueingHint : uint8_t {
  kSkip,   // the event cannot make the pod schedulable
  kQueue,  // it may; also the answer when in doubt or on error
};

using QueueingHintFn =
    std::function<QueueingHint(const PodInfo& pod, const EventObject& before, const EventObject& after)>;

struct ClusterEventWithHint {
  ClusterEvent event;
  QueueingHintFn hint;  // empty: always queue
};

// The actions that an update of a node amounts to: kNone when nothing scheduling reads has changed.
ActionType NodeUpdateActions(const api::Node& before, const api::Node& after, const config::FeatureGates& gates = {});
// The same for a pod, assigned or not: kUpdate when none of the specific fields has changed.
ActionType PodUpdateActions(const api::Pod& before, const api::Pod& after, const config::FeatureGates& gates = {});

// One event per action in the set, as Covers expects them; kUpdate and kAll count as one action.
std::vector<ClusterEvent> EventsOf(EventResource resource, ActionType actions);

}  // namespace berth::framework
