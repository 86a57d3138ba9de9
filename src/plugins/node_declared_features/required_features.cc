#include "plugins/node_declared_features/required_features.h"

#include <algorithm>
#include <iterator>

namespace berth::plugins {
namespace {

bool RestartsAllContainers(const api::PodSpec& spec) {
  const auto has_rule = [](const api::Container& container) {
    return std::any_of(container.restart_policy_rules.begin(), container.restart_policy_rules.end(),
                       [](const api::ContainerRestartRule& rule) { return rule.action == "RestartAllContainers"; });
  };
  return std::any_of(spec.containers.begin(), spec.containers.end(), has_rule) ||
         std::any_of(spec.init_containers.begin(), spec.init_containers.end(), has_rule);
}

// Host network together with its own user namespace.
bool CombinesHostNetworkWithUserNamespace(const api::PodSpec& spec) {
  return spec.host_network && spec.host_users == false;
}

struct Feature {
  std::string_view name;
  bool (*required_by)(const api::PodSpec& spec);
};

constexpr Feature kFeatures[] = {
    {"RestartAllContainersOnContainerExits", RestartsAllContainers},
    {"UserNamespacesHostNetworkSupport", CombinesHostNetworkWithUserNamespace},
};
static_assert(std::size(kFeatures) <= 32, "FeatureSet has 32 bits");

}  // namespace

FeatureSet RequiredFeatures(const api::PodSpec& spec) {
  FeatureSet required = 0;
  for (size_t bit = 0; bit < std::size(kFeatures); ++bit) {
    if (kFeatures[bit].required_by(spec)) required |= FeatureSet{1} << bit;
  }
  return required;
}

FeatureSet KnownFeatures(std::span<const std::string> declared) {
  FeatureSet known = 0;
  for (size_t bit = 0; bit < std::size(kFeatures); ++bit) {
    if (std::find(declared.begin(), declared.end(), kFeatures[bit].name) != declared.end()) {
      known |= FeatureSet{1} << bit;
    }
  }
  return known;
}

}  // namespace berth::plugins
