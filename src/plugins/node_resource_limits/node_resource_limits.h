// NodeResourceLimits: one point for nodes that are large enough for the pod's limits, to break ties between otherwise
// equal nodes. Named ResourceLimitsPriority in Policies of Kubernetes up to 1.18.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class NodeResourceLimits final : public framework::Plugin, public framework::ScorePlugin, public framework::SignPlugin {
 public:
  static constexpr std::string_view kName = "NodeResourceLimits";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  // 1 when the node's allocatable cpu or memory covers the pod's limit on it, otherwise 0. Not normalized.
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNode; }
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
};

}  // namespace berth::plugins
