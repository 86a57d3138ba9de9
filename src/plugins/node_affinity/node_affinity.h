// NodeAffinity: the pod's nodeSelector and node affinity, and the affinity that the configuration adds for every pod of
// the profile. Required terms filter, preferred terms add their weights to the score.
#pragma once

#include <memory>
#include <optional>

#include "api/node_selector.h"
#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class NodeAffinity final : public framework::Plugin,
                           public framework::PreFilterPlugin,
                           public framework::FilterPlugin,
                           public framework::PreScorePlugin,
                           public framework::ScorePlugin,
                           public framework::EnqueueExtensions,
                           public framework::SignPlugin,
                           public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "NodeAffinity";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  // Terms that all name their nodes (metadata.name In …) narrow the search to those nodes.
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNode; }

  framework::Status PreScore(framework::CycleState& state, const framework::PodInfo& pod,
                             std::span<const framework::NodeInfo* const> feasible) const override;
  bool ReadsFeasibleNodes(const framework::PodInfo&) const override { return false; }
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNode; }
  framework::Normalization normalization() const override { return framework::Normalization::kByMaximum; }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  struct Required : framework::CopyableState<Required> {
    api::RequiredNodeAffinity affinity;
  };
  struct Preferred : framework::CopyableState<Preferred> {
    api::CompiledPreferredTerms terms;
  };

  explicit NodeAffinity(framework::Handle& handle);

  bool MatchesAddedAffinity(const api::Node& node) const;
  framework::QueueingHint AfterNodeChange(const framework::PodInfo& pod, const api::Node* before,
                                          const api::Node* after) const;

  const framework::Handle& handle_;
  const framework::StateKey<Required> required_key_;
  const framework::StateKey<Preferred> preferred_key_;
  std::optional<api::CompiledNodeSelector> added_required_;
  std::optional<api::CompiledPreferredTerms> added_preferred_;
};

}  // namespace berth::plugins
