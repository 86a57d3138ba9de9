// NodeVolumeLimits: a CSI driver can attach only so many volumes to a node, as the node's CSINode says. Counts the
// volumes of the node's pods and of VolumeAttachments, each once, against what the pod adds.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "plugins/node_volume_limits/attachable_volumes.h"

namespace berth::plugins {

class NodeVolumeLimits final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::EnqueueExtensions,
                               public framework::SignPlugin,
                               public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  // What the pod brings, or why that cannot be told.
  struct Wanted {
    framework::Status status;
    AttachableVolumes volumes;
  };
  // The same for every node: worked out once, never changed by AddPod or RemovePod, hence shared between clones.
  struct Precomputed {
    Wanted with_csi_node;
    Wanted without_csi_node;
    std::unordered_map<std::string_view, AttachableVolumes> attachments;  // by node name
  };
  struct State : framework::CopyableState<State> {
    std::shared_ptr<const Precomputed> precomputed;
  };

  explicit NodeVolumeLimits(framework::Handle& handle);
  std::shared_ptr<const Precomputed> Precompute(const framework::PodInfo& pod) const;
  framework::Status CheckDriversPresent(const AttachableVolumes& wanted, const api::CSINode* csi_node) const;

  framework::Handle& handle_;
  framework::StateKey<State> state_key_;
  const bool volume_limit_scaling_;
};

}  // namespace berth::plugins
