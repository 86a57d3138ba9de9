#include "plugins/volume/claims.h"

#include <fmt/format.h>

#include "plugins/hints.h"
#include "plugins/volume/csi_migration.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kBetaStorageClassAnnotation = "volume.beta.kubernetes.io/storage-class";

}  // namespace

std::optional<ClaimReference> ClaimOf(const VolumeUser& pod, const api::Volume& volume) {
  const api::VolumeSource& source = volume.from();
  if (source.persistent_volume_claim) return ClaimReference{source.persistent_volume_claim->claim_name, false};
  if (source.ephemeral) return ClaimReference{pod.name + "-" + volume.name, true};
  return std::nullopt;
}

std::optional<std::string> OwnershipProblem(const VolumeUser& pod, const api::PersistentVolumeClaim& claim) {
  const api::OwnerReference* owner = api::ControllerOf(claim.metadata);
  if (claim.metadata.namespace_ == pod.namespace_ && owner != nullptr && owner->uid == pod.uid) {
    return std::nullopt;
  }
  return fmt::format("PVC {}/{} was not created for pod {}/{} (pod is not owner)", claim.metadata.namespace_.str(),
                     claim.metadata.name, pod.namespace_.str(), pod.name);
}

bool PodUsesClaim(const api::Pod& pod, const api::PersistentVolumeClaim& claim, bool ephemeral) {
  if (pod.metadata.namespace_ != claim.metadata.namespace_) return false;
  for (const api::Volume& volume : pod.spec.volumes) {
    const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
    if (reference && (ephemeral || !reference->ephemeral) && reference->name == claim.metadata.name) return true;
  }
  return false;
}

framework::QueueingHintFn AfterClaimChanged(bool ephemeral) {
  return
      [ephemeral](const framework::PodInfo& pod, const framework::EventObject&, const framework::EventObject& after) {
        const auto* claim = after.As<api::PersistentVolumeClaim>();
        return QueueIf(claim == nullptr || PodUsesClaim(pod.pod(), *claim, ephemeral));
      };
}

std::string_view StorageClassOf(const api::PersistentVolumeClaim& claim) {
  if (const std::string* name = FindAnnotation(claim.metadata, kBetaStorageClassAnnotation)) return *name;
  return claim.spec.storage_class_name ? std::string_view(*claim.spec.storage_class_name) : std::string_view();
}

std::string_view StorageClassOf(const api::PersistentVolume& volume) {
  if (const std::string* name = FindAnnotation(volume.metadata, kBetaStorageClassAnnotation)) return *name;
  return volume.spec.storage_class_name;
}

bool IsFullyBound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() && FindAnnotation(claim.metadata, kBindCompletedAnnotation) != nullptr;
}

const std::string* FindAnnotation(const api::ObjectMeta& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata.annotations) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string ClaimNotFound(std::string_view name) { return fmt::format("persistentvolumeclaim \"{}\" not found", name); }
std::string VolumeNotFound(std::string_view name) { return fmt::format("persistentvolume \"{}\" not found", name); }
std::string StorageClassNotFound(std::string_view name) {
  return fmt::format("storageclass.storage.k8s.io \"{}\" not found", name);
}

bool VolumesAreShareable(const api::Pod& pod) {
  for (const api::Volume& volume : pod.spec.volumes) {
    const api::VolumeSource& source = volume.from();
    if (source.persistent_volume_claim || source.ephemeral || source.iscsi || source.rbd) return false;
    if (MigrationOf(source) != nullptr) return false;
  }
  return true;
}

}  // namespace berth::plugins
