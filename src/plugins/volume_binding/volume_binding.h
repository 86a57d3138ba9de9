// VolumeBinding: finds nodes where the pod's claims are, or can be, bound, and binds them for the node chosen.
//
// PreFilter sorts the claims into a VolumePlan, Filter asks it per node, Reserve assumes what it says for the node
// chosen, PreBind writes that and waits for the volume controller. Reserve asks the plan again rather than remember
// what Filter found on every node: the answer is the same within a cycle, and Filter needs no lock.
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
                            public framework::SignPlugin,
                            public framework::ExplainsRejections {
 public:
  static constexpr std::string_view kName = "VolumeBinding";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::Status PreScore(framework::CycleState& state, const framework::PodInfo& pod,
                             std::span<const framework::NodeInfo* const> feasible) const override;
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  // Only pods without claims have a signature, and they score 0 everywhere.
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNode; }
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

 private:
  struct State : framework::CopyableState<State> {
    std::shared_ptr<const VolumePlan> plan;  // null when the pod has no claims
    bool all_bound = false;                  // as of Reserve
    std::optional<VolumeReservation> reservation;
  };

  VolumeBinding(const config::VolumeBindingArgs& args, framework::Handle& handle);
  // Whether the pod has claims, and what is wrong with them as they are.
  framework::Status CheckClaims(const api::Pod& pod, bool& has_claims) const;

  framework::Handle& handle_;
  framework::StateKey<State> state_key_;
  const base::Duration bind_timeout_;
  const std::optional<CapacityScore> capacity_score_;  // unset: nodes are not scored
  AssumedStorage assumed_;
};

}  // namespace berth::plugins
