// The default plugins of a profile, and how the plugins in the file are merged into them. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/feature_gates.h"
#include "config/types.h"

namespace berth::config {

bool Names(const std::vector<Plugin>& plugins, std::string_view name);

Plugins DefaultPlugins(const FeatureGates& gates);

// Defaults first, in their order. A default that `custom` enables again keeps its place and takes the custom weight;
// everything else of `custom` follows in its own order, duplicates included (building the profile rejects them).
// Disabling "*" drops all defaults.
Plugins MergePlugins(const Plugins& defaults, const Plugins& custom);

// Every plugin enabled anywhere, sorted, each once.
std::vector<std::string> EnabledPluginNames(const Plugins& plugins);

}  // namespace berth::config
