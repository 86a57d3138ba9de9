// Events that may make a pod schedulable that VolumeBinding rejected.
#include <algorithm>

#include "plugins/hints.h"
#include "plugins/volume/claims.h"
#include "plugins/volume/csi_migration.h"
#include "plugins/volume_binding/provisioning.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;

bool SameTopologies(const std::vector<api::TopologySelectorTerm>& a, const std::vector<api::TopologySelectorTerm>& b) {
  const auto same_requirement = [](const api::TopologySelectorLabelRequirement& x,
                                   const api::TopologySelectorLabelRequirement& y) {
    return x.key == y.key && x.values == y.values;
  };
  const auto same_term = [&](const api::TopologySelectorTerm& x, const api::TopologySelectorTerm& y) {
    return std::equal(x.match_label_expressions.begin(), x.match_label_expressions.end(),
                      y.match_label_expressions.begin(), y.match_label_expressions.end(), same_requirement);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_term);
}

// The binding mode of a class is immutable, so that an update helps only through its topologies.
QueueingHint AfterClassChanged(const PodInfo&, const EventObject& before, const EventObject& after) {
  const auto* old_class = before.As<api::StorageClass>();
  const auto* new_class = after.As<api::StorageClass>();
  if (old_class == nullptr || new_class == nullptr) return QueueingHint::kQueue;
  return QueueIf(!SameTopologies(old_class->allowed_topologies, new_class->allowed_topologies));
}

// Which plugins are migrated decides whose labels the affinity of in-tree volumes uses.
QueueingHint AfterCsiNodeChanged(const PodInfo&, const EventObject& before, const EventObject& after) {
  const auto* old_node = before.As<api::CSINode>();
  const auto* new_node = after.As<api::CSINode>();
  if (old_node == nullptr || new_node == nullptr) return QueueingHint::kQueue;
  const auto migrated = [](const api::CSINode& node) {
    const std::string* plugins = FindAnnotation(node.metadata, kMigratedPluginsAnnotation);
    return plugins ? *plugins : std::string();
  };
  return QueueIf(migrated(*old_node) != migrated(*new_node));
}

QueueingHint AfterDriverChanged(const PodInfo& pod, const EventObject& before, const EventObject& after) {
  const auto* old_driver = before.As<api::CSIDriver>();
  const auto* new_driver = after.As<api::CSIDriver>();
  if (old_driver == nullptr || new_driver == nullptr) return QueueingHint::kQueue;
  const bool no_longer_checked =
      old_driver->spec.storage_capacity.value_or(false) && !new_driver->spec.storage_capacity.value_or(false);
  const auto uses_driver = [&](const api::Volume& volume) {
    return volume.from().csi && volume.from().csi->driver == new_driver->metadata.name;
  };
  const std::vector<api::Volume>& volumes = pod.pod().spec.volumes;
  return QueueIf(no_longer_checked && std::any_of(volumes.begin(), volumes.end(), uses_driver));
}

// Topology and class of a capacity are immutable; only more capacity helps.
QueueingHint AfterCapacityChanged(const PodInfo&, const EventObject& before, const EventObject& after) {
  const auto* old_capacity = before.As<api::CSIStorageCapacity>();
  const auto* new_capacity = after.As<api::CSIStorageCapacity>();
  if (old_capacity == nullptr || new_capacity == nullptr) return QueueingHint::kQueue;
  const api::Quantity* old_limit = VolumeLimit(*old_capacity);
  const api::Quantity* new_limit = VolumeLimit(*new_capacity);
  return QueueIf(new_limit != nullptr && (old_limit == nullptr || new_limit->Value() > old_limit->Value()));
}

}  // namespace

// A pod that loses its node before it is bound, because Permit rejected it or its volumes could not be written, gives
// back what was set aside for its claims; the API server has nothing to report about that. The claims of a pod that
// has run are bound.
QueueingHint VolumeBinding::AfterPodGone(const PodInfo&, const api::Pod* gone, const api::Pod*) const {
  if (gone == nullptr) return QueueingHint::kQueue;
  const std::string_view name_space = gone->metadata.namespace_.str();
  return QueueIf(std::any_of(gone->spec.volumes.begin(), gone->spec.volumes.end(), [&](const api::Volume& volume) {
    const std::optional<ClaimReference> named = ClaimOf(*gone, volume);
    if (!named) return false;
    const auto* claim = objects_.persistent_volume_claims.Find(name_space, named->name);
    return claim == nullptr || !IsFullyBound(*claim);
  }));
}

std::vector<framework::ClusterEventWithHint> VolumeBinding::EventsToRegister() const {
  constexpr ActionType kAddOrUpdate = ActionType::kAdd | ActionType::kUpdate;
  return {
      {{EventResource::kStorageClass, kAddOrUpdate}, AfterClassChanged},
      {{EventResource::kPersistentVolumeClaim, kAddOrUpdate}, AfterClaimChanged(/*ephemeral=*/true)},
      {{EventResource::kPersistentVolume, kAddOrUpdate}, {}},
      // Labels affect allowed topologies and volumes' affinity.
      {{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeLabel}, {}},
      {{EventResource::kCSINode, kAddOrUpdate}, AfterCsiNodeChanged},
      {{EventResource::kCSIDriver, ActionType::kUpdate}, AfterDriverChanged},
      {{EventResource::kCSIStorageCapacity, kAddOrUpdate}, AfterCapacityChanged},
      {{EventResource::kAssignedPod, ActionType::kDelete}, HintOf(this, &VolumeBinding::AfterPodGone)},
  };
}

}  // namespace berth::plugins
