// The plugins that each predicate and priority of a Policy stands for, as in Kubernetes 1.22, with one addition: where
// a plugin has since moved work into PreFilter or PreScore, that point is included. Internal to this folder.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/types.h"

namespace berth::config {

struct PluginAt {
  ExtensionPoint point;
  std::string_view plugin;
};

// A predicate or a priority. Several may name the same plugin: it runs once, where it was first named.
struct PolicyRule {
  std::string_view name;
  std::vector<PluginAt> plugins;
};

// In the order they run.
std::span<const PolicyRule> KnownPredicates();
// Sorted by name, which is the order their plugins are listed in.
std::span<const PolicyRule> KnownPriorities();
// Null when there is none of that name. Old spellings are accepted: PodFitsPorts, ServiceSpreadingPriority.
const PolicyRule* FindPredicate(std::string_view name);
const PolicyRule* FindPriority(std::string_view name);

// Always enabled, whatever the Policy lists.
bool IsMandatoryPredicate(std::string_view name);
// What a Policy without the list gets.
std::span<const std::string_view> DefaultPredicates();
struct WeightedPriority {
  std::string_view name;
  int64_t weight;
};
std::span<const WeightedPriority> DefaultPriorities();

}  // namespace berth::config
