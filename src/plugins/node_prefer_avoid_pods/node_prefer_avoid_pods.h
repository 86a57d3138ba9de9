// NodePreferAvoidPods: a node's annotation may list controllers whose pods should avoid it. Replaced by taints.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class NodePreferAvoidPods final : public framework::Plugin,
                                  public framework::ScorePlugin,
                                  public framework::SignPlugin {
 public:
  static constexpr std::string_view kName = "NodePreferAvoidPods";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  // 0 on a node that the pod should avoid, otherwise 100.
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNode; }
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
};

}  // namespace berth::plugins
