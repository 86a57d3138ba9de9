// NodeUnschedulable: cordoned nodes accept only pods that tolerate node.kubernetes.io/unschedulable:NoSchedule.
#pragma once

#include <memory>

#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class NodeUnschedulable final : public framework::Plugin,
                                public framework::FilterPlugin,
                                public framework::EnqueueExtensions,
                                public framework::SignPlugin,
                                public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "NodeUnschedulable";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  explicit NodeUnschedulable(bool comparison_operators);

  std::string_view name() const override { return kName; }
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNode; }
  bool FilterRange(const framework::CycleState& state, const framework::PodInfo& pod,
                   const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const override;
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  bool ToleratesCordon(const api::Pod& pod) const;

  const bool comparison_operators_;
  const api::Taint cordon_;
};

}  // namespace berth::plugins
