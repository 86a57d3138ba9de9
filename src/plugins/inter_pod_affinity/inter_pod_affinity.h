// InterPodAffinity: pods that want to be, or must not be, in the same topology domain as other pods.
//
// Filter, in this order: the pod's required affinity, its required anti-affinity, and the required anti-affinity of
// pods that are already placed. Score: preferred terms of the pod and of placed pods, both ways, and required affinity
// of placed pods with a fixed weight.
//
// Also reads Namespaces and their labels. Answers kept across a change to those are stale.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/node_traits.h"
#include "framework/plugin.h"

namespace berth::plugins {

class InterPodAffinity final : public framework::Plugin,
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
  static constexpr std::string_view kName = "InterPodAffinity";
  static constexpr std::string_view kAffinityReason = "node(s) didn't match pod affinity rules";
  static constexpr std::string_view kAntiAffinityReason = "node(s) didn't match pod anti-affinity rules";
  static constexpr std::string_view kExistingAntiAffinityReason =
      "node(s) didn't satisfy existing pods anti-affinity rules";

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
  bool ReadsFeasibleNodes(const framework::PodInfo&) const override { return false; }
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

  // Both leave a state behind even when they skip, so that the end of a skip can be detected.
  bool CatchUpPreFilter(framework::CycleState& state, const framework::PodInfo& pod,
                        const framework::PodChange& change) const override;
  bool CatchUpPreScore(framework::CycleState& state, const framework::PodInfo& pod,
                       const framework::PodChange& change) const override;
  bool pre_score_reads_feasible_nodes() const override { return false; }

  bool FilterTraits(const framework::CycleState& state, std::vector<framework::NodeTrait>& traits) const override;
  bool ScoreTraits(const framework::CycleState& state, std::vector<framework::NodeTrait>& traits) const override;
  bool NormalizeClasses(const framework::CycleState& state, const framework::PodInfo& pod,
                        std::span<const framework::NodeIndex> nodes, std::span<const int64_t> scores,
                        std::span<uint8_t> points) const override;

  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;

  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  struct FilterState;
  struct ScoreState;
  enum class Verdict : uint8_t { kFits, kNoAffinity, kAntiAffinity, kExistingAntiAffinity };

  InterPodAffinity(const config::InterPodAffinityArgs& args, framework::Handle& handle);

  // The term of an incoming pod with the namespaces that its namespaceSelector matches added by name, so that pods can
  // be matched without looking up their namespaces.
  framework::AffinityTerm WithNamespacesResolved(framework::AffinityTerm term) const;
  std::vector<framework::AffinityTerm> WithNamespacesResolved(std::span<const framework::AffinityTerm> terms) const;
  // Null when the namespace is unknown.
  std::shared_ptr<const api::Namespace> NamespaceOf(const framework::PodInfo& pod) const;

  // A pod without preferences of its own is not scored when those of other pods are to be ignored.
  bool IsNeverScored(const framework::PodInfo& pod) const;

  static Verdict Judge(const FilterState& state, framework::NodeIndex node);
  void ChangePod(framework::CycleState& state, const framework::PodInfo& pod, const framework::PodInfo& other,
                 const framework::NodeInfo& node, int64_t delta) const;

  framework::QueueingHint AfterPodChange(const framework::PodInfo& pod, const api::Pod* before,
                                         const api::Pod* after) const;
  framework::QueueingHint AfterNodeChange(const framework::PodInfo& pod, const api::Node* before,
                                          const api::Node* after) const;

  // Constant after construction.
  framework::Handle& handle_;
  const config::InterPodAffinityArgs args_;
  const framework::StateKey<FilterState> filter_key_;
  const framework::StateKey<ScoreState> score_key_;
  // One status each, shared by all nodes that get it.
  const framework::Status no_affinity_;
  const framework::Status anti_affinity_;
  const framework::Status existing_anti_affinity_;
};

// Whether there are `terms` and the pod matches all of them. Namespace selectors are evaluated only for a namespace
// without labels.
bool MatchesAllTerms(std::span<const framework::AffinityTerm> terms, const api::Pod& pod);
bool MatchesAllTerms(std::span<const framework::AffinityTerm> terms, const framework::PodInfo& pod);

}  // namespace berth::plugins
