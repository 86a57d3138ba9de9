#include "config/old_settings.h"

#include <algorithm>

namespace berth::config {
namespace {

template <class Args>
Args* ArgsIn(Profile& profile, std::string_view plugin) {
  const auto it = std::ranges::find(profile.plugin_config, plugin, &PluginConfig::name);
  return it == profile.plugin_config.end() ? nullptr : std::get_if<Args>(&it->args);
}

}  // namespace

void ApplySettings(const OldSettings& settings, Profile& profile) {
  if (settings.disable_preemption) {
    const auto is_preemption = [](const auto& named) { return named.name == "DefaultPreemption"; };
    std::erase_if(profile.plugins.at(ExtensionPoint::kPostFilter).enabled, is_preemption);
    std::erase_if(profile.plugin_config, is_preemption);
  }
  if (auto* args = ArgsIn<VolumeBindingArgs>(profile, "VolumeBinding"); args && settings.bind_timeout_seconds) {
    args->bind_timeout_seconds = *settings.bind_timeout_seconds;
  }
  if (auto* args = ArgsIn<InterPodAffinityArgs>(profile, "InterPodAffinity");
      args && settings.hard_pod_affinity_weight) {
    args->hard_pod_affinity_weight = *settings.hard_pod_affinity_weight;
  }
}

}  // namespace berth::config
