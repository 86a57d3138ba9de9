// PluginExplainers: the explainers of a profile's plugins for one pod, each made once.
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
  // Both must outlive it.
  PluginExplainers(const engine::Profile& profile, const framework::PodInfo& pod) : profile_(profile), pod_(pod) {}

  // For a plugin that offers none, and for what is no plugin (an extender), one that only knows the Status.
  const framework::RejectionExplainer& Of(std::string_view plugin) const;

 private:
  std::unique_ptr<framework::RejectionExplainer> Make(std::string_view plugin) const;

  const engine::Profile& profile_;
  const framework::PodInfo& pod_;
  mutable std::map<std::string, std::unique_ptr<framework::RejectionExplainer>, std::less<>> made_;
};

}  // namespace berth::explain
