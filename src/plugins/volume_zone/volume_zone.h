// VolumeZone: a pod must go where its bound volumes are. A volume's zone and region labels must match the node's; nodes
// without any such label are taken to be in a single-zone cluster and fit.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api/storage.h"
#include "base/result.h"
#include "base/symbol.h"
#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class VolumeZone final : public framework::Plugin,
                         public framework::PreFilterPlugin,
                         public framework::FilterPlugin,
                         public framework::EnqueueExtensions,
                         public framework::SignPlugin,
                         public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "VolumeZone";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  // What volumes require is in the signature.
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNode; }
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

  // One label of a volume: the node's value must be among these.
  struct Demand {
    Symbol key;
    std::vector<Symbol> values;  // sorted
    friend bool operator==(const Demand&, const Demand&) = default;
  };

 private:
  struct State : framework::CopyableState<State> {
    std::vector<Demand> demands;
  };

  explicit VolumeZone(framework::Handle& handle) : handle_(handle), state_key_(handle.NewStateKey<State>()) {}
  framework::Status CollectDemands(const api::Pod& pod, std::vector<Demand>& demands) const;
  framework::Status CheckUnbound(const api::PersistentVolumeClaim& claim) const;

  framework::Handle& handle_;
  framework::StateKey<State> state_key_;
};

}  // namespace berth::plugins
