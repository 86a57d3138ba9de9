// DynamicResources: pods that use ResourceClaims.
//
// Pods without claims pass through untouched. Pods with claims wait at the door until their claims exist, and are then
// turned away with a reason that says so: allocating devices is not done here yet.
#pragma once

#include <memory>

#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/node_to_status.h"
#include "framework/plugin.h"

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
                               public framework::SignPlugin {
 public:
  static constexpr std::string_view kName = "DynamicResources";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::Status PreEnqueue(const framework::PodInfo& pod) const override;
  framework::PreFilterResult PreFilter(framework::CycleState& state, const framework::PodInfo& pod) const override;

  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNode; }

  // Has nothing to offer, but says so: its words are part of the message people see.
  framework::PostFilterResult PostFilter(framework::CycleState& state, const framework::PodInfo& pod,
                                         const framework::NodeToStatus& statuses) const override;

  // Zero everywhere, and present in the scores.
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNode; }
  bool ScoreRange(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, framework::NodeIndex begin,
                  std::span<int64_t> scores) const override;

  framework::Status Reserve(framework::CycleState& state, const framework::PodInfo& pod,
                            const std::string& node_name) override;
  void Unreserve(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node_name) override;
  framework::PreBindPreFlightResult PreBindPreFlight(const framework::CycleState& state, const framework::PodInfo& pod,
                                                     const std::string& node_name) override;
  framework::Status PreBind(framework::CycleState& state, const framework::PodInfo& pod,
                            const std::string& node_name) override;

  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;

 private:
  // Left by PreFilter. Its absence is how later points notice that PreFilter did not get this far.
  struct Visited : framework::CopyableState<Visited> {};

  explicit DynamicResources(framework::Handle& handle);

  framework::Status RequireVisited(const framework::CycleState& state) const;
  framework::QueueingHint AfterClaimChange(const framework::PodInfo& pod, const api::ResourceClaim* before,
                                           const api::ResourceClaim* after) const;

  const framework::Handle& handle_;
  const framework::StateKey<Visited> key_;
};

}  // namespace berth::plugins
