// ServiceAffinity: pods of one service go to nodes with equal values of some labels (filter), and are spread over the
// values of others (score). Replaced by InterPodAffinity and PodTopologySpread, which work per pod.
//
// The required values are those in the pod's nodeSelector and, for labels not named there, those of the node that the
// first pod of the service runs on: the first pod decides for the rest.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/symbol.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class ServiceAffinity final : public framework::Plugin,
                              public framework::PreFilterPlugin,
                              public framework::FilterPlugin,
                              public framework::ScorePlugin,
                              public framework::EnqueueExtensions,
                              public framework::SignPlugin {
 public:
  static constexpr std::string_view kName = "ServiceAffinity";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status AddPod(framework::CycleState& state, const framework::PodInfo& pod, const framework::PodInfo& other,
                           const framework::NodeInfo& node) const override;
  framework::Status RemovePod(framework::CycleState& state, const framework::PodInfo& pod,
                              const framework::PodInfo& other, const framework::NodeInfo& node) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;

  // How many pods of the service are on the node.
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::Normalization normalization() const override { return framework::Normalization::kOwn; }
  framework::Status NormalizeScore(const framework::CycleState& state, const framework::PodInfo& pod,
                                   std::span<framework::NodeScore> scores) const override;

  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;

 private:
  // A pod that belongs together with the incoming one.
  struct Peer {
    std::string uid;
    std::shared_ptr<const api::Node> node;
  };
  struct State : framework::CopyableState<State> {
    bool has_service = false;
    std::vector<Peer> peers;  // in the order in which they decide
  };

  ServiceAffinity(const config::ServiceAffinityArgs& args, framework::Handle& handle);

  const framework::Handle& handle_;
  const framework::StateKey<State> key_;
  const std::vector<Symbol> affinity_labels_;
  const std::vector<Symbol> spread_labels_;
};

}  // namespace berth::plugins
