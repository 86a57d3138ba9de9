// DynamicResources: pods that use ResourceClaims, or extended resources that device classes serve.
//
// PreEnqueue holds pods back until their claims exist. Filter asks the allocator what each node could give to the
// claims that have no devices yet, and whether the devices of the others can be used there. Reserve puts the chosen
// node's devices aside ("in flight"), PreBind writes them into the claims, and waits where devices must be prepared
// first. When no node fits, PostFilter deallocates a claim that keeps the pod from every node, if no other pod uses it.
#pragma once

#include <memory>

#include "config/plugin_args.h"
#include "dra/features.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/node_to_status.h"
#include "framework/plugin.h"
#include "plugins/dynamic_resources/claim_state.h"

namespace berth::dra {
class Inventory;
}

namespace berth::plugins {

class DynamicResources final : public framework::Plugin,
                               public framework::PreEnqueuePlugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PostFilterPlugin,
                               public framework::ScorePlugin,
                               public framework::ReservePlugin,
                               public framework::PreBindPlugin,
                               public framework::EnqueueExtensions,
                               public framework::DeviceFollower,
                               public framework::SignPlugin,
                               public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "DynamicResources";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::Status PreEnqueue(const framework::PodInfo& pod) const override;
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;

  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNodeAndDevices; }
  // From what is kept.
  bool FilterRange(const framework::CycleState& state, const framework::PodInfo& pod,
                   const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const override;
  bool CatchUpDevices(framework::CycleState& state, const framework::PodInfo& pod,
                      std::vector<framework::NodeIndex>& changed) const override;

  // Decides, and has the claim written.
  framework::PostFilterResult PostFilter(framework::CycleState& state, const framework::PodInfo& pod,
                                         const framework::NodeToStatus& statuses) const override;

  // The earlier alternatives of requests the node can serve, the higher.
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNodeAndDevices; }
  framework::Normalization normalization() const override { return framework::Normalization::kByMaximum; }
  bool ScoreRange(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, framework::NodeIndex begin,
                  std::span<int64_t> scores) const override;

  std::shared_ptr<const api::Pod> OnNode(const framework::CycleState& state, const framework::PodInfo& pod,
                                         const std::string& node_name) const override;
  framework::Status Reserve(framework::CycleState& state, const framework::PodInfo& pod,
                            const std::string& node_name) override;
  void Unreserve(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name) override;
  framework::PreBindPreFlightResult PreBindPreFlight(const framework::CycleState& state, const framework::PodInfo& pod,
                                                     const std::string& node_name) override;
  framework::Status PreBind(framework::BindingHandle& handle, framework::CycleState& state,
                            const framework::PodInfo& pod, const std::string& node_name) override;

  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;

  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

  // What this cycle worked out about the pod's claims; null when it has none.
  const CycleClaims* ClaimsOf(const framework::CycleState& state) const;

 private:
  DynamicResources(const config::DynamicResourcesArgs& args, framework::Handle& handle);

  // Null: PreFilter did not get this far, which is an error wherever its work is needed.
  const ClaimState* StateOf(const framework::CycleState& state) const { return state.Find(key_); }
  // The claim as the plugin should see it: an explanation may try the pod with changed claims.
  dra::ClaimPtr AsShown(dra::ClaimPtr claim) const;
  framework::Status PrepareClaim(CycleClaims& cycle, size_t index) const;
  framework::Status CheckClasses(const api::ResourceClaim& claim) const;
  framework::Status CheckClass(const std::string& class_name, const std::string& request) const;
  void AddExtendedClaim(CycleClaims& cycle, const framework::PodInfo& pod) const;

  // The claim for extended resources as the node needs it, null when it needs none; or why the node will not do.
  framework::Status FilterExtended(const CycleClaims& cycle, const framework::PodInfo& pod,
                                   const framework::NodeInfo& node, NodeAllocation& allocation) const;
  // Whether the claim's devices cannot be used on the node.
  static bool IsElsewhere(const CycleClaims& cycle, size_t index, const framework::NodeInfo& node);
  // The same, or they are not ready and will not be.
  bool IsUnavailable(const CycleClaims& cycle, size_t index, const framework::NodeInfo& node) const;
  // The claims that have no devices yet, with the one for extended resources as the node needs it.
  static std::vector<const api::ResourceClaim*> ClaimsToAllocate(const CycleClaims& cycle,
                                                                 const NodeAllocation& allocation);
  framework::Status AllocateOn(const CycleClaims& cycle, const framework::NodeInfo& node, NodeAllocation& allocation,
                               bool needs_results = true) const;

  // With the gate DRANodeAllocatableResources. Whether an allocated claim, whose devices take of the node's allocatable
  // resources, is in use by another pod there.
  framework::Status CheckSoleUser(const framework::PodInfo& pod, const framework::NodeInfo& node,
                                  const api::ResourceClaim& claim) const;
  // The same gate: what the allocated devices take of the node goes into `allocation`; or why the pod does not fit with
  // that.
  framework::Status TakeAllocatable(const CycleClaims& cycle, const framework::PodInfo& pod,
                                    const framework::NodeInfo& node, NodeAllocation& allocation) const;

  // What the node can give now, from what is kept if that is current.
  DeviceAnswer AnswerFor(KeptAnswers& kept, const CycleClaims& cycle, const framework::PodInfo& pod,
                         const framework::NodeInfo& node) const;
  // Equal for nodes that give equal answers.
  dra::AnswerKey GroupOf(const CycleClaims& cycle, const framework::PodInfo& pod,
                         const framework::NodeInfo& node) const;
  DeviceAnswer Ask(const CycleClaims& cycle, const framework::PodInfo& pod, const framework::NodeInfo& node) const;
  static int64_t ScoreFor(const CycleClaims& cycle, const NodeAllocation& allocation);
  // Whether all claims of the pod have still to be allocated; their specs then tell pods apart.
  bool SignClaims(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const;

  // Of an allocated claim: whether its devices are ready; an error when preparing one has failed.
  static Result<bool> IsReady(const api::ResourceClaim& claim);
  bool IsOverdue(const api::ResourceClaim& claim) const;

  // In PreBind, off the scheduling thread.
  Result<dra::ClaimPtr> BindClaim(framework::BindingHandle& handle, CycleClaims& cycle, size_t index,
                                  const framework::PodInfo& pod, const std::string& node_name);
  Result<dra::ClaimPtr> WriteClaim(framework::BindingHandle& handle, const dra::ClaimPtr& read,
                                   const std::optional<api::AllocationResult>& allocation,
                                   const framework::PodInfo& pod);
  framework::Status AwaitDevices(framework::BindingHandle& handle, CycleClaims& cycle,
                                 const framework::CycleState& state, const framework::PodInfo& pod,
                                 const std::string& node_name);

  framework::QueueingHint AfterClaimChange(const framework::PodInfo& pod, const api::ResourceClaim* before,
                                           const api::ResourceClaim* after) const;

  framework::Handle& handle_;
  const framework::Objects& objects_;  // what the inventory follows
  dra::Inventory& inventory_;
  const dra::Features features_;
  const base::Duration filter_timeout_;
  const base::Duration binding_timeout_;
  const framework::StateKey<ClaimState> key_;
};

// Whether the pod is among those for which the claim is reserved.
bool IsReservedFor(const api::ResourceClaim& claim, const framework::PodInfo& pod);

}  // namespace berth::plugins
