#include "plugins/node_volume_limits/attachable_volumes.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/volume/claims.h"
#include "plugins/volume/csi_migration.h"

namespace berth::plugins {
namespace {

using framework::Objects;
using framework::Status;

// A claim without a volume counts for the driver that will provision it. Without a class it binds immediately and would
// be bound already, so there is nothing to count.
std::optional<AttachableVolume> FromClass(const Objects& objects, const api::PersistentVolumeClaim& claim,
                                          bool node_has_csi) {
  const std::string_view class_name = StorageClassOf(claim);
  if (class_name.empty()) return std::nullopt;
  const api::StorageClass* storage_class = objects.storage_classes.Find(class_name);
  if (storage_class == nullptr) return std::nullopt;
  std::string_view driver = storage_class->provisioner;
  if (const CsiMigration* migration = MigrationOfPlugin(driver)) {
    if (!node_has_csi || !migration->scheduled_as_csi) return std::nullopt;
    driver = migration->driver;
  }
  if (driver.empty()) return std::nullopt;
  return AttachableVolume{std::string(driver), api::KeyOf(claim.metadata), true};
}

std::optional<AttachableVolume> FromVolume(const api::PersistentVolume& volume, bool node_has_csi) {
  if (const auto& csi = volume.spec.source.csi) {
    if (csi->driver.empty() || csi->volume_handle.empty()) return std::nullopt;
    return AttachableVolume{csi->driver, csi->volume_handle};
  }
  const CsiMigration* migration = MigrationOf(volume.spec.source);
  if (migration == nullptr || !node_has_csi || !migration->scheduled_as_csi) return std::nullopt;
  Result<std::string> handle = CsiVolumeHandle(*migration, volume);
  if (!handle || handle->empty()) return std::nullopt;
  return AttachableVolume{std::string(migration->driver), *std::move(handle)};
}

std::optional<AttachableVolume> FromClaim(const Objects& objects, const api::PersistentVolumeClaim& claim,
                                          bool node_has_csi) {
  const api::PersistentVolume* volume =
      claim.spec.volume_name.empty() ? nullptr : objects.persistent_volumes.Find(claim.spec.volume_name);
  // A claim may name a volume that is gone or does not exist yet; its class still gives the driver.
  return volume ? FromVolume(*volume, node_has_csi) : FromClass(objects, claim, node_has_csi);
}

Status CollectInline(const api::Volume& volume, bool node_has_csi, AttachableVolumes& volumes) {
  const CsiMigration* migration = MigrationOf(volume.from());
  if (migration == nullptr || !node_has_csi || !migration->scheduled_as_csi) return Status::Success();
  Result<std::string> handle = CsiVolumeHandle(*migration, volume.from());
  if (!handle) {
    return Status::Error(
        fmt::format("converting volume({}) from inline to csi: {}", volume.name, handle.error().message));
  }
  volumes.insert({std::string(migration->driver), *std::move(handle)});
  return Status::Success();
}

}  // namespace

bool MayAttachVolumes(const api::Pod& pod) {
  return std::any_of(pod.spec.volumes.begin(), pod.spec.volumes.end(), [](const api::Volume& volume) {
    const api::VolumeSource& source = volume.from();
    return source.persistent_volume_claim || source.ephemeral || MigrationOf(source) != nullptr;
  });
}

Status CollectAttachable(const Objects& objects, const VolumeUser& pod, PodRole role, bool node_has_csi,
                         AttachableVolumes& volumes) {
  const std::string_view name_space = pod.namespace_.str();
  for (const api::Volume& volume : pod.volumes) {
    const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
    if (!reference) {
      if (Status status = CollectInline(volume, node_has_csi, volumes); !status.ok()) return status;
      continue;
    }
    if (reference->name.empty()) return Status::Error("PersistentVolumeClaim had no name");
    const api::PersistentVolumeClaim* claim = objects.persistent_volume_claims.Find(name_space, reference->name);
    if (claim == nullptr) {
      if (role == PodRole::kRunning) continue;
      return Status::UnschedulableAndUnresolvable(
          fmt::format("looking up PVC {}/{}: {}", name_space, reference->name, ClaimNotFound(reference->name)));
    }
    if (reference->ephemeral) {
      if (std::optional<std::string> problem = OwnershipProblem(pod, *claim)) return Status::Error(*std::move(problem));
    }
    if (std::optional<AttachableVolume> found = FromClaim(objects, *claim, node_has_csi)) {
      volumes.insert(*std::move(found));
    }
  }
  return Status::Success();
}

std::optional<AttachableVolume> AttachedBy(const Objects& objects, const api::VolumeAttachment& attachment) {
  const std::optional<std::string>& name = attachment.spec.source.persistent_volume_name;
  if (attachment.spec.attacher.empty() || !name) return std::nullopt;
  const api::PersistentVolume* volume = objects.persistent_volumes.Find(*name);
  if (volume == nullptr || !volume->spec.source.csi) return std::nullopt;
  return AttachableVolume{attachment.spec.attacher, volume->spec.source.csi->volume_handle};
}

}  // namespace berth::plugins
