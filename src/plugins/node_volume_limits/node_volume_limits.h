// NodeVolumeLimits: a CSI driver can attach only a limited number of volumes to a node, as the node's CSINode says.
// Counts the volumes of the node's pods and of VolumeAttachments, each once, and adds those of the pod.
//
// Filter counts afresh. Pods that add the same number of new volumes of the same drivers share answers: for them nodes
// are judged by the counts that AttachedVolumes keeps.
#pragma once

#include <memory>
#include <optional>
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
#include "plugins/node_volume_limits/attached_volumes.h"

namespace berth::plugins {

class NodeVolumeLimits final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::EnqueueExtensions,
                               public framework::DeviceFollower,
                               public framework::SignPlugin,
                               public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNodeAndDevices; }
  // From the counts kept.
  bool FilterRange(const framework::CycleState& state, const framework::PodInfo& pod,
                   const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const override;
  bool CatchUpDevices(framework::CycleState& state, const framework::PodInfo& pod,
                      std::vector<framework::NodeIndex>& changed) const override;
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  // The volumes of the pod, or why they are unknown.
  struct Wanted {
    framework::Status status;
    AttachableVolumes volumes;
  };
  // The same for every node: computed once, never changed by AddPod or RemovePod, hence shared between clones.
  struct Precomputed {
    Wanted with_csi_node;
    Wanted without_csi_node;
    std::unordered_map<std::string_view, AttachableVolumes> attachments;  // by node name
  };
  // For pods of one signature.
  struct KeptWish {
    std::string driver;
    int64_t count = 0;                                   // of new volumes
    std::vector<const AttachedVolumes::Volume*> in_use;  // by some pod; new only on nodes without such a pod
  };
  struct KeptWishes {
    std::vector<KeptWish> with_csi_node;
    std::vector<KeptWish> without_csi_node;
    bool any_in_use = false;
  };
  struct Kept {
    KeptWishes wishes;
    uint64_t rebuilds = 0;  // of the counts when nodes were last checked
    uint64_t cursor = 0;    // in the changes of the counts
    // Of the current pod, once Filter was called.
    std::shared_ptr<const Precomputed> precomputed;
  };
  struct State : framework::CopyableState<State> {
    std::shared_ptr<const Precomputed> precomputed;  // null where answers are kept
    std::shared_ptr<Kept> kept;                      // between cycles; null in a cycle on its own
  };

  explicit NodeVolumeLimits(framework::Handle& handle);
  std::shared_ptr<const Precomputed> Precompute(const framework::PodInfo& pod) const;
  std::shared_ptr<const Precomputed> PrecomputedOf(const framework::CycleState& state,
                                                   const framework::PodInfo& pod) const;
  framework::Status CheckDriversPresent(const AttachableVolumes& wanted, const api::CSINode* csi_node) const;
  // Unset: the pod's volumes are unknown.
  std::optional<KeptWishes> CollectWishes(const framework::PodInfo& pod) const;
  static uint8_t VerdictOn(const AttachedVolumes::OfNode& node, const Kept& kept);

  framework::Handle& handle_;
  framework::StateKey<State> state_key_;
  const bool volume_limit_scaling_;
  mutable AttachedVolumes attached_;
};

}  // namespace berth::plugins
