#include "plugins/node_resources/allocation_score.h"

#include <algorithm>

namespace berth::plugins {

std::vector<config::ResourceSpec> LastOfEach(std::span<const config::ResourceSpec> resources) {
  std::vector<config::ResourceSpec> unique;
  for (const config::ResourceSpec& resource : resources) {
    const auto same = std::ranges::find(unique, resource.name, &config::ResourceSpec::name);
    if (same == unique.end()) {
      unique.push_back(resource);
    } else {
      same->weight = resource.weight;
    }
  }
  return unique;
}

}  // namespace berth::plugins
