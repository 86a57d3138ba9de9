#include "plugins/dynamic_resources/dynamic_resources.h"

#include <algorithm>

#include "plugins/args.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/hints.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::CycleState;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

using Claims = std::vector<const api::ResourceClaim*>;

}  // namespace

DynamicResources::DynamicResources(framework::Handle& handle) : handle_(handle), key_(handle.NewStateKey<Visited>()) {}

Result<std::unique_ptr<framework::Plugin>> DynamicResources::Create(const config::PluginArgs& args,
                                                                    framework::Handle& handle) {
  const auto mine = ReadArgs<config::DynamicResourcesArgs>(args, kName);
  if (!mine) return mine.error();
  return std::unique_ptr<framework::Plugin>(new DynamicResources(handle));
}

Status DynamicResources::PreEnqueue(const PodInfo& pod) const {
  const Result<Claims> claims = FindPodClaims(pod.pod(), handle_.objects());
  return claims ? Status::Success() : Status::UnschedulableAndUnresolvable(claims.error().message);
}

framework::PreFilterResult DynamicResources::PreFilter(CycleState& state, const PodInfo& pod) const {
  state.Put(key_, std::make_unique<Visited>());
  if (pod.pod().spec.resource_claims.empty()) return Status::Skip();
  const Result<Claims> claims = FindPodClaims(pod.pod(), handle_.objects());
  if (!claims) return Status::UnschedulableAndUnresolvable(claims.error().message);
  if (claims->empty()) return Status::Skip();
  return Status::UnschedulableAndUnresolvable("resource claims are not supported yet");
}

Status DynamicResources::RequireVisited(const CycleState& state) const {
  return state.Find(key_) ? Status::Success() : Status::Error("not found");
}

Status DynamicResources::Filter(const CycleState& state, const PodInfo&, const framework::NodeInfo&) const {
  return RequireVisited(state);
}

framework::PostFilterResult DynamicResources::PostFilter(CycleState& state, const PodInfo&,
                                                         const framework::NodeToStatus&) const {
  if (Status status = RequireVisited(state); !status.ok()) return status;
  return Status::Unschedulable("no new claims to deallocate");
}

framework::ScoreResult DynamicResources::Score(const CycleState& state, const PodInfo&,
                                               const framework::NodeInfo&) const {
  if (Status status = RequireVisited(state); !status.ok()) return status;
  return int64_t{0};
}

bool DynamicResources::ScoreRange(const CycleState& state, const PodInfo&, const framework::NodeColumns&,
                                  framework::NodeIndex, std::span<int64_t> scores) const {
  if (!state.Find(key_)) return false;
  std::fill(scores.begin(), scores.end(), int64_t{0});
  return true;
}

Status DynamicResources::Reserve(CycleState& state, const PodInfo&, const std::string&) {
  return RequireVisited(state);
}

void DynamicResources::Unreserve(CycleState&, const PodInfo&, const std::string&) {}

framework::PreBindPreFlightResult DynamicResources::PreBindPreFlight(const CycleState& state, const PodInfo&,
                                                                     const std::string&) {
  if (Status status = RequireVisited(state); !status.ok()) return {std::move(status), true};
  return {Status::Skip(), true};
}

Status DynamicResources::PreBind(CycleState& state, const PodInfo&, const std::string&) {
  return RequireVisited(state);
}

QueueingHint DynamicResources::AfterClaimChange(const PodInfo& pod, const api::ResourceClaim* before,
                                                const api::ResourceClaim* after) const {
  if (!after) return QueueingHint::kQueue;
  const Result<Claims> claims = FindPodClaims(pod.pod(), handle_.objects());
  if (!claims) return QueueingHint::kSkip;  // still waiting for another one
  // Devices that became free may serve anybody.
  if (before && before->status.allocation && !after->status.allocation) return QueueingHint::kQueue;
  return QueueIf(std::any_of(claims->begin(), claims->end(), [&](const api::ResourceClaim* claim) {
    return claim->metadata.uid == after->metadata.uid;
  }));
}

std::vector<framework::ClusterEventWithHint> DynamicResources::EventsToRegister() const {
  const auto after_pod_change = [this](const PodInfo& pod, const EventObject&, const EventObject& after) {
    const api::Pod* changed = after.As<api::Pod>();
    if (!changed) return QueueingHint::kQueue;
    if (changed->metadata.uid != pod.uid()) return QueueingHint::kSkip;
    return QueueIf(FindPodClaims(*changed, handle_.objects()).ok());
  };
  constexpr ActionType kAddOrUpdate = ActionType::kAdd | ActionType::kUpdate;
  constexpr ActionType kNodeOffersMore =
      ActionType::kAdd | ActionType::kUpdateNodeLabel | ActionType::kUpdateNodeAllocatable;
  return {{{EventResource::kNode, kNodeOffersMore}, {}},
          {{EventResource::kResourceClaim, kAddOrUpdate}, HintOf(this, &DynamicResources::AfterClaimChange)},
          {{EventResource::kPod, ActionType::kUpdatePodGeneratedResourceClaim}, after_pod_change},
          {{EventResource::kDeviceClass, kAddOrUpdate}, {}},
          {{EventResource::kResourceSlice, kAddOrUpdate}, {}}};
}

bool DynamicResources::Sign(const PodInfo& pod, framework::SignatureBuilder&) const {
  return pod.pod().spec.resource_claims.empty();
}

}  // namespace berth::plugins
