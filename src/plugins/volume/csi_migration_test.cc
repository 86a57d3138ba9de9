#include "plugins/volume/csi_migration.h"

#include <gmock/gmock.h>

#include "testing/builders.h"

namespace berth::plugins {
namespace {

using testing::MakePv;

api::PersistentVolume GceVolume(std::string_view label, std::string_view zones) {
  api::PersistentVolume volume = MakePv("pv");
  volume.spec.source.gce_persistent_disk.emplace().pd_name = "disk";
  if (!label.empty()) volume.metadata.labels.Set(Symbol(label), Symbol(zones));
  return volume;
}

TEST(CsiMigration, NamesGceDisksByTheirZones) {
  constexpr std::string_view kZone = "topology.kubernetes.io/zone";
  constexpr std::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
  const struct {
    std::string_view label, zones, want;
  } cases[] = {
      {"", "", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk"},
      {kZone, "us-east1-a", "projects/UNSPECIFIED/zones/us-east1-a/disks/disk"},
      {kBetaZone, "us-east1-a__us-east1-b", "projects/UNSPECIFIED/regions/us-east1/disks/disk"},
      {kZone, "us-east1-a__us-west1-b",
       "failed to get region from zones: multiple or no regions gotten from zones, got: map[us-east1:{} us-west1:{}]"},
      {kZone, "a__b",
       "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: a"},
  };
  for (const auto& c : cases) {
    const api::PersistentVolume volume = GceVolume(c.label, c.zones);
    const Result<std::string> handle = CsiVolumeHandle(*MigrationOf(volume.spec.source), volume);
    EXPECT_EQ(handle ? *handle : handle.error().message, c.want);
  }
}

TEST(CsiMigration, ReadsBothSpellingsOfAwsVolumes) {
  const struct {
    std::string_view id, want;
  } cases[] = {
      {"vol-1", "vol-1"},
      {"aws:///vol-1", "vol-1"},
      {"aws://us-east-1a/vol-1", "vol-1"},
      {"anything", "anything"},
      {"aws://vol-1", "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://vol-1)"},
  };
  for (const auto& c : cases) {
    api::VolumeSource source;
    source.aws_elastic_block_store.emplace().volume_id = c.id;
    const Result<std::string> handle = CsiVolumeHandle(*MigrationOf(source), source);
    EXPECT_EQ(handle ? *handle : handle.error().message, c.want);
  }
}

TEST(CsiMigration, KnowsOnlyManagedAzureDisks) {
  api::VolumeSource source;
  source.azure_disk.emplace().disk_uri = "/disks/a";
  source.azure_disk->kind = "MANAGED";
  EXPECT_EQ(*CsiVolumeHandle(*MigrationOf(source), source), "/disks/a");
  source.azure_disk->kind = "Dedicated";
  EXPECT_EQ(CsiVolumeHandle(*MigrationOf(source), source).error().message,
            "kind(Dedicated) is not supported in csi migration");
}

std::string Render(const std::optional<api::VolumeNodeAffinity>& affinity) {
  std::string text;
  if (!affinity || !affinity->required) return text;
  for (const api::NodeSelectorTerm& term : affinity->required->node_selector_terms) {
    text += "(";
    for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
      text += std::string(requirement.key.str()) + " " + requirement.op;
      for (const Symbol& value : requirement.values) text += " " + std::string(value.str());
      text += ";";
    }
    text += ")";
  }
  return text;
}

TEST(CsiMigration, SpeaksOfZonesInTheDriversLabel) {
  api::PersistentVolume by_label = GceVolume("topology.kubernetes.io/zone", "b__a__");
  EXPECT_EQ(Render(CsiNodeAffinity(*MigrationOf(by_label.spec.source), by_label)), "(topology.gke.io/zone In a b;)");

  // Affinity takes precedence over labels, and the beta region label becomes the current one.
  by_label.spec.node_affinity.emplace().required.emplace().node_selector_terms.push_back(
      {{{Symbol("failure-domain.beta.kubernetes.io/zone"), "In", {Symbol("c")}},
        {Symbol("failure-domain.beta.kubernetes.io/region"), "In", {Symbol("r")}},
        {Symbol("other"), "Exists", {}}},
       {}});
  EXPECT_EQ(Render(CsiNodeAffinity(*MigrationOf(by_label.spec.source), by_label)),
            "(topology.gke.io/zone In c;topology.kubernetes.io/region In r;other Exists;)");
}

TEST(CsiMigration, IsOnWhereTheNodeListsThePlugin) {
  const CsiMigration& gce = *MigrationOfPlugin("kubernetes.io/gce-pd");
  EXPECT_FALSE(IsMigratedOnNode(gce, nullptr));
  api::CSINode node;
  EXPECT_FALSE(IsMigratedOnNode(gce, &node));
  node.metadata.annotations.Set(std::string(kMigratedPluginsAnnotation), "kubernetes.io/aws-ebs,kubernetes.io/gce-pd");
  EXPECT_TRUE(IsMigratedOnNode(gce, &node));
  EXPECT_FALSE(IsMigratedOnNode(*MigrationOfPlugin("kubernetes.io/cinder"), &node));
}

}  // namespace
}  // namespace berth::plugins
