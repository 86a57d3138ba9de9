#include "config/strict_upstream.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/versions.h"

namespace berth::config {
namespace {

using enum ExtensionPoint;

constexpr std::string_view kFit = "NodeResourcesFit";
constexpr std::string_view kSpread = "PodTopologySpread";
constexpr std::string_view kVolumeLimits = "NodeVolumeLimits";

std::vector<Plugin>::iterator FindIn(std::vector<Plugin>& plugins, std::string_view name) {
  return std::ranges::find(plugins, name, &Plugin::name);
}

class ProfileReducer {
 public:
  ProfileReducer(Profile& profile, std::string path, std::vector<std::string>& notes)
      : profile_(profile), path_(std::move(path)), notes_(notes) {}

  void Run() {
    MoveVolumeLimits();
    for (std::string_view name :
         {"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"}) {
      MoveScoring(name);
    }
    MoveSelectorSpread();
    for (std::string_view name : {"NodeLabel", "NodePreferAvoidPods", "NodeResourceLimits", "ServiceAffinity"}) {
      if (Drop(name)) Note(name, "is dropped: kube-scheduler has nothing like it");
    }
  }

 private:
  void Note(std::string_view plugin, std::string_view what) {
    notes_.push_back(fmt::format("{}: {} {}", path_, plugin, what));
  }

  // Removes the plugin from all lists, with its arguments. False when it was in none.
  bool Drop(std::string_view name) {
    size_t dropped = 0;
    const auto from = [&](PluginSet& set) {
      dropped += std::erase_if(set.enabled, [&](const Plugin& plugin) { return plugin.name == name; });
    };
    for (PluginSet& set : profile_.plugins.points) from(set);
    from(profile_.plugins.multi_point);
    std::erase_if(profile_.plugin_config, [&](const PluginConfig& config) { return config.name == name; });
    return dropped > 0;
  }

  bool Runs(ExtensionPoint point, std::string_view name) {
    std::vector<Plugin>& enabled = profile_.plugins.at(point).enabled;
    std::vector<Plugin>& everywhere = profile_.plugins.multi_point.enabled;
    return FindIn(enabled, name) != enabled.end() || FindIn(everywhere, name) != everywhere.end();
  }

  void Enable(ExtensionPoint point, std::string_view name, int32_t weight = 0) {
    if (!Runs(point, name)) profile_.plugins.at(point).enabled.push_back({std::string(name), weight});
  }

  template <class Args>
  Args& ArgsOf(std::string_view plugin) {
    auto it = std::ranges::find(profile_.plugin_config, plugin, &PluginConfig::name);
    if (it == profile_.plugin_config.end()) {
      it = profile_.plugin_config.insert(it, {.name = std::string(plugin), .args = Args{}});
    }
    return std::get<Args>(it->args);
  }

  void MoveVolumeLimits() {
    for (std::string_view name : {"EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"}) {
      if (!Drop(name)) continue;
      Note(name, "becomes NodeVolumeLimits, which counts such volumes through their CSI drivers");
      Enable(kPreFilter, kVolumeLimits);
      Enable(kFilter, kVolumeLimits);
    }
  }

  void MoveScoring(std::string_view name) {
    std::vector<Plugin>& score = profile_.plugins.at(kScore).enabled;
    const auto old = FindIn(score, name);
    if (old == score.end() || FindIn(score, kFit) != score.end()) {
      if (Drop(name)) Note(name, "is dropped: NodeResourcesFit scores already, and can have one strategy only");
      return;
    }
    const ScoringStrategy strategy = StrategyOf(name);
    ArgsOf<NodeResourcesFitArgs>(kFit).scoring_strategy = strategy;
    old->name = kFit;
    Drop(name);
    Enable(kPreScore, kFit);
    Note(name, "becomes the scoring strategy of NodeResourcesFit");
  }

  ScoringStrategy StrategyOf(std::string_view name) {
    ScoringStrategy strategy;
    if (name == "NodeResourcesLeastAllocated") {
      strategy.resources = ArgsOf<NodeResourcesLeastAllocatedArgs>(name).resources;
    } else if (name == "NodeResourcesMostAllocated") {
      strategy.type = ScoringStrategyType::kMostAllocated;
      strategy.resources = ArgsOf<NodeResourcesMostAllocatedArgs>(name).resources;
    } else {
      const auto& args = ArgsOf<RequestedToCapacityRatioArgs>(name);
      strategy = {ScoringStrategyType::kRequestedToCapacityRatio, args.resources, args.shape};
    }
    return strategy;
  }

  void MoveSelectorSpread() {
    const std::string_view old_name = "SelectorSpread";
    std::vector<Plugin>& score = profile_.plugins.at(kScore).enabled;
    const auto old = FindIn(score, old_name);
    const int32_t weight = old == score.end() ? 1 : old->weight;
    if (!Drop(old_name)) return;
    Note(old_name, "becomes PodTopologySpread with its default constraints");
    Enable(kPreScore, kSpread);
    Enable(kScore, kSpread, weight);
    auto& args = ArgsOf<PodTopologySpreadArgs>(kSpread);
    if (args.default_constraints.empty()) args.defaulting_type = SpreadDefaulting::kSystem;
  }

  Profile& profile_;
  std::string path_;
  std::vector<std::string>& notes_;
};

}  // namespace

bool IsUpstreamPlugin(std::string_view name) {
  constexpr std::string_view kGone[] = {
      "NodeLabel",
      "NodePreferAvoidPods",
      "NodeResourceLimits",
      "NodeResourcesLeastAllocated",
      "NodeResourcesMostAllocated",
      "ServiceAffinity",
      "RequestedToCapacityRatio",
      "SelectorSpread",
  };
  return !IsInTreeVolumeLimit(name) && std::ranges::find(kGone, name) == std::end(kGone);
}

std::vector<std::string> KeepUpstreamOnly(KubeSchedulerConfiguration& configuration) {
  std::vector<std::string> notes;
  const std::string_view own = "is dropped: kube-scheduler does not have this field";
  if (!configuration.plugin_libraries.empty()) notes.push_back(fmt::format("pluginLibraries {}", own));
  if (configuration.always_check_all_predicates) notes.push_back(fmt::format("alwaysCheckAllPredicates {}", own));
  if (!configuration.node_sampling.empty()) notes.push_back(fmt::format("nodeSampling {}", own));
  if (configuration.legacy_plugins) notes.push_back(fmt::format("legacyPlugins {}", own));
  configuration.plugin_libraries.clear();
  configuration.always_check_all_predicates = false;
  configuration.node_sampling.clear();
  configuration.legacy_plugins = false;
  for (size_t i = 0; i < configuration.profiles.size(); ++i) {
    ProfileReducer(configuration.profiles[i], fmt::format("profiles[{}]", i), notes).Run();
  }
  return notes;
}

}  // namespace berth::config
