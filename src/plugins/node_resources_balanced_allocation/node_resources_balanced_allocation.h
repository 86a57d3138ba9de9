// NodeResourcesBalancedAllocation: prefers nodes whose resource use becomes more even with the pod.
#pragma once

#include <memory>
#include <vector>

#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "plugins/node_resources/scored_resources.h"

namespace berth::plugins {

class NodeResourcesBalancedAllocation final : public framework::Plugin,
                                              public framework::PreScorePlugin,
                                              public framework::ScorePlugin,
                                              public framework::SignPlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesBalancedAllocation";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  // Skips pods that request none of the resources: they would all land on the one best balanced node.
  framework::Status PreScore(framework::CycleState& state, const framework::PodInfo& pod,
                             std::span<const framework::NodeInfo* const> feasible) const override;
  bool ReadsFeasibleNodes(const framework::PodInfo&) const override { return false; }
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNodeAndPods; }
  bool ScoreRange(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, framework::NodeIndex begin,
                  std::span<int64_t> scores) const override;
  bool ScoreList(const framework::CycleState& state, const framework::PodInfo& pod,
                 const framework::NodeColumns& columns, std::span<const framework::NodeIndex> nodes,
                 std::span<int64_t> scores) const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;

 private:
  struct Demand : framework::CopyableState<Demand> {
    std::vector<int64_t> amounts;  // by scored resource
  };

  NodeResourcesBalancedAllocation(const config::NodeResourcesBalancedAllocationArgs& args, framework::Handle& handle);

  const framework::StateKey<Demand> key_;
  const ScoredResources resources_;
};

}  // namespace berth::plugins
