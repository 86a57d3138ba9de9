#include "explain/plugin_explainers.h"

namespace berth::explain {

std::unique_ptr<framework::RejectionExplainer> PluginExplainers::Make(std::string_view plugin) const {
  const auto* explains = dynamic_cast<const framework::ExplainsRejections*>(profile_.FindPlugin(plugin));
  std::unique_ptr<framework::RejectionExplainer> own = explains ? explains->ExplainRejections(pod_) : nullptr;
  return own ? std::move(own) : std::make_unique<framework::RejectionExplainer>();
}

const framework::RejectionExplainer& PluginExplainers::Of(std::string_view plugin) const {
  auto found = made_.find(plugin);
  if (found == made_.end()) found = made_.emplace(plugin, Make(plugin)).first;
  return *found->second;
}

}  // namespace berth::explain
