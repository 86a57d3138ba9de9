// VolumeRestrictions: disks that only one pod may use. Two pods on a node conflict over the same GCE, AWS, iSCSI or RBD
// disk; a claim with ReadWriteOncePod is for one pod in the whole cluster.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class VolumeRestrictions final : public framework::Plugin,
                                 public framework::PreFilterPlugin,
                                 public framework::FilterPlugin,
                                 public framework::EnqueueExtensions,
                                 public framework::SignPlugin,
                                 public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "VolumeRestrictions";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status AddPod(framework::CycleState& state, const framework::PodInfo& pod, const framework::PodInfo& other,
                           const framework::NodeInfo& node) const override;
  framework::Status RemovePod(framework::CycleState& state, const framework::PodInfo& pod,
                              const framework::PodInfo& other, const framework::NodeInfo& node) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  // A claim in use makes the answer depend on the whole cluster, but such a pod has no signature.
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNodeAndPods; }
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  struct State : framework::CopyableState<State> {
    std::set<std::string> exclusive_claims;  // of the pod, with ReadWriteOncePod
    int conflicts = 0;                       // uses of these claims by pods on nodes

    int UsesBy(const framework::PodInfo& other) const;
  };

  explicit VolumeRestrictions(framework::Handle& handle) : handle_(handle), state_key_(handle.NewStateKey<State>()) {}

  framework::Handle& handle_;
  framework::StateKey<State> state_key_;
};

}  // namespace berth::plugins
