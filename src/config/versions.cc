#include "config/versions.h"

#include <algorithm>

#include "config/default_plugins.h"
#include "config/file_format.h"

namespace berth::config {
namespace {

using enum ExtensionPoint;

struct NamedVersion {
  FileVersion version;
  std::string_view name;
};

constexpr NamedVersion kVersions[] = {
    {FileVersion::kV1, kApiVersion},
    {FileVersion::kV1beta3, "kubescheduler.config.k8s.io/v1beta3"},
    {FileVersion::kV1beta2, "kubescheduler.config.k8s.io/v1beta2"},
};

std::vector<Plugin> Unweighted(std::initializer_list<const char*> names) {
  std::vector<Plugin> plugins;
  for (const char* name : names) plugins.push_back({name, 0});
  return plugins;
}

// v1beta3 introduced multiPoint. No claims to devices yet, and one limit per kind of disk.
Plugins DefaultPluginsOfV1beta3() {
  Plugins plugins;
  plugins.multi_point.enabled = {
      {"PrioritySort", 0},     {"NodeUnschedulable", 0},  {"NodeName", 0},
      {"TaintToleration", 3},  {"NodeAffinity", 2},       {"NodePorts", 0},
      {"NodeResourcesFit", 1}, {"VolumeRestrictions", 0}, {"EBSLimits", 0},
      {"GCEPDLimits", 0},      {"NodeVolumeLimits", 0},   {"AzureDiskLimits", 0},
      {"VolumeBinding", 0},    {"VolumeZone", 0},         {"PodTopologySpread", 2},
      {"InterPodAffinity", 2}, {"DefaultPreemption", 0},  {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},    {"DefaultBinder", 0},      {"SchedulingGates", 0},
  };
  return plugins;
}

// Before multiPoint, a choice replaced the defaults at its own point, and nothing else had to know what was disabled.
// Two lists were in the format without being read: preEnqueue and multiPoint.
Plugins MergeAsV1beta2(const Plugins& custom) {
  Plugins read = custom;
  read.at(kPreEnqueue) = {};
  read.multi_point = {};
  read.placement_generate = {};
  read.placement_score = {};
  Plugins merged = MergePlugins(DefaultPluginsOfV1beta2(), read);
  for (PluginSet& set : merged.points) set.disabled.clear();
  return merged;
}

}  // namespace

std::string_view NameOf(FileVersion version) {
  return std::ranges::find(kVersions, version, &NamedVersion::version)->name;
}

std::optional<FileVersion> ParseFileVersion(std::string_view api_version) {
  const auto it = std::ranges::find(kVersions, api_version, &NamedVersion::name);
  if (it == std::end(kVersions)) return std::nullopt;
  return it->version;
}

// NodeVolumeLimits has since moved work into PreFilter, so that point comes with its Filter.
Plugins DefaultPluginsOfV1beta2() {
  Plugins plugins;
  plugins.at(kPreEnqueue).enabled = Unweighted({"SchedulingGates"});
  plugins.at(kQueueSort).enabled = Unweighted({"PrioritySort"});
  plugins.at(kPreFilter).enabled =
      Unweighted({"NodeResourcesFit", "NodePorts", "VolumeRestrictions", "PodTopologySpread", "InterPodAffinity",
                  "VolumeBinding", "VolumeZone", "NodeAffinity", "NodeVolumeLimits"});
  plugins.at(kFilter).enabled =
      Unweighted({"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
                  "VolumeRestrictions", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits",
                  "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity"});
  plugins.at(kPostFilter).enabled = Unweighted({"DefaultPreemption"});
  plugins.at(kPreScore).enabled = Unweighted({"InterPodAffinity", "PodTopologySpread", "TaintToleration",
                                              "NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation"});
  plugins.at(kScore).enabled = {
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"InterPodAffinity", 1},
      {"NodeResourcesFit", 1},
      {"NodeAffinity", 1},
      {"PodTopologySpread", 2},
      {"TaintToleration", 1},
  };
  plugins.at(kReserve).enabled = Unweighted({"VolumeBinding"});
  plugins.at(kPreBind).enabled = Unweighted({"VolumeBinding"});
  plugins.at(kBind).enabled = Unweighted({"DefaultBinder"});
  return plugins;
}

Plugins EffectivePlugins(FileVersion version, const Plugins& custom, const FeatureGates& gates) {
  if (version == FileVersion::kV1) return MergePlugins(DefaultPlugins(gates), custom);
  Plugins merged =
      version == FileVersion::kV1beta3 ? MergePlugins(DefaultPluginsOfV1beta3(), custom) : MergeAsV1beta2(custom);
  merged.multi_point.disabled = {{"*", 0}};
  return merged;
}

std::vector<std::string_view> FieldsNotYetIn(FileVersion version) {
  if (version == FileVersion::kV1) return {};
  return {"delayCacheUntilActive"};
}

std::vector<std::string_view> ProfileFieldsNotYetIn(FileVersion version) {
  if (version == FileVersion::kV1) return {};
  return {"percentageOfNodesToScore"};
}

std::vector<std::string_view> FieldsDroppedSince(FileVersion version) {
  if (version != FileVersion::kV1beta2) return {};
  return {"healthzBindAddress", "metricsBindAddress"};
}

bool IsInTreeVolumeLimit(std::string_view plugin) {
  constexpr std::string_view kLimits[] = {"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"};
  return std::ranges::find(kLimits, plugin) != std::end(kLimits);
}

bool UsesInTreeVolumeLimits(const KubeSchedulerConfiguration& configuration) {
  const auto is_limit = [](const auto& named) { return IsInTreeVolumeLimit(named.name); };
  for (const Profile& profile : configuration.profiles) {
    for (const PluginSet& set : profile.plugins.points) {
      if (std::ranges::any_of(set.enabled, is_limit)) return true;
    }
    if (std::ranges::any_of(profile.plugin_config, is_limit)) return true;
  }
  return false;
}

}  // namespace berth::config
