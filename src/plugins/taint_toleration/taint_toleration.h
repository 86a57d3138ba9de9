// TaintToleration: NoSchedule and NoExecute taints reject pods that do not tolerate them; each untolerated
// PreferNoSchedule taint lowers the score.
//
// Nodes share a few taint sets, so the range forms answer once per set.
#pragma once

#include <memory>

#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class TaintToleration final : public framework::Plugin,
                              public framework::FilterPlugin,
                              public framework::PreScorePlugin,
                              public framework::ScorePlugin,
                              public framework::EnqueueExtensions,
                              public framework::SignPlugin,
                              public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "TaintToleration";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  explicit TaintToleration(bool comparison_operators) : comparison_operators_(comparison_operators) {}

  std::string_view name() const override { return kName; }
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNode; }
  bool FilterRange(const framework::CycleState& state, const framework::PodInfo& pod,
                   const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const override;

  // Nothing to prepare, but the point exists upstream and configurations may name it.
  framework::Status PreScore(framework::CycleState& state, const framework::PodInfo& pod,
                             std::span<const framework::NodeInfo* const> feasible) const override;
  bool ReadsFeasibleNodes(const framework::PodInfo&) const override { return false; }
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNode; }
  bool ScoreRange(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, framework::NodeIndex begin,
                  std::span<int64_t> scores) const override;
  framework::Normalization normalization() const override { return framework::Normalization::kByMaximumReversed; }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  bool Admits(std::span<const api::Taint> taints, const api::Pod& pod) const;
  int64_t CountUntoleratedPreferences(std::span<const api::Taint> taints, const api::Pod& pod) const;

  const bool comparison_operators_;
};

}  // namespace berth::plugins
