// NodeDeclaredFeatures: a pod that needs a feature only newer nodes have goes to a node that declares it.
#pragma once

#include <memory>

#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "plugins/node_declared_features/required_features.h"

namespace berth::plugins {

class NodeDeclaredFeatures final : public framework::Plugin,
                                   public framework::PreFilterPlugin,
                                   public framework::FilterPlugin,
                                   public framework::EnqueueExtensions,
                                   public framework::SignPlugin {
 public:
  static constexpr std::string_view kName = "NodeDeclaredFeatures";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNode; }
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;

 private:
  struct Required : framework::CopyableState<Required> {
    FeatureSet features = 0;
  };

  explicit NodeDeclaredFeatures(framework::Handle& handle);

  const framework::StateKey<Required> key_;
  const bool enabled_;
};

}  // namespace berth::plugins
