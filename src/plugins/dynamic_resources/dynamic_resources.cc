#include "plugins/dynamic_resources/dynamic_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "dra/inventory.h"
#include "framework/pod_resources.h"
#include "plugins/args.h"
#include "plugins/dynamic_resources/extended_resources.h"
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

constexpr base::Duration kDefaultBindingTimeout = std::chrono::seconds(600);

// Tells claims apart that exist in memory only.
std::string NewClaimUid() {
  static std::atomic<uint64_t> made = 0;
  return fmt::format("extended-resources-{}", ++made);
}

}  // namespace

bool IsReservedFor(const api::ResourceClaim& claim, const PodInfo& pod) { return dra::IsReservedFor(claim, pod.uid()); }

DynamicResources::DynamicResources(const config::DynamicResourcesArgs& args, framework::Handle& handle)
    : handle_(handle),
      objects_(handle.objects()),
      inventory_(handle.inventory()),
      features_(dra::Features::Of(handle.gates())),
      filter_timeout_(args.has_filter_timeout ? args.filter_timeout : base::Duration::zero()),
      binding_timeout_(args.has_binding_timeout ? args.binding_timeout : kDefaultBindingTimeout),
      key_(handle.NewStateKey<ClaimState>()) {}

Result<std::unique_ptr<framework::Plugin>> DynamicResources::Create(const config::PluginArgs& args,
                                                                    framework::Handle& handle) {
  const auto mine = ReadArgs<config::DynamicResourcesArgs>(args, kName);
  if (!mine) return mine.error();
  return std::unique_ptr<framework::Plugin>(new DynamicResources(*mine, handle));
}

const CycleClaims* DynamicResources::ClaimsOf(const CycleState& state) const {
  const ClaimState* found = StateOf(state);
  return found ? found->cycle.get() : nullptr;
}

Status DynamicResources::PreEnqueue(const PodInfo& pod) const {
  if (pod.pod().spec.resource_claims.empty()) return Status::Success();
  const Result<std::vector<PodClaim>> claims = FindPodClaims(pod.pod(), inventory_.claims());
  return claims ? Status::Success() : Status::UnschedulableAndUnresolvable(claims.error().message);
}

framework::PreFilterResult DynamicResources::PreFilter(CycleState& state, const PodInfo& pod) const {
  auto fresh = std::make_unique<ClaimState>();
  // Answers outlive the cycle where the state does.
  if (const ClaimState* before = StateOf(state)) fresh->kept = before->kept;
  state.Put(key_, std::move(fresh));
  const bool extended = AsksForServedResource(pod, inventory_.class_names());
  if (pod.pod().spec.resource_claims.empty() && !extended) return Status::Skip();
  Result<std::vector<PodClaim>> claims = FindPodClaims(pod.pod(), inventory_.claims());
  if (!claims) return Status::UnschedulableAndUnresolvable(claims.error().message);
  auto cycle = std::make_shared<CycleClaims>();
  for (PodClaim& entry : *claims) {
    cycle->names.push_back(*entry.name);
    cycle->claims.push_back(AsShown(std::move(entry.claim)));
  }
  cycle->user_claims = cycle->claims.size();
  if (extended) AddExtendedClaim(*cycle, pod);
  if (cycle->empty()) return Status::Skip();
  cycle->available_on.resize(cycle->claims.size());
  cycle->reserved.resize(cycle->claims.size());
  for (size_t i = 0; i < cycle->claims.size(); ++i) {
    if (Status status = PrepareClaim(*cycle, i); !status.ok()) return status;
  }
  state.FindMutable(key_)->cycle = std::move(cycle);
  return Status::Success();
}

dra::ClaimPtr DynamicResources::AsShown(dra::ClaimPtr claim) const {
  if (&handle_.objects() == &objects_) return claim;
  const std::string_view name_space = claim->metadata.namespace_.str();
  const dra::ClaimPtr* shown = handle_.objects().resource_claims.FindShared(name_space, claim->metadata.name);
  const dra::ClaimPtr* known = objects_.resource_claims.FindShared(name_space, claim->metadata.name);
  // One that was not changed may be older than what the tracker has.
  return shown && known && *shown != *known ? *shown : std::move(claim);
}

void DynamicResources::AddExtendedClaim(CycleClaims& cycle, const PodInfo& pod) const {
  cycle.scalar_requests = framework::Resource::From(framework::PodRequests(pod.pod(), {})).scalar;
  const api::ObjectMeta& metadata = pod.pod().metadata;
  // One that an earlier attempt left behind is not used again: it is in the way, and PostFilter deletes it.
  if (dra::ClaimPtr left =
          inventory_.claims().FindExtendedClaimOf(metadata.namespace_.str(), metadata.name, metadata.uid)) {
    cycle.extended_uid = left->metadata.uid;
    cycle.claims.push_back(std::move(left));
    return;
  }
  auto claim = std::make_shared<api::ResourceClaim>();
  claim->metadata.namespace_ = metadata.namespace_;
  claim->metadata.name = kExtendedClaimName;
  claim->metadata.uid = cycle.extended_uid = NewClaimUid();
  claim->metadata.generate_name = metadata.name + "-extended-resources-";
  claim->metadata.owner_references = {{"v1", "Pod", metadata.name, metadata.uid, true}};
  claim->metadata.annotations.Set(std::string(dra::kExtendedResourceClaimAnnotation), "true");
  cycle.claims.push_back(std::move(claim));
}

Status DynamicResources::PrepareClaim(CycleClaims& cycle, size_t index) const {
  const api::ResourceClaim& claim = *cycle.claims[index];
  if (const std::optional<api::AllocationResult>& allocation = claim.status.allocation) {
    if (!allocation->node_selector) return Status::Success();
    Result<api::CompiledNodeSelector> selector = api::CompiledNodeSelector::Compile(*allocation->node_selector);
    if (!selector) return Status::FromError(selector.error());
    cycle.available_on[index] = std::move(*selector);
    return Status::Success();
  }
  cycle.allocates = true;
  if (inventory_.claims().IsInFlight(claim.metadata.uid)) {
    return Status::UnschedulableAndUnresolvable(
        fmt::format("resource claim {} is in the process of being allocated", api::KeyOf(claim.metadata)));
  }
  return index < cycle.user_claims ? CheckClasses(claim) : Status::Success();
}

Status DynamicResources::CheckClasses(const api::ResourceClaim& claim) const {
  for (const api::DeviceRequest& request : claim.spec.devices.requests) {
    const std::string where = fmt::format("resource claim {}, request {}", api::KeyOf(claim.metadata), request.name);
    if (request.exactly) {
      if (Status status = CheckClass(request.exactly->device_class_name, request.name); !status.ok()) return status;
    } else if (request.first_available.empty()) {
      return Status::UnschedulableAndUnresolvable(where + ": unknown request type");
    } else if (!features_.prioritized_list) {
      return Status::UnschedulableAndUnresolvable(where +
                                                  ": has subrequests, but the DRAPrioritizedList feature is disabled");
    }
    for (const api::DeviceSubRequest& alternative : request.first_available) {
      if (request.exactly) break;
      const std::string name = request.name + "/" + alternative.name;
      if (Status status = CheckClass(alternative.device_class_name, name); !status.ok()) return status;
    }
  }
  return Status::Success();
}

Status DynamicResources::CheckClass(const std::string& class_name, const std::string& request) const {
  if (class_name.empty()) return Status::Error(fmt::format("request {}: unsupported request type", request));
  if (inventory_.classes().contains(class_name)) return Status::Success();
  return Status::UnschedulableAndUnresolvable(
      fmt::format("request {}: device class {} does not exist", request, class_name));
}

QueueingHint DynamicResources::AfterClaimChange(const PodInfo& pod, const api::ResourceClaim* before,
                                                const api::ResourceClaim* after) const {
  if (!after) return QueueingHint::kQueue;
  const Result<std::vector<PodClaim>> claims = FindPodClaims(pod.pod(), inventory_.claims());
  if (!claims) return QueueingHint::kSkip;  // still waiting for another one
  // Devices that became free may serve anybody.
  if (before && before->status.allocation && !after->status.allocation) return QueueingHint::kQueue;
  const bool is_mine = std::any_of(claims->begin(), claims->end(), [&](const PodClaim& entry) {
    return entry.claim->metadata.uid == after->metadata.uid;
  });
  return QueueIf(is_mine && (!before || before->status != after->status));
}

std::vector<framework::ClusterEventWithHint> DynamicResources::EventsToRegister() const {
  const auto after_pod_change = [this](const PodInfo& pod, const EventObject&, const EventObject& after) {
    const api::Pod* changed = after.As<api::Pod>();
    if (!changed) return QueueingHint::kQueue;
    if (changed->metadata.uid != pod.uid()) return QueueingHint::kSkip;
    return QueueIf(FindPodClaims(*changed, inventory_.claims()).ok());
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

}  // namespace berth::plugins
