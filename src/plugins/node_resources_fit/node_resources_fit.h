// NodeResourcesFit: the pod's requests must fit into what the node has left; scores by how full the node would be, with
// one of three strategies.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "plugins/node_resources/scored_resources.h"
#include "plugins/node_resources/scoring_rules.h"
#include "plugins/node_resources_fit/fit_check.h"

namespace berth::dra {
class Inventory;
}

namespace berth::plugins {

class NodeResourcesFit final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PreScorePlugin,
                               public framework::ScorePlugin,
                               public framework::EnqueueExtensions,
                               public framework::SignPlugin,
                               public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "NodeResourcesFit";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNodeAndPods; }
  bool FilterRange(const framework::CycleState& state, const framework::PodInfo& pod,
                   const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const override;
  void FilterList(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, std::span<const framework::NodeIndex> nodes,
                  std::span<uint8_t> verdicts) const override;

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

  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  struct Request : framework::CopyableState<Request> {
    framework::Resource amounts;
  };
  struct Demand : framework::CopyableState<Demand> {
    std::vector<int64_t> amounts;  // by scored resource
  };
  using Rule = std::variant<LeastAllocated, MostAllocated, UtilizationCurve>;

  NodeResourcesFit(const config::NodeResourcesFitArgs& args, Rule rule, framework::Handle& handle);

  framework::Resource RequestOf(const framework::PodInfo& pod) const;
  framework::QueueingHint AfterPodEvent(const framework::PodInfo& pod, const api::Pod* before,
                                        const api::Pod* after) const;
  framework::QueueingHint AfterDeviceClassChange(const framework::PodInfo& pod, const api::DeviceClass* before,
                                                 const api::DeviceClass* after) const;
  // Null when device classes provide no resource.
  const dra::ClassNames* classes() const;
  framework::QueueingHint AfterNodeChange(const framework::PodInfo& pod, const api::Node* before,
                                          const api::Node* after) const;

  const framework::ClusterView& cluster_;  // for explanations
  const framework::StateKey<Request> request_key_;
  const framework::StateKey<Demand> demand_key_;
  const framework::PodRequestOptions incoming_options_;
  const bool in_place_pod_level_resize_;
  const bool extended_resources_;  // device classes may provide some
  const dra::Inventory& inventory_;
  const IgnoredResources ignored_;
  const ScoredResources scored_;
  const Rule rule_;
};

}  // namespace berth::plugins
