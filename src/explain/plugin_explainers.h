// PluginExplainers: what the plugins of a profile have to say about one pod, each asked for its explainer once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/profile.h"
#include "framework/explanation.h"

namespace berth::explain {

class PluginExplainers {
 public:
  // Both outlive it.
  PluginExplainers(const engine::Profile& profile, const framework::PodInfo& pod) : profile_(profile), pod_(pod) {}

  // Of a plugin that offers none, and of what is no plugin (an extender), one that knows what the Status says.
  const framework::RejectionExplainer& Of(std::string_view plugin) const;

 private:
  std::unique_ptr<framework::RejectionExplainer> Make(std::string_view plugin) const;

  const engine::Profile& profile_;
  const framework::PodInfo& pod_;
  mutable std::map<std::string, std::unique_ptr<framework::RejectionExplainer>, std::less<>> made_;
};

}  // namespace berth::explain
