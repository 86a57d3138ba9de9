#include "plugin_catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/cluster.h"
#include "config/load.h"
#include "engine/profile.h"
#include "framework/plugin.h"
#include "plugins/registry.h"

namespace berth::cmd {

namespace {

using config::ExtensionPoint;

// Plugins are only made here, never run: nobody writes.
class SilentApi final : public framework::ApiWriter {
 public:
  framework::Status Bind(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return {}; }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return {}; }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return {};
  }
};

template <class Interface>
void AddIfServed(const framework::Plugin& plugin, ExtensionPoint point, config::PointSet& points) {
  if (dynamic_cast<const Interface*>(&plugin) != nullptr) points.Add(point);
}

config::PointSet PointsOf(const framework::Plugin& plugin) {
  config::PointSet points;
  AddIfServed<framework::PreEnqueuePlugin>(plugin, ExtensionPoint::kPreEnqueue, points);
  AddIfServed<framework::QueueSortPlugin>(plugin, ExtensionPoint::kQueueSort, points);
  AddIfServed<framework::PreFilterPlugin>(plugin, ExtensionPoint::kPreFilter, points);
  AddIfServed<framework::FilterPlugin>(plugin, ExtensionPoint::kFilter, points);
  AddIfServed<framework::PostFilterPlugin>(plugin, ExtensionPoint::kPostFilter, points);
  AddIfServed<framework::PreScorePlugin>(plugin, ExtensionPoint::kPreScore, points);
  AddIfServed<framework::ScorePlugin>(plugin, ExtensionPoint::kScore, points);
  AddIfServed<framework::ReservePlugin>(plugin, ExtensionPoint::kReserve, points);
  AddIfServed<framework::PermitPlugin>(plugin, ExtensionPoint::kPermit, points);
  AddIfServed<framework::PreBindPlugin>(plugin, ExtensionPoint::kPreBind, points);
  AddIfServed<framework::BindPlugin>(plugin, ExtensionPoint::kBind, points);
  AddIfServed<framework::PostBindPlugin>(plugin, ExtensionPoint::kPostBind, points);
  return points;
}

// Arguments a plugin accepts when nobody gives any.
config::PluginArgs AcceptableArgs(const std::string& plugin, const config::FeatureGates& gates) {
  // The one plugin without defaults: it cannot score without a shape.
  if (plugin == "RequestedToCapacityRatio") {
    return config::RequestedToCapacityRatioArgs{.shape = {{0, 0}, {100, 10}}};
  }
  return config::DefaultArgs(plugin, gates);
}

}  // namespace

// Alpha plugins for groups of pods, which kube-scheduler registers whether or not their gates are on.
std::vector<CatalogEntry> MissingPlugins() {
  using enum ExtensionPoint;
  std::vector<CatalogEntry> missing = {
      {.name = "GangScheduling", .points = {kPreEnqueue, kReserve, kPermit}, .missing = true},
      {.name = "PodGroupPodsCount", .points = {}, .placement_score = true, .missing = true},
      {.name = "TopologyPlacementGenerator", .points = {}, .placement_generate = true, .missing = true},
  };
  const framework::Registry registry = plugins::InTreeRegistry();
  std::erase_if(missing, [&](const CatalogEntry& entry) { return registry.Find(entry.name) != nullptr; });
  return missing;
}

Result<std::vector<CatalogEntry>> PluginCatalog(const config::FeatureGates& gates) {
  const framework::Registry registry = plugins::InTreeRegistry();
  cluster::Cluster cluster(gates);
  const base::FakeClock clock{base::Time()};
  base::Random random(1);
  SilentApi api;
  framework::WaitingPods waiting_pods;
  const engine::Environment environment{cluster, gates, clock, random, api, waiting_pods};
  // Something for plugins to hold on to while they are made: the smallest profile there is.
  config::Profile smallest{
      .scheduler_name = "catalog", .percentage_of_nodes_to_score = {}, .plugins = {}, .plugin_config = {}};
  smallest.plugins.multi_point.enabled = {{"PrioritySort", 0}, {"DefaultBinder", 0}};
  Result<std::unique_ptr<engine::Profile>> profile = engine::Profile::Create(smallest, registry, environment);
  if (!profile) return profile.error();

  std::vector<CatalogEntry> catalog;
  for (const auto& [name, entry] : registry.entries()) {
    Result<std::unique_ptr<framework::Plugin>> plugin = entry.factory(AcceptableArgs(name, gates), **profile);
    if (!plugin) return Error{plugin.error().code, fmt::format("plugin \"{}\": {}", name, plugin.error().message)};
    catalog.push_back({.name = name, .points = PointsOf(**plugin)});
  }
  for (CatalogEntry& entry : MissingPlugins()) catalog.push_back(std::move(entry));
  std::ranges::sort(catalog, {}, &CatalogEntry::name);
  return catalog;
}

std::vector<config::KnownPlugin> KnownPlugins(const std::vector<CatalogEntry>& catalog) {
  std::vector<config::KnownPlugin> known;
  for (const CatalogEntry& entry : catalog) {
    known.push_back({entry.name, entry.points, entry.placement_generate, entry.placement_score});
  }
  return known;
}

}  // namespace berth::cmd
