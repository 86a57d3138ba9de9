// What this program can run: every plugin of the registry, with the extension points it serves and whether it is on by
// default. Reported by the plugins themselves: each is created once and queried.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/feature_gates.h"
#include "config/resolve.h"
#include "framework/registry.h"

namespace berth::cmd {

struct CatalogEntry {
  std::string name;
  config::PointSet points;
  bool placement_generate = false;
  bool placement_score = false;
  // kube-scheduler has it, berth does not yet: a file may name it, a profile cannot run it.
  bool missing = false;
  // Not empty: why it cannot be created, and so its points are unknown.
  std::string refused{};
};

// Those among what kube-scheduler registers that berth cannot run.
std::vector<CatalogEntry> MissingPlugins(const framework::Registry& registry);

// Sorted by name. Plugins that berth does not come with may want arguments: they get those of the first profile that
// has some for them.
Result<std::vector<CatalogEntry>> PluginCatalog(const framework::Registry& registry,
                                                const config::KubeSchedulerConfiguration& configuration,
                                                const config::FeatureGates& gates);

// Whether the plugins that berth does not come with take the arguments of each profile that names them; the loader has
// checked the others'. Reads as a scheduler would put it.
Result<void> CheckOwnPlugins(const framework::Registry& registry,
                             const config::KubeSchedulerConfiguration& configuration,
                             const config::FeatureGates& gates);

// For config::ResolveProfiles. `catalog` must outlive the result.
std::vector<config::KnownPlugin> KnownPlugins(const std::vector<CatalogEntry>& catalog);

}  // namespace berth::cmd
