// Filter, Score and PostFilter of DynamicResources.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dra/inventory.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/extended_resources.h"

namespace berth::plugins {

using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

namespace {

// As many alternatives as a request can have; the first is worth this much.
constexpr int64_t kMaxAlternatives = 8;

int64_t ScoreOf(const api::ResourceClaim& claim, const api::AllocationResult& allocation) {
  std::set<std::string_view> chosen;
  for (const api::DeviceRequestAllocationResult& result : allocation.devices.results) chosen.insert(result.request);
  int64_t score = 0;
  for (const api::DeviceRequest& request : claim.spec.devices.requests) {
    if (request.exactly) continue;
    for (size_t i = 0; i < request.first_available.size(); ++i) {
      if (chosen.contains(request.name + "/" + request.first_available[i].name)) {
        score += kMaxAlternatives - static_cast<int64_t>(i);
      }
    }
  }
  return score;
}

}  // namespace

Status DynamicResources::FilterExtended(const CycleClaims& cycle, const PodInfo& pod, const NodeInfo& node,
                                        NodeAllocation& allocation) const {
  const dra::ClaimPtr* extended = cycle.extended();
  if (!extended) return Status::Success();
  if (!(*extended)->spec.devices.requests.empty()) {
    return Status::UnschedulableAndUnresolvable("cannot schedule extended resource claim");
  }
  const dra::ClassNames& classes = inventory_.class_names();
  std::vector<Symbol> from_devices;
  for (const auto& [name, amount] : cycle.scalar_requests) {
    if (amount == 0 || !dra::IsExtendedResource(name.str())) continue;
    const int64_t* allocatable = node.allocatable().scalar.Find(name);
    if (classes.Find(name) && (!allocatable || *allocatable == 0)) {
      from_devices.push_back(name);
    } else if (!allocatable) {
      return Status::UnschedulableAndUnresolvable("cannot fit resource");
    }
  }
  if ((cycle.user_claims == 0 && from_devices.empty()) || (*extended)->status.allocation) return Status::Success();
  CycleClaims::MadeClaim& made = cycle.made;
  if (!made.claim || made.from_devices != from_devices) {
    auto claim = std::make_shared<api::ResourceClaim>(**extended);
    ExtendedRequests requests = MakeExtendedRequests(pod.pod(), from_devices, classes);
    claim->spec.devices.requests = std::move(requests.requests);
    made = {std::move(from_devices), std::move(claim), std::move(requests.mappings)};
  }
  allocation.extended_claim = made.claim;
  allocation.mappings = made.mappings;
  return Status::Success();
}

bool DynamicResources::IsElsewhere(const CycleClaims& cycle, size_t index, const NodeInfo& node) {
  const std::optional<api::CompiledNodeSelector>& usable = cycle.available_on[index];
  return usable && usable->Match(node.node().metadata.labels, node.name()) != api::NodeMatch::kMatch;
}

bool DynamicResources::IsUnavailable(const CycleClaims& cycle, size_t index, const NodeInfo& node) const {
  const api::ResourceClaim& claim = *cycle.claims[index];
  if (IsElsewhere(cycle, index, node)) return true;
  if (!claim.status.allocation || !features_.binding_conditions) return false;
  const Result<bool> ready = IsReady(claim);
  return !ready || (!*ready && IsOverdue(claim));
}

std::vector<const api::ResourceClaim*> DynamicResources::ClaimsToAllocate(const CycleClaims& cycle,
                                                                          const NodeAllocation& allocation) {
  std::vector<const api::ResourceClaim*> claims;
  for (size_t i = 0; i < cycle.claims.size(); ++i) {
    if (cycle.claims[i]->status.allocation) continue;
    const bool replaced = i == cycle.user_claims && allocation.extended_claim;
    claims.push_back(replaced ? allocation.extended_claim.get() : cycle.claims[i].get());
  }
  return claims;
}

Status DynamicResources::AllocateOn(const CycleClaims& cycle, const NodeInfo& node, NodeAllocation& allocation,
                                    bool needs_results) const {
  using Kind = dra::AllocationOutcome::Kind;
  const std::vector<const api::ResourceClaim*> claims = ClaimsToAllocate(cycle, allocation);
  const bool limited = features_.filter_timeout && filter_timeout_ > base::Duration::zero();
  const base::Clock& clock = handle_.clock();
  dra::AllocationOutcome outcome =
      inventory_.Allocate(node.shared_node(), node.index(), claims, limited ? &clock : nullptr,
                          limited ? clock.Now() + filter_timeout_ : base::Time(), needs_results);
  switch (outcome.kind) {
    case Kind::kAllocated:
      allocation.results = std::move(outcome.results);
      return Status::Success();
    case Kind::kNone:
      return Status::UnschedulableAndUnresolvable(kCannotAllocateReason);
    case Kind::kInvalidPools:
      return Status::UnschedulableAndUnresolvable("invalid resource pools were encountered");
    case Kind::kTimedOut:
      return Status::Error(fmt::format("node {}: timed out trying to allocate devices", node.name()));
    case Kind::kError:
      break;
  }
  return Status::Error(std::move(outcome.error));
}

Status DynamicResources::Filter(const CycleState& state, const PodInfo& pod, const NodeInfo& node) const {
  const ClaimState* found = StateOf(state);
  if (!found) return Status::Error("not found");
  if (!found->cycle) return Status::Success();
  CycleClaims& cycle = *found->cycle;
  NodeAllocation allocation;
  if (Status status = FilterExtended(cycle, pod, node, allocation); !status.ok()) return status;
  // Device plugins serve everything here.
  if (!allocation.extended_claim && cycle.user_claims == 0) return Status::Success();
  std::vector<size_t> unavailable;
  for (size_t i = 0; i < cycle.claims.size(); ++i) {
    if (IsUnavailable(cycle, i, node)) unavailable.push_back(i);
    if (!features_.node_allocatable_resources || !cycle.claims[i]->status.allocation) continue;
    if (IsElsewhere(cycle, i, node)) continue;
    if (Status status = CheckSoleUser(pod, node, *cycle.claims[i]); !status.ok()) return status;
  }
  if (cycle.allocates) {
    // What is unavailable is remembered only where the other claims would fit: upstream looks at it afterwards.
    if (Status status = AllocateOn(cycle, node, allocation); !status.ok()) return status;
    if (features_.node_allocatable_resources) {
      if (Status status = TakeAllocatable(cycle, pod, node, allocation); !status.ok()) return status;
    }
  }
  if (!unavailable.empty()) {
    cycle.unavailable.insert(unavailable.begin(), unavailable.end());
    return Status::UnschedulableAndUnresolvable("resourceclaim not available on the node");
  }
  if (cycle.allocates) cycle.nodes.insert_or_assign(node.name(), std::move(allocation));
  return Status::Success();
}

int64_t DynamicResources::ScoreFor(const CycleClaims& cycle, const NodeAllocation& allocation) {
  int64_t score = 0;
  size_t next = 0;
  for (const dra::ClaimPtr& claim : cycle.claims) {
    const bool allocated = claim->status.allocation.has_value();
    score += ScoreOf(*claim, allocated ? *claim->status.allocation : allocation.results[next++]);
  }
  return score;
}

framework::ScoreResult DynamicResources::Score(const CycleState& state, const PodInfo&, const NodeInfo& node) const {
  if (!features_.prioritized_list) return int64_t{0};
  const ClaimState* found = StateOf(state);
  if (!found) return Status::Error("not found");
  if (!found->cycle) return int64_t{0};
  const CycleClaims& cycle = *found->cycle;
  const auto here = cycle.nodes.find(node.name());
  if (here == cycle.nodes.end()) return int64_t{0};
  const std::vector<api::AllocationResult>& results = here->second.results;
  const auto wanted = std::count_if(cycle.claims.begin(), cycle.claims.end(),
                                    [](const dra::ClaimPtr& claim) { return !claim->status.allocation; });
  if (results.size() < static_cast<size_t>(wanted)) {
    return Status::Error(
        fmt::format("number of allocations {} is smaller than number of claims needing allocation", results.size()));
  }
  return ScoreFor(cycle, here->second);
}

framework::PostFilterResult DynamicResources::PostFilter(CycleState& state, const PodInfo& pod,
                                                         const framework::NodeToStatus&) const {
  const ClaimState* found = StateOf(state);
  if (!found) return Status::Error("not found");
  if (!found->cycle) return Status::Unschedulable("no new claims to deallocate");
  const CycleClaims& cycle = *found->cycle;
  const dra::ClaimPtr* extended = cycle.extended();
  const bool has_leftover = extended && (*extended)->metadata.name != kExtendedClaimName;
  std::vector<size_t> candidates;
  for (const size_t index : cycle.unavailable) {
    if (index >= cycle.user_claims) continue;
    const std::vector<api::ResourceClaimConsumerReference>& users = cycle.claims[index]->status.reserved_for;
    if (users.empty() || (users.size() == 1 && users[0].uid == pod.uid())) candidates.push_back(index);
  }
  if (!candidates.empty()) {
    // No claim is better than another. An exhaustive run takes the first by name, so that it can be repeated.
    size_t chosen =
        candidates[candidates.size() == 1 || state.exhaustive_preemption ? 0
                                                                         : handle_.random().Below(candidates.size())];
    if (state.exhaustive_preemption) {
      for (const size_t index : candidates) {
        if (cycle.claims[index]->metadata.name < cycle.claims[chosen]->metadata.name) chosen = index;
      }
    }
    const api::ResourceClaim& claim = *cycle.claims[chosen];
    // The pod may be tried again before the API server reports this, and would believe that the devices are its own.
    inventory_.claims().NoteUnreserved(claim, pod.uid());
    if (Status status = handle_.api().DeallocateResourceClaim(claim, pod); !status.ok()) return status;
    return Status::Unschedulable("deallocation of ResourceClaim completed");
  }
  if (has_leftover) {
    if (Status status = handle_.api().DeleteResourceClaim(**extended, pod); !status.ok()) return status;
    return Status::Unschedulable("deletion of ResourceClaim completed");
  }
  return Status::Unschedulable("still not schedulable");
}

}  // namespace berth::plugins
