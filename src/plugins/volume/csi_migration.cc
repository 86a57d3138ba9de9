#include "plugins/volume/csi_migration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/ascii.h"
#include "plugins/volume/claims.h"
#include "plugins/volume/topology_labels.h"

namespace berth::plugins {
namespace {

constexpr std::array<CsiMigration, 7> kMigrations{{
    {InTreeKind::kGcePd, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone", true},
    {InTreeKind::kAwsEbs, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", true},
    {InTreeKind::kCinder, "kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone",
     true},
    {InTreeKind::kAzureDisk, "kubernetes.io/azure-disk", "disk.csi.azure.com", "", true},
    {InTreeKind::kAzureFile, "kubernetes.io/azure-file", "file.csi.azure.com", "", false},
    {InTreeKind::kVsphere, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "", false},
    {InTreeKind::kPortworx, "kubernetes.io/portworx-volume", "pxd.portworx.com", "", true},
}};

const CsiMigration* Of(InTreeKind kind) { return &kMigrations[static_cast<size_t>(kind)]; }

// Inline and persistent sources name the migrated kinds alike.
template <class Source>
const CsiMigration* FindMigration(const Source& source) {
  if (source.gce_persistent_disk) return Of(InTreeKind::kGcePd);
  if (source.aws_elastic_block_store) return Of(InTreeKind::kAwsEbs);
  if (source.cinder) return Of(InTreeKind::kCinder);
  if (source.azure_disk) return Of(InTreeKind::kAzureDisk);
  if (source.azure_file) return Of(InTreeKind::kAzureFile);
  if (source.vsphere_volume) return Of(InTreeKind::kVsphere);
  if (source.portworx_volume) return Of(InTreeKind::kPortworx);
  return nullptr;
}

std::string GceZonalHandle(std::string_view zone, std::string_view disk) {
  return fmt::format("projects/UNSPECIFIED/zones/{}/disks/{}", zone, disk);
}

// "europe-west1-b" is in "europe-west1"; all zones of a regional disk must agree.
Result<std::string> GceRegionOf(const std::vector<std::string_view>& zones) {
  std::set<std::string> regions;
  for (const std::string_view zone : zones) {
    const size_t last_dash = zone.rfind('-');
    if (std::count(zone.begin(), zone.end(), '-') != 2) {
      return Error::InvalidArgument(
          fmt::format("zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {}", zone));
    }
    regions.emplace(zone.substr(0, last_dash));
  }
  if (regions.size() == 1) return *regions.begin();
  std::string listed;
  for (const std::string& region : regions) listed += fmt::format("{}{}:{{}}", listed.empty() ? "" : " ", region);
  return Error::InvalidArgument(fmt::format("multiple or no regions gotten from zones, got: map[{}]", listed));
}

Result<std::string> GceHandle(const api::PersistentVolume& volume) {
  const std::string& disk = volume.spec.source.gce_persistent_disk->pd_name;
  const Symbol* label = volume.metadata.labels.Find(GetTopologyLabels().beta_zone);
  if (label == nullptr || label->empty()) label = volume.metadata.labels.Find(GetTopologyLabels().zone);
  const std::vector<std::string_view> zones = SplitZones(label ? label->str() : std::string_view());
  if (zones.size() == 1) return GceZonalHandle(zones[0].empty() ? "UNSPECIFIED" : zones[0], disk);
  Result<std::string> region = GceRegionOf(zones);
  if (!region) return Error::InvalidArgument("failed to get region from zones: " + region.error().message);
  return fmt::format("projects/UNSPECIFIED/regions/{}/disks/{}", *region, disk);
}

// "vol-1", or "aws://zone/vol-1" with or without a zone.
Result<std::string> AwsHandle(const std::string& volume_id) {
  constexpr std::string_view kScheme = "aws://";
  std::string_view id = volume_id;
  if (!id.starts_with(kScheme)) return volume_id;
  id.remove_prefix(kScheme.size());
  id = id.substr(0, id.find_first_of("?#"));
  id = id.substr(std::min(id.find('/'), id.size()));
  while (id.starts_with('/')) id.remove_prefix(1);
  while (id.ends_with('/')) id.remove_suffix(1);
  if (!id.starts_with("vol-") || id.find('/') != std::string_view::npos) {
    return Error::InvalidArgument(fmt::format(
        "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({})", volume_id));
  }
  return std::string(id);
}

Result<std::string> AzureDiskHandle(const api::AzureDiskVolumeSource& disk) {
  if (disk.kind && !base::EqualIgnoringCase(*disk.kind, "managed")) {
    return Error::InvalidArgument(fmt::format("kind({}) is not supported in csi migration", *disk.kind));
  }
  return disk.disk_uri;
}

// The kinds whose handle is a field of the source, spelled alike inline and in persistent volumes.
template <class Source>
Result<std::string> PlainHandle(const CsiMigration& migration, const Source& source) {
  switch (migration.kind) {
    case InTreeKind::kAwsEbs:
      return AwsHandle(source.aws_elastic_block_store->volume_id);
    case InTreeKind::kCinder:
      return source.cinder->volume_id;
    case InTreeKind::kAzureDisk:
      return AzureDiskHandle(*source.azure_disk);
    case InTreeKind::kVsphere:
      return source.vsphere_volume->volume_path;
    case InTreeKind::kPortworx:
      return source.portworx_volume->volume_id;
    case InTreeKind::kGcePd:
    case InTreeKind::kAzureFile:
      break;
  }
  // Azure File shares are not scheduled as CSI volumes; their handles are never compared.
  return Error{base::ErrorCode::kUnsupported, fmt::format("no volume handle for {}", migration.plugin)};
}

bool NamesKey(const api::NodeSelector& selector, const Symbol& key) {
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
    for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
      if (requirement.key == key) return true;
    }
  }
  return false;
}

// True when at least one of the renamed conditions has values.
bool HasValues(const api::NodeSelector& selector, const Symbol& key) {
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
    for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
      if (requirement.key == key && !requirement.values.empty()) return true;
    }
  }
  return false;
}

void RenameKey(api::NodeSelector& selector, const Symbol& from, const Symbol& to) {
  for (api::NodeSelectorTerm& term : selector.node_selector_terms) {
    for (api::NodeSelectorRequirement& requirement : term.match_expressions) {
      if (requirement.key == from) requirement.key = to;
    }
  }
}

// Makes every term also require one of the zones in the volume's label. A label without any zone adds nothing.
void AddZones(std::optional<api::VolumeNodeAffinity>& affinity, const Symbol& key, std::string_view label_value) {
  std::set<std::string_view> zones;
  for (const std::string_view zone : SplitZones(label_value)) {
    if (const std::string_view trimmed = TrimSpace(zone); !trimmed.empty()) zones.insert(trimmed);
  }
  if (zones.empty()) return;
  api::NodeSelectorRequirement in_zones{key, "In", {}};
  for (const std::string_view zone : zones) in_zones.values.emplace_back(zone);
  if (!affinity) affinity.emplace();
  if (!affinity->required) affinity->required.emplace();
  std::vector<api::NodeSelectorTerm>& terms = affinity->required->node_selector_terms;
  if (terms.empty()) terms.emplace_back();
  for (api::NodeSelectorTerm& term : terms) term.match_expressions.push_back(in_zones);
}

}  // namespace

const CsiMigration* MigrationOf(const api::VolumeSource& source) { return FindMigration(source); }
const CsiMigration* MigrationOf(const api::PersistentVolumeSource& source) { return FindMigration(source); }

const CsiMigration* MigrationOfPlugin(std::string_view plugin) {
  for (const CsiMigration& migration : kMigrations) {
    if (migration.plugin == plugin) return &migration;
  }
  return nullptr;
}

const CsiMigration* MigrationToDriver(std::string_view driver) {
  for (const CsiMigration& migration : kMigrations) {
    if (migration.driver == driver) return &migration;
  }
  return nullptr;
}

Result<std::string> CsiVolumeHandle(const CsiMigration& migration, const api::VolumeSource& source) {
  if (migration.kind == InTreeKind::kGcePd) return GceZonalHandle("UNSPECIFIED", source.gce_persistent_disk->pd_name);
  return PlainHandle(migration, source);
}

Result<std::string> CsiVolumeHandle(const CsiMigration& migration, const api::PersistentVolume& volume) {
  if (migration.kind == InTreeKind::kGcePd) return GceHandle(volume);
  return PlainHandle(migration, volume.spec.source);
}

std::optional<api::VolumeNodeAffinity> CsiNodeAffinity(const CsiMigration& migration,
                                                       const api::PersistentVolume& volume) {
  std::optional<api::VolumeNodeAffinity> affinity = volume.spec.node_affinity;
  if (migration.topology_key.empty()) return affinity;
  const Symbol driver_zone(migration.topology_key);
  const TopologyLabels& labels = GetTopologyLabels();
  static const api::NodeSelector kNoSelector;
  const api::NodeSelector& written = affinity && affinity->required ? *affinity->required : kNoSelector;

  // The volume uses either the current labels or the beta ones; its affinity decides, then its own labels.
  bool beta = false;
  if (!NamesKey(written, labels.zone)) {
    beta = NamesKey(written, labels.beta_zone) ||
           (!volume.metadata.labels.Contains(labels.zone) && volume.metadata.labels.Contains(labels.beta_zone));
  }
  const Symbol& zone = beta ? labels.beta_zone : labels.zone;
  if (HasValues(written, zone)) {
    RenameKey(*affinity->required, zone, driver_zone);
  } else if (const Symbol* value = volume.metadata.labels.Find(zone)) {
    AddZones(affinity, driver_zone, value->str());
  }
  // Current nodes may no longer have the beta region label.
  if (beta && affinity && affinity->required && HasValues(*affinity->required, labels.beta_region)) {
    RenameKey(*affinity->required, labels.beta_region, labels.region);
  }
  return affinity;
}

bool IsMigratedOnNode(const CsiMigration& migration, const api::CSINode* csi_node) {
  if (csi_node == nullptr) return false;
  const std::string* listed = FindAnnotation(csi_node->metadata, kMigratedPluginsAnnotation);
  if (listed == nullptr) return false;
  std::string_view rest = *listed;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == migration.plugin) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

}  // namespace berth::plugins
