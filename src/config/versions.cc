#include "config/versions.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/field_error.h"
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
    {FileVersion::kV1beta1, "kubescheduler.config.k8s.io/v1beta1"},
    {FileVersion::kV1alpha2, "kubescheduler.config.k8s.io/v1alpha2"},
    {FileVersion::kV1alpha1, "kubescheduler.config.k8s.io/v1alpha1"},
};

std::vector<Plugin> Unweighted(std::initializer_list<const char*> names) {
  std::vector<Plugin> plugins;
  for (const char* name : names) plugins.push_back({name, 0});
  return plugins;
}

// v1beta3 introduced multiPoint. No device claims yet, and one limit per kind of disk.
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

// NodeVolumeLimits has since moved work into PreFilter, so that point is included with its Filter.
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

// Scoring by allocation was a separate plugin, as was preferring to avoid nodes that a controller wants avoided.
Plugins DefaultPluginsOfV1beta1() {
  Plugins plugins = DefaultPluginsOfV1beta2();
  std::erase_if(plugins.at(kPreScore).enabled, [](const Plugin& plugin) { return plugin.name == "NodeResourcesFit"; });
  std::vector<Plugin>& score = plugins.at(kScore).enabled;
  std::ranges::find(score, "NodeResourcesFit", &Plugin::name)->name = "NodeResourcesLeastAllocated";
  score.insert(std::ranges::find(score, "PodTopologySpread", &Plugin::name), {"NodePreferAvoidPods", 10000});
  return plugins;
}

// The plugins of Kubernetes 1.18. What the scheduler itself did then (preemption, binding of volumes) is now done by
// plugins, and so is work that has moved into PreFilter and PreScore; SelectorSpread was called
// DefaultPodTopologySpread.
Plugins DefaultPluginsOfAlpha() {
  Plugins plugins = DefaultPluginsOfV1beta1();
  plugins.at(kFilter).enabled =
      Unweighted({"NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity",
                  "VolumeRestrictions", "TaintToleration", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits",
                  "AzureDiskLimits", "VolumeBinding", "VolumeZone", "InterPodAffinity", "PodTopologySpread"});
  plugins.at(kPreScore).enabled = Unweighted({"InterPodAffinity", "SelectorSpread", "TaintToleration",
                                              "PodTopologySpread", "NodeAffinity", "NodeResourcesBalancedAllocation"});
  plugins.at(kScore).enabled = {
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"InterPodAffinity", 1},
      {"NodeResourcesLeastAllocated", 1},
      {"NodeAffinity", 1},
      {"NodePreferAvoidPods", 10000},
      {"SelectorSpread", 1},
      {"TaintToleration", 1},
      {"PodTopologySpread", 1},
  };
  return plugins;
}

Plugins DefaultPluginsBeforeV1beta2(FileVersion version) {
  return IsAlpha(version) ? DefaultPluginsOfAlpha() : DefaultPluginsOfV1beta1();
}

// The enabled plugins come after the defaults that are not disabled; nothing is replaced.
PluginSet Append(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet merged;
  const auto disabled = [&](std::string_view name) {
    return std::ranges::find(custom.disabled, name, &Plugin::name) != custom.disabled.end();
  };
  if (!disabled("*")) {
    std::ranges::copy_if(defaults.enabled, std::back_inserter(merged.enabled),
                         [&](const Plugin& plugin) { return !disabled(plugin.name); });
  }
  merged.enabled.insert(merged.enabled.end(), custom.enabled.begin(), custom.enabled.end());
  return merged;
}

// Before multiPoint, enabling a plugin replaced the default at its own point, and disabled plugins did not matter
// elsewhere. Two lists were part of the format without being read: preEnqueue and multiPoint.
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

Plugins EffectivePlugins(FileVersion version, const Plugins& custom, const Plugins& provider) {
  Plugins merged = custom;
  for (int i = 0; i < kExtensionPointCount; ++i) merged.points[i] = Append(provider.points[i], custom.points[i]);
  // Scheduling gates came later, and no file of that time could mention them.
  if (IsBeforeV1beta2(version)) merged.at(kPreEnqueue) = provider.at(kPreEnqueue);
  merged.multi_point.disabled = {{"*", 0}};
  return merged;
}

Result<Plugins> PluginsOfProvider(std::string_view provider, FileVersion version) {
  const bool autoscaler = provider == "ClusterAutoscalerProvider";
  if (!autoscaler && provider != "DefaultProvider") {
    return Error::InvalidArgument(
        fmt::format("couldn't create scheduler using provider {}: algorithm provider {} is not registered",
                    api::Quote(provider), api::Quote(provider)));
  }
  Plugins plugins = DefaultPluginsBeforeV1beta2(version);
  if (autoscaler) {
    std::ranges::find(plugins.at(kScore).enabled, "NodeResourcesLeastAllocated", &Plugin::name)->name =
        "NodeResourcesMostAllocated";
  }
  return plugins;
}

Plugins EffectivePlugins(FileVersion version, const Plugins& custom, const FeatureGates& gates) {
  if (IsBeforeV1beta2(version)) return EffectivePlugins(version, custom, DefaultPluginsBeforeV1beta2(version));
  if (version == FileVersion::kV1) return MergePlugins(DefaultPlugins(gates), custom);
  Plugins merged =
      version == FileVersion::kV1beta3 ? MergePlugins(DefaultPluginsOfV1beta3(), custom) : MergeAsV1beta2(custom);
  merged.multi_point.disabled = {{"*", 0}};
  return merged;
}

std::vector<std::string_view> FieldsNotYetIn(FileVersion version) {
  switch (version) {
    case FileVersion::kV1:
      return {};
    case FileVersion::kV1beta3:
    case FileVersion::kV1beta2:
    case FileVersion::kV1beta1:
      return {"delayCacheUntilActive"};
    case FileVersion::kV1alpha2:
      return {"delayCacheUntilActive", "parallelism"};
    case FileVersion::kV1alpha1:
      return {"delayCacheUntilActive", "parallelism", "profiles", "extenders"};
  }
  return {};
}

std::vector<std::string_view> ProfileFieldsNotYetIn(FileVersion version) {
  if (version == FileVersion::kV1) return {};
  return {"percentageOfNodesToScore"};
}

std::vector<std::string_view> PluginPointsNotYetIn(FileVersion version) {
  if (!IsBeforeV1beta2(version)) return {};
  std::vector<std::string_view> points = {"preEnqueue", "multiPoint", "placementGenerate", "placementScore"};
  // v1alpha1 uses postFilter for what is now preScore.
  if (version == FileVersion::kV1alpha2) points.push_back("postFilter");
  if (version == FileVersion::kV1alpha1) points.push_back("preScore");
  return points;
}

std::vector<std::string_view> FieldsDroppedSince(FileVersion version) {
  if (version < FileVersion::kV1beta2) return {};
  std::vector<std::string_view> fields = {"healthzBindAddress", "metricsBindAddress"};
  if (version == FileVersion::kV1alpha1) fields.push_back("failureDomains");
  return fields;
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
