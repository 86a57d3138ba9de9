// What this program can run: every plugin of the registry, with the extension points it serves and whether it is on by
// default. Told by the plugins themselves: each is made once and asked.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/feature_gates.h"
#include "config/resolve.h"

namespace berth::cmd {

struct CatalogEntry {
  std::string name;
  config::PointSet points;
  bool placement_generate = false;
  bool placement_score = false;
  // kube-scheduler has it, berth does not yet: a file may name it, a profile cannot run it.
  bool missing = false;
};

// Those among what kube-scheduler registers that berth cannot run.
std::vector<CatalogEntry> MissingPlugins();

// Sorted by name.
Result<std::vector<CatalogEntry>> PluginCatalog(const config::FeatureGates& gates);

// For config::ResolveProfiles. `catalog` must outlive the result.
std::vector<config::KnownPlugin> KnownPlugins(const std::vector<CatalogEntry>& catalog);

}  // namespace berth::cmd
