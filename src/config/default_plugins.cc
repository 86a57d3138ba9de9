#include "config/default_plugins.h"

#include <algorithm>
#include <set>

namespace berth::config {
namespace {

PluginSet MergeSet(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet merged;
  // Disabled plugins stay recorded: expanding multiPoint must not bring them back.
  for (const PluginSet* set : {&custom, &defaults}) {
    for (const Plugin& plugin : set->disabled) merged.disabled.push_back({plugin.name, 0});
  }
  std::vector<bool> placed(custom.enabled.size(), false);
  if (!Names(merged.disabled, "*")) {
    for (const Plugin& plugin : defaults.enabled) {
      if (Names(merged.disabled, plugin.name)) continue;
      // The last of several custom entries with this name is the one that replaces the default.
      const auto again = std::ranges::find(custom.enabled.rbegin(), custom.enabled.rend(), plugin.name, &Plugin::name);
      if (again == custom.enabled.rend()) {
        merged.enabled.push_back(plugin);
      } else {
        placed[static_cast<size_t>(custom.enabled.rend() - again) - 1] = true;
        merged.enabled.push_back(*again);
      }
    }
  }
  for (size_t i = 0; i < custom.enabled.size(); ++i) {
    if (!placed[i]) merged.enabled.push_back(custom.enabled[i]);
  }
  return merged;
}

}  // namespace

bool Names(const std::vector<Plugin>& plugins, std::string_view name) {
  return std::ranges::find(plugins, name, &Plugin::name) != plugins.end();
}

Plugins DefaultPlugins(const FeatureGates& gates) {
  Plugins plugins;
  std::vector<Plugin>& enabled = plugins.multi_point.enabled;
  enabled = {
      {"SchedulingGates", 0},    {"PrioritySort", 0},     {"NodeUnschedulable", 0}, {"NodeName", 0},
      {"TaintToleration", 3},    {"NodeAffinity", 2},     {"NodePorts", 0},         {"NodeResourcesFit", 1},
      {"VolumeRestrictions", 0}, {"NodeVolumeLimits", 0}, {"VolumeBinding", 0},     {"VolumeZone", 0},
      {"PodTopologySpread", 2},  {"InterPodAffinity", 2},
  };
  // Before preemption: releasing an idle claim is better than evicting a pod.
  if (gates.Enabled("DynamicResourceAllocation")) enabled.push_back({"DynamicResources", 2});
  enabled.push_back({"DefaultPreemption", 0});
  enabled.push_back({"NodeResourcesBalancedAllocation", 1});
  enabled.push_back({"ImageLocality", 1});
  enabled.push_back({"DefaultBinder", 0});
  if (gates.Enabled("NodeDeclaredFeatures")) enabled.push_back({"NodeDeclaredFeatures", 0});
  if (gates.Enabled("GangScheduling")) enabled.push_back({"GangScheduling", 0});
  if (gates.Enabled("TopologyAwareWorkloadScheduling")) {
    enabled.push_back({"TopologyPlacementGenerator", 0});
    enabled.push_back({"PodGroupPodsCount", 1});
  }
  return plugins;
}

Plugins MergePlugins(const Plugins& defaults, const Plugins& custom) {
  Plugins merged;
  for (int i = 0; i < kExtensionPointCount; ++i) merged.points[i] = MergeSet(defaults.points[i], custom.points[i]);
  merged.multi_point = MergeSet(defaults.multi_point, custom.multi_point);
  merged.placement_generate = MergeSet(defaults.placement_generate, custom.placement_generate);
  merged.placement_score = MergeSet(defaults.placement_score, custom.placement_score);
  return merged;
}

std::vector<std::string> EnabledPluginNames(const Plugins& plugins) {
  std::set<std::string> names;
  const auto add = [&](const PluginSet& set) {
    for (const Plugin& plugin : set.enabled) names.insert(plugin.name);
  };
  for (const PluginSet& set : plugins.points) add(set);
  add(plugins.multi_point);
  add(plugins.placement_generate);
  add(plugins.placement_score);
  return {names.begin(), names.end()};
}

}  // namespace berth::config
