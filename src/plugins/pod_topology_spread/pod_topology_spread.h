// PodTopologySpread: keeps the pods a constraint selects evenly spread over topology domains (zones, hosts, …).
//
// Filter: placing the pod must not make its domain exceed the emptiest eligible domain by more than maxSkew.
// Score: the fewer matching pods in the node's domains, the better; domains of keys with many values weigh more.
//
// Constraints come from the pod or, when it has none, from the configuration, with the selector taken from the services
// and the controller of the pod. The built-in defaults are soft and do not require that a node has every topology key.
//
// Also reads Services, ReplicationControllers, ReplicaSets and StatefulSets (default constraints only). Answers and
// signatures kept across a change to one of those are stale.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/node_traits.h"
#include "framework/plugin.h"
#include "plugins/pod_topology_spread/spread_constraint.h"

namespace berth::plugins {

class PodTopologySpread final : public framework::Plugin,
                                public framework::PreFilterPlugin,
                                public framework::FilterPlugin,
                                public framework::PreScorePlugin,
                                public framework::ScorePlugin,
                                public framework::IncrementalState,
                                public framework::TellsNodesApart,
                                public framework::EnqueueExtensions,
                                public framework::SignPlugin,
                                public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "PodTopologySpread";
  static constexpr std::string_view kSkewReason = "node(s) didn't match pod topology spread constraints";
  static constexpr std::string_view kMissingLabelReason =
      "node(s) didn't match pod topology spread constraints (missing required label)";

  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }

  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status AddPod(framework::CycleState& state, const framework::PodInfo& pod, const framework::PodInfo& other,
                           const framework::NodeInfo& node) const override;
  framework::Status RemovePod(framework::CycleState& state, const framework::PodInfo& pod,
                              const framework::PodInfo& other, const framework::NodeInfo& node) const override;

  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  bool FilterRange(const framework::CycleState& state, const framework::PodInfo& pod,
                   const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const override;
  void FilterList(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, std::span<const framework::NodeIndex> nodes,
                  std::span<uint8_t> verdicts) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kTopologyDomain; }

  framework::Status PreScore(framework::CycleState& state, const framework::PodInfo& pod,
                             std::span<const framework::NodeInfo* const> feasible) const override;
  bool ReadsFeasibleNodes(const framework::PodInfo& pod) const override;
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  bool ScoreRange(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, framework::NodeIndex begin,
                  std::span<int64_t> scores) const override;
  bool ScoreList(const framework::CycleState& state, const framework::PodInfo& pod,
                 const framework::NodeColumns& columns, std::span<const framework::NodeIndex> nodes,
                 std::span<int64_t> scores) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kTopologyDomain; }
  framework::Normalization normalization() const override { return framework::Normalization::kOwn; }
  framework::Status NormalizeScore(const framework::CycleState& state, const framework::PodInfo& pod,
                                   std::span<framework::NodeScore> scores) const override;
  bool NormalizeRange(const framework::CycleState& state, const framework::PodInfo& pod,
                      std::span<const uint8_t> feasible, std::span<const int64_t> scores,
                      std::span<uint8_t> points) const override;

  bool CatchUpPreFilter(framework::CycleState& state, const framework::PodInfo& pod,
                        const framework::PodChange& change) const override;
  bool CatchUpPreScore(framework::CycleState& state, const framework::PodInfo& pod,
                       const framework::PodChange& change) const override;
  bool ChooseAmong(framework::CycleState& state, const framework::PodInfo& pod,
                   std::span<const uint8_t> feasible) const override;

  bool FilterTraits(const framework::CycleState& state, std::vector<framework::NodeTrait>& traits) const override;
  bool ScoreTraits(const framework::CycleState& state, std::vector<framework::NodeTrait>& traits) const override;
  bool ChooseAmongClasses(framework::CycleState& state, const framework::PodInfo& pod,
                          std::span<const framework::NodeClass> feasible) const override;
  bool NormalizeClasses(const framework::CycleState& state, const framework::PodInfo& pod,
                        std::span<const framework::NodeIndex> nodes, std::span<const int64_t> scores,
                        std::span<uint8_t> points) const override;

  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;

  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  struct FilterState;
  struct ScoreState;
  enum class Verdict : uint8_t { kFits, kMissingLabel, kTooSkewed };

  PodTopologySpread(const config::PodTopologySpreadArgs& args, framework::Handle& handle);

  // The pod's own constraints, or else the default ones. Errors are worded for the calling extension point.
  Result<std::vector<SpreadConstraint>> HardConstraints(const framework::PodInfo& pod) const;
  Result<std::vector<SpreadConstraint>> SoftConstraints(const framework::PodInfo& pod) const;
  Result<std::vector<SpreadConstraint>> ConstraintsOf(const api::Pod& pod, std::string_view when_unsatisfiable) const;
  // Whether nodes that lack one of the keys are ignored. Only the built-in defaults are more lenient, so that pods are
  // spread over hosts even where nodes have no zone.
  bool RequiresEveryKey(const framework::PodInfo& pod) const;

  static Verdict Judge(const FilterState& state, framework::NodeIndex node);
  void ChangePod(framework::CycleState& state, const framework::PodInfo& pod, const framework::PodInfo& other,
                 const framework::NodeInfo& node, int64_t delta) const;

  framework::QueueingHint AfterPodChange(const framework::PodInfo& pod, const api::Pod* before,
                                         const api::Pod* after) const;
  framework::QueueingHint AfterNodeChange(const framework::PodInfo& pod, const api::Node* before,
                                          const api::Node* after) const;

  // Constant after construction.
  framework::Handle& handle_;
  const SpreadGates gates_;
  const bool system_defaults_;
  std::vector<api::TopologySpreadConstraint> default_constraints_;
  const framework::StateKey<FilterState> filter_key_;
  const framework::StateKey<ScoreState> score_key_;
  // One status each, shared by all nodes that get it.
  const framework::Status missing_label_;
  const framework::Status too_skewed_;
};

}  // namespace berth::plugins
