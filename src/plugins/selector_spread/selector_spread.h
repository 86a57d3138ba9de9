// SelectorSpread: spreads the pods of a service or controller over nodes and, with twice the weight, over zones. Pods
// with spread constraints of their own are left to PodTopologySpread, whose default constraints replaced this plugin.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "api/selector.h"
#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class SelectorSpread final : public framework::Plugin,
                             public framework::PreScorePlugin,
                             public framework::ScorePlugin,
                             public framework::SignPlugin {
 public:
  static constexpr std::string_view kName = "SelectorSpread";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::Status PreScore(framework::CycleState& state, const framework::PodInfo& pod,
                             std::span<const framework::NodeInfo* const> feasible) const override;
  // How many pods of the same service or controller are on the node. Must not be kept: services and controllers come
  // and go.
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::Normalization normalization() const override { return framework::Normalization::kOwn; }
  framework::Status NormalizeScore(const framework::CycleState& state, const framework::PodInfo& pod,
                                   std::span<framework::NodeScore> scores) const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;

 private:
  struct State : framework::CopyableState<State> {
    api::Selector selector;
  };

  explicit SelectorSpread(framework::Handle& handle);

  const framework::Handle& handle_;
  const framework::StateKey<State> key_;
};

}  // namespace berth::plugins
