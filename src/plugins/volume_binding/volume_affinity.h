// On which nodes a volume can be used.
#pragma once

#include <optional>
#include <string>

#include "api/node_selector.h"
#include "api/storage.h"
#include "framework/node_info.h"
#include "framework/objects.h"
#include "plugins/volume/csi_migration.h"

namespace berth::plugins {

// The node affinity of a volume, compiled. Only labels count: a term over fields never matches.
class VolumeAffinity {
 public:
  VolumeAffinity() = default;  // any node
  explicit VolumeAffinity(const std::optional<api::VolumeNodeAffinity>& affinity);

  bool Allows(const api::Labels& node_labels) const;
  // Why Allows returned false.
  std::string Explain(const api::Labels& node_labels) const;

 private:
  std::optional<api::CompiledNodeSelector> required_;
};

// A volume that a claim is bound to. On nodes that attach it through CSI, an in-tree disk uses its driver's labels.
class BoundVolume {
 public:
  explicit BoundVolume(const api::PersistentVolume& volume);

  // Null when the node would use the CSI form and there is none; error() has the reason.
  const VolumeAffinity* AffinityOn(const framework::NodeInfo& node,
                                   const framework::ObjectStore<api::CSINode>& csi_nodes) const;
  const std::string& error() const { return error_; }
  // Whether CSINodes affect it.
  bool is_migrated() const { return migration_ != nullptr; }

 private:
  VolumeAffinity as_written_;
  const CsiMigration* migration_ = nullptr;
  std::optional<VolumeAffinity> as_csi_;
  std::string error_;
};

}  // namespace berth::plugins
