#include "plugin_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cluster/cluster.h"
#include "config/load.h"
#include "engine/profile.h"
#include "framework/plugin.h"
#include "plugins/registry.h"

namespace berth::cmd {

namespace {

using config::ExtensionPoint;

// Plugins are only created here, never run: nothing is written.
class SilentApi final : public framework::SimpleApiWriter {
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
  if (dynamic_cast<const Interface*>(&plugin) != nullptr && plugin.Serves(point)) points.Add(point);
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

constexpr std::string_view kNodeResourcesFit = "NodeResourcesFit";

// Arguments that a plugin accepts if none are given.
config::PluginArgs AcceptableArgs(const std::string& plugin, const config::FeatureGates& gates) {
  // The one plugin without defaults: it cannot score without a shape.
  if (plugin == "RequestedToCapacityRatio") {
    return config::RequestedToCapacityRatioArgs{.shape = {{0, 0}, {100, 10}}};
  }
  return config::DefaultArgs(plugin, gates);
}

// As written; none if the profile has none for it.
config::PluginArgs ArgsAsWritten(const config::Profile& profile, const std::string& plugin) {
  const auto found = std::ranges::find(profile.plugin_config, plugin, &config::PluginConfig::name);
  if (found == profile.plugin_config.end() || found->raw_args.empty()) return {};
  return config::RawArgs{found->raw_args};
}

config::PluginArgs ArgsAsWritten(const config::KubeSchedulerConfiguration& configuration, const std::string& plugin) {
  for (const config::Profile& profile : configuration.profiles) {
    config::PluginArgs args = ArgsAsWritten(profile, plugin);
    if (!std::holds_alternative<std::monostate>(args)) return args;
  }
  return {};
}

// Creates plugins outside of any scheduler, with an empty cluster.
class Workbench {
 public:
  explicit Workbench(const config::FeatureGates& gates) : gates_(gates) {}

  // What plugins need while they are created: the smallest possible profile.
  Result<void> SetUp() {
    config::Profile smallest{
        .scheduler_name = "catalog", .percentage_of_nodes_to_score = {}, .plugins = {}, .plugin_config = {}};
    smallest.plugins.multi_point.enabled = {{"PrioritySort", 0}, {"DefaultBinder", 0}};
    auto profile =
        engine::Profile::Create(smallest, in_tree_, {cluster_, gates_, clock_, random_, api_, waiting_pods_, posted_});
    if (!profile) return profile.error();
    profile_ = std::move(*profile);
    return {};
  }

  bool IsOwn(const std::string& plugin) const { return in_tree_.Find(plugin) == nullptr; }
  Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginFactory& factory,
                                                  const config::PluginArgs& args) {
    return factory(args, *profile_);
  }

 private:
  const framework::Registry in_tree_ = plugins::InTreeRegistry();
  const config::FeatureGates& gates_;
  cluster::Cluster cluster_{gates_};
  const base::FakeClock clock_{base::Time()};
  base::Random random_{1};
  SilentApi api_;
  framework::WaitingPods waiting_pods_;
  framework::PostedWork posted_;
  std::unique_ptr<engine::Profile> profile_;
};

}  // namespace

// Alpha plugins for pod groups, which kube-scheduler registers whether or not their gates are enabled.
std::vector<CatalogEntry> MissingPlugins(const framework::Registry& registry) {
  using enum ExtensionPoint;
  std::vector<CatalogEntry> missing = {
      {.name = "GangScheduling", .points = {kPreEnqueue, kPermit}, .missing = true},
      {.name = "PodGroupPodsCount", .points = {}, .placement_score = true, .missing = true},
      {.name = "TopologyPlacementGenerator", .points = {}, .placement_generate = true, .missing = true},
  };
  std::erase_if(missing, [&](const CatalogEntry& entry) { return registry.Find(entry.name) != nullptr; });
  return missing;
}

Result<std::vector<CatalogEntry>> PluginCatalog(const framework::Registry& registry,
                                                const config::KubeSchedulerConfiguration& configuration,
                                                const config::FeatureGates& gates) {
  Workbench workbench(gates);
  if (Result<void> ready = workbench.SetUp(); !ready) return ready.error();
  std::vector<CatalogEntry> catalog;
  for (const auto& [name, entry] : registry.entries()) {
    const bool own = workbench.IsOwn(name);
    const auto plugin =
        workbench.Make(entry.factory, own ? ArgsAsWritten(configuration, name) : AcceptableArgs(name, gates));
    if (plugin) {
      // The one plugin here that upstream also uses for pod groups.
      catalog.push_back(
          {.name = name, .points = PointsOf(**plugin), .placement_score = !own && name == kNodeResourcesFit});
    } else if (own) {
      catalog.push_back({.name = name, .points = {}, .refused = plugin.error().message});
    } else {
      return Error{plugin.error().code, fmt::format("plugin \"{}\": {}", name, plugin.error().message)};
    }
  }
  for (CatalogEntry& entry : MissingPlugins(registry)) catalog.push_back(std::move(entry));
  std::ranges::sort(catalog, {}, &CatalogEntry::name);
  return catalog;
}

Result<void> CheckOwnPlugins(const framework::Registry& registry,
                             const config::KubeSchedulerConfiguration& configuration,
                             const config::FeatureGates& gates) {
  Workbench workbench(gates);
  if (Result<void> ready = workbench.SetUp(); !ready) return ready.error();
  for (const config::Profile& profile : configuration.profiles) {
    std::set<std::string> named;
    for (const config::Plugin& plugin : profile.plugins.multi_point.enabled) named.insert(plugin.name);
    for (const config::PluginSet& set : profile.plugins.points) {
      for (const config::Plugin& plugin : set.enabled) named.insert(plugin.name);
    }
    for (const std::string& name : named) {
      const framework::PluginFactory* factory = registry.Find(name);
      if (factory == nullptr || !workbench.IsOwn(name)) continue;
      const auto plugin = workbench.Make(*factory, ArgsAsWritten(profile, name));
      if (plugin) continue;
      return Error{plugin.error().code,
                   fmt::format("initializing profiles: creating profile for scheduler name {}: initializing plugin "
                               "\"{}\": {}",
                               profile.scheduler_name, name, plugin.error().message)};
    }
  }
  return {};
}

std::vector<config::KnownPlugin> KnownPlugins(const std::vector<CatalogEntry>& catalog) {
  std::vector<config::KnownPlugin> known;
  for (const CatalogEntry& entry : catalog) {
    known.push_back({entry.name, entry.points, entry.placement_generate, entry.placement_score});
  }
  return known;
}

}  // namespace berth::cmd
