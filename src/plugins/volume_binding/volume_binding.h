// VolumeBinding: finds nodes where the pod's claims are, or can be, bound, and binds them for the chosen node.
//
// PreFilter turns the claims into a VolumePlan, Filter asks it per node, Reserve assumes its decisions for the chosen
// node, PreBind writes them and waits for the volume controller. Reserve asks the plan again instead of remembering
// what Filter found on every node: the answer is the same within a cycle, and Filter needs no lock.
//
// Pods whose claims differ only in name share answers: see volume_binding_lane.cc. Their plans find free volumes in
// StaticVolumes instead of listing the candidates of each claim.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/kept_state.h"
#include "framework/plugin.h"
#include "plugins/volume_binding/capacity_score.h"
#include "plugins/volume_binding/volume_plan.h"
#include "plugins/volume_binding/volume_reservation.h"

namespace berth::plugins {

class VolumeBinding final : public framework::Plugin,
                            public framework::PreFilterPlugin,
                            public framework::FilterPlugin,
                            public framework::PreScorePlugin,
                            public framework::ScorePlugin,
                            public framework::ReservePlugin,
                            public framework::PreBindPlugin,
                            public framework::EnqueueExtensions,
                            public framework::DeviceFollower,
                            public framework::SignPlugin,
                            public framework::ExplainsRejections,
                            public framework::KeepsState {
 public:
  static constexpr std::string_view kName = "VolumeBinding";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNodeAndDevices; }
  // From the answers kept.
  bool FilterRange(const framework::CycleState& state, const framework::PodInfo& pod,
                   const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const override;
  bool CatchUpDevices(framework::CycleState& state, const framework::PodInfo& pod,
                      std::vector<framework::NodeIndex>& changed) const override;
  framework::Status PreScore(framework::CycleState& state, const framework::PodInfo& pod,
                             std::span<const framework::NodeInfo* const> feasible) const override;
  bool ReadsFeasibleNodes(const framework::PodInfo&) const override { return false; }
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNodeAndDevices; }
  framework::Status Reserve(framework::CycleState& state, const framework::PodInfo& pod,
                            const std::string& node_name) override;
  void Unreserve(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name) override;
  framework::PreBindPreFlightResult PreBindPreFlight(const framework::CycleState& state, const framework::PodInfo& pod,
                                                     const std::string& node_name) override;
  framework::Status PreBind(framework::BindingHandle& handle, framework::CycleState& state,
                            const framework::PodInfo& pod, const std::string& node_name) override;
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;
  bool IsAtRest() const override {
    return assumed_.volumes.IsAtRest(handle_.objects().persistent_volumes) &&
           assumed_.claims.IsAtRest(handle_.objects().persistent_volume_claims);
  }
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const framework::PodInfo& pod) const override;

 private:
  // Kept between cycles of pods with one signature.
  struct Kept {
    // Versions of the objects when nodes were last checked.
    uint64_t classes = 0;
    uint64_t drivers = 0;
    uint64_t capacities = 0;
    uint64_t csi_nodes = 0;
    uint64_t rebuilds = 0;  // of StaticVolumes
    uint64_t cursor = 0;    // in its changes
    // By group: whether it had a volume for the one unbound claim. Not kept for several claims, which may compete for
    // volumes.
    std::vector<uint8_t> serves;
  };
  struct State : framework::CopyableState<State> {
    std::shared_ptr<const VolumePlan> plan;  // null when the pod has no claims
    bool all_bound = false;                  // as of Reserve
    std::optional<VolumeReservation> reservation;
    std::shared_ptr<Kept> kept;  // null in a cycle on its own
  };

  VolumeBinding(const config::VolumeBindingArgs& args, framework::Handle& handle);
  // Whether the pod has claims, and what is currently wrong with them.
  framework::Status CheckClaims(const api::Pod& pod, bool& has_claims) const;
  // The queueing hint for a pod that is gone from its node.
  framework::QueueingHint AfterPodGone(const framework::PodInfo& pod, const api::Pod* gone,
                                       const api::Pod* after) const;
  // False: pods with such a claim share no answers.
  bool SignBound(const api::PersistentVolumeClaim& claim, std::string& text) const;
  bool SignUnbound(const api::PersistentVolumeClaim& claim, std::string& text) const;
  std::shared_ptr<Kept> StartKeeping(const VolumePlan& plan) const;
  // List the nodes that a change to CSINodes, or to free volumes, may affect. False: start over.
  bool FollowCsiNodes(Kept& kept, const VolumePlan& plan, std::vector<framework::NodeIndex>& changed) const;
  bool FollowCapacities(Kept& kept, const VolumePlan& plan) const;
  bool FollowVolumes(Kept& kept, const VolumePlan& plan, std::vector<framework::NodeIndex>& changed) const;
  void ListNodesOf(const StaticVolumes::Group& group, std::vector<framework::NodeIndex>& changed) const;

  framework::Handle& handle_;
  framework::StateKey<State> state_key_;
  const base::Duration bind_timeout_;
  const std::optional<CapacityScore> capacity_score_;  // unset: nodes are not scored
  const framework::Objects& objects_;                  // followed by free_volumes_
  AssumedStorage assumed_;
  mutable StaticVolumes free_volumes_;
};

}  // namespace berth::plugins
