// What this program can run: every registered plugin, with the extension points it serves and whether it is enabled by
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
  // kube-scheduler has it, berth does not yet: a file may name it, but no profile can run it.
  bool missing = false;
  // If set: why it cannot be created; its extension points are unknown then.
  std::string refused{};
};

// The plugins that kube-scheduler registers and berth cannot run.
std::vector<CatalogEntry> MissingPlugins(const framework::Registry& registry);

// Sorted by name. Plugins other than berth's may need arguments: they get those of the first profile that has some for
// them.
Result<std::vector<CatalogEntry>> PluginCatalog(const framework::Registry& registry,
                                                const config::KubeSchedulerConfiguration& configuration,
                                                const config::FeatureGates& gates);

// Checks that plugins other than berth's accept the arguments of each profile that names them; the loader has checked
// berth's. The messages are those of a scheduler that starts.
Result<void> CheckOwnPlugins(const framework::Registry& registry,
                             const config::KubeSchedulerConfiguration& configuration,
                             const config::FeatureGates& gates);

// For config::ResolveProfiles. `catalog` must outlive the result.
std::vector<config::KnownPlugin> KnownPlugins(const std::vector<CatalogEntry>& catalog);

}  // namespace berth::cmd
