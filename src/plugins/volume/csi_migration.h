// In-tree disks as their CSI drivers see them. Kubernetes has migrated these volume plugins to CSI drivers, and both
// limits and node affinity of such volumes are those of the driver; objects still name the in-tree kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/storage.h"
#include "api/volume.h"
#include "base/result.h"

namespace berth::plugins {

enum class InTreeKind { kGcePd, kAwsEbs, kCinder, kAzureDisk, kAzureFile, kVsphere, kPortworx };

// An in-tree volume plugin and the driver that replaced it.
struct CsiMigration {
  InTreeKind kind;
  std::string_view plugin;        // "kubernetes.io/gce-pd"
  std::string_view driver;        // "pd.csi.storage.gke.io"
  std::string_view topology_key;  // the driver's own zone label; empty when the affinity of volumes is left alone
  bool scheduled_as_csi;          // scheduling treats volumes of the plugin as those of the driver
};

// Null when the source belongs to no migrated plugin.
const CsiMigration* MigrationOf(const api::VolumeSource& source);
const CsiMigration* MigrationOf(const api::PersistentVolumeSource& source);
const CsiMigration* MigrationOfPlugin(std::string_view plugin);
const CsiMigration* MigrationToDriver(std::string_view driver);

// The driver's handle for the volume; an error when the in-tree source has nothing that the driver understands.
Result<std::string> CsiVolumeHandle(const CsiMigration& migration, const api::VolumeSource& source);
Result<std::string> CsiVolumeHandle(const CsiMigration& migration, const api::PersistentVolume& volume);

// The node affinity of the volume in the driver's labels. Zone terms, or else the zone labels of the volume, become
// terms over the driver's topology key.
std::optional<api::VolumeNodeAffinity> CsiNodeAffinity(const CsiMigration& migration,
                                                       const api::PersistentVolume& volume);

// Whether the node's kubelet reports that it attaches volumes of the plugin through CSI. False without a CSINode.
bool IsMigratedOnNode(const CsiMigration& migration, const api::CSINode* csi_node);

inline constexpr std::string_view kMigratedPluginsAnnotation = "storage.alpha.kubernetes.io/migrated-plugins";

}  // namespace berth::plugins
