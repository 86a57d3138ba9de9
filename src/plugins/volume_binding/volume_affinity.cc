#include "plugins/volume_binding/volume_affinity.h"

namespace berth::plugins {

VolumeAffinity::VolumeAffinity(const std::optional<api::VolumeNodeAffinity>& affinity) {
  if (affinity && affinity->required) required_ = api::CompiledNodeSelector::CompileLazily(*affinity->required);
}

bool VolumeAffinity::Allows(const api::Labels& node_labels) const {
  return !required_ || required_->Match(node_labels, /*node_name=*/{}) == api::NodeMatch::kMatch;
}

std::string VolumeAffinity::Explain(const api::Labels& node_labels) const {
  if (required_ && required_->Match(node_labels, {}) == api::NodeMatch::kError) return required_->error();
  return "no matching NodeSelectorTerms";
}

BoundVolume::BoundVolume(const api::PersistentVolume& volume) : as_written_(volume.spec.node_affinity) {
  migration_ = MigrationOf(volume.spec.source);
  if (migration_ == nullptr) return;
  if (!migration_->scheduled_as_csi) {
    migration_ = nullptr;
    return;
  }
  // A volume that its driver would not recognise has no CSI form.
  if (Result<std::string> handle = CsiVolumeHandle(*migration_, volume); !handle) {
    error_ = "could not translate pv: " + handle.error().message;
    return;
  }
  as_csi_.emplace(CsiNodeAffinity(*migration_, volume));
}

const VolumeAffinity* BoundVolume::AffinityOn(const framework::NodeInfo& node,
                                              const framework::ObjectStore<api::CSINode>& csi_nodes) const {
  if (migration_ == nullptr || !IsMigratedOnNode(*migration_, csi_nodes.Find(node.name()))) return &as_written_;
  return as_csi_ ? &*as_csi_ : nullptr;
}

}  // namespace berth::plugins
