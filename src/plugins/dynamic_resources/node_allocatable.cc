// Devices that take of what the node has for all pods: cpu, memory and the like (gate DRANodeAllocatableResources).
#include <fmt/format.h>

#include <algorithm>

#include "dra/inventory.h"
#include "framework/pod_resources.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/node_resources/incoming_pod.h"
#include "plugins/node_resources_fit/fit_check.h"

namespace berth::plugins {

using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

namespace {

using ClaimStatus = api::NodeAllocatableResourceClaimStatus;

// How much of a resource one device takes; unset when its capacity has no part in this allocation.
Result<std::optional<api::Quantity>> AmountOf(const api::NodeAllocatableResourceMapping& mapping,
                                              const api::DeviceRequestAllocationResult& result,
                                              std::string_view resource) {
  const std::string key = mapping.capacity_key.value_or("");
  if (key.empty()) return std::optional(mapping.allocation_multiplier.value_or(api::Quantity()));
  if (result.consumed_capacity.empty()) {
    return Error::InvalidArgument(
        fmt::format("ConsumedCapacity is nil, but Capacity key '{}' is set in NodeAllocatableResourceMappings for "
                    "resource {}",
                    key, resource));
  }
  const api::Quantity* consumed = result.consumed_capacity.Find(key);
  if (!consumed) return std::optional<api::Quantity>();
  api::Quantity amount = *consumed;
  if (mapping.allocation_multiplier) amount.Multiply(*mapping.allocation_multiplier);
  return std::optional(amount);
}

// What the devices of one claim take; unset when nothing.
Result<std::optional<ClaimStatus>> TakenBy(const dra::PoolTable& pools, const api::ResourceClaim& claim,
                                           const api::AllocationResult& allocation) {
  std::optional<ClaimStatus> taken;
  for (const api::DeviceRequestAllocationResult& result : allocation.devices.results) {
    const api::Device* device = pools.FindDevice(result.pool, result.device);
    if (!device) continue;
    for (const auto& [resource, mapping] : device->node_allocatable_resource_mappings) {
      const Result<std::optional<api::Quantity>> amount = AmountOf(mapping, result, resource.str());
      if (!amount) {
        return Error::InvalidArgument(
            fmt::format("claim {}, device {}: {}", api::KeyOf(claim.metadata), result.device, amount.error().message));
      }
      if (!*amount) continue;
      if (!taken) taken.emplace().resource_claim_name = claim.metadata.name;
      const api::Quantity* sum = taken->resources.Find(resource);
      api::Quantity added = sum ? *sum : **amount;
      if (sum) added.Add(**amount);
      taken->resources.Set(resource, added);
    }
  }
  return taken;
}

// The containers that say they use the claim.
std::vector<std::string> UsersOf(const CycleClaims& cycle, const std::string& claim_uid, const api::Pod& pod) {
  std::vector<std::string> users;
  const auto add = [&](const api::Container& container) {
    for (const api::ResourceClaimReference& reference : container.resources.claims) {
      const auto entry = std::find(cycle.names.begin(), cycle.names.end(), reference.name);
      if (entry == cycle.names.end()) continue;
      const dra::ClaimPtr& claim = cycle.claims[static_cast<size_t>(entry - cycle.names.begin())];
      if (claim->metadata.uid == claim_uid) users.push_back(container.name);
    }
  };
  for (const api::Container& container : pod.spec.init_containers) add(container);
  for (const api::Container& container : pod.spec.containers) add(container);
  return users;
}

// The pod's own budget, if it has one, must cover its containers and the devices.
Status CheckPodLevel(const api::Pod& pod, framework::PodRequestOptions options) {
  if (options.skip_pod_level_resources || !pod.spec.resources || pod.spec.resources->requests.empty()) return {};
  const api::ResourceList budget = framework::PodRequests(pod, options);
  options.skip_pod_level_resources = true;
  const api::ResourceList needed = framework::PodRequests(pod, options);
  for (const auto& [resource, amount] : budget) {
    const api::Quantity* sum = needed.Find(resource);
    if (!sum || *sum <= amount) continue;
    return Status::UnschedulableAndUnresolvable(
        fmt::format("pod level request for {} is insufficient to cover the aggregated container and node-allocatable "
                    "DRA requests",
                    resource.str()));
  }
  return {};
}

}  // namespace

// A claim of which pods on the node have reported what it takes is theirs alone.
Status DynamicResources::CheckSoleUser(const PodInfo& pod, const NodeInfo& node,
                                       const api::ResourceClaim& claim) const {
  size_t users = 0;
  bool is_user = false;
  for (const framework::PodInfoPtr& other : node.pods()) {
    if (other->namespace_() != pod.namespace_()) continue;
    const auto& taken = other->pod().status.node_allocatable_resource_claim_statuses;
    const bool uses = std::any_of(taken.begin(), taken.end(), [&](const ClaimStatus& status) {
      return status.resource_claim_name == claim.metadata.name;
    });
    users += uses ? 1 : 0;
    is_user |= uses && other->uid() == pod.uid();
  }
  if (users > 1) {
    return Status::UnschedulableAndUnresolvable(
        fmt::format("node allocatable resource claim {} shared by multiple pods", claim.metadata.name));
  }
  if (users == 1 && !is_user) {
    return Status::UnschedulableAndUnresolvable(
        fmt::format("node allocatable resource claim {} is already used by another pod", claim.metadata.name));
  }
  return {};
}

Status DynamicResources::TakeAllocatable(const CycleClaims& cycle, const PodInfo& pod, const NodeInfo& node,
                                         NodeAllocation& allocation) const {
  std::vector<ClaimStatus> statuses;
  bool has_mappings = false;
  size_t next = 0;
  // Devices that a claim has had for longer are not counted again.
  for (const dra::ClaimPtr& claim : cycle.claims) {
    if (claim->status.allocation) continue;
    const api::AllocationResult& result = allocation.results[next++];
    has_mappings |= std::any_of(result.devices.results.begin(), result.devices.results.end(), [&](const auto& taken) {
      const api::Device* device = inventory_.pools().FindDevice(taken.pool, taken.device);
      return device && !device->node_allocatable_resource_mappings.empty();
    });
    Result<std::optional<ClaimStatus>> taken = TakenBy(inventory_.pools(), *claim, result);
    if (!taken) return Status::FromError(taken.error());
    if (!*taken) continue;
    (*taken)->containers = UsersOf(cycle, claim->metadata.uid, pod.pod());
    const bool known = std::any_of(statuses.begin(), statuses.end(), [&](const ClaimStatus& status) {
      return status.resource_claim_name == (*taken)->resource_claim_name;
    });
    if (!known) statuses.push_back(std::move(**taken));
  }
  if (!has_mappings) return {};
  std::sort(statuses.begin(), statuses.end(),
            [](const ClaimStatus& a, const ClaimStatus& b) { return a.resource_claim_name < b.resource_claim_name; });
  for (const ClaimStatus& status : statuses) {
    if (!status.containers.empty()) continue;
    return Status::UnschedulableAndUnresolvable(
        fmt::format("claim {}: node-allocatable resource claim not referenced by any container within the pod",
                    status.resource_claim_name));
  }
  api::Pod with_devices = pod.pod();
  with_devices.status.node_allocatable_resource_claim_statuses = statuses;
  framework::PodRequestOptions options = IncomingPodOptions(handle_.gates());
  options.use_node_allocatable_claims = true;
  if (Status status = CheckPodLevel(with_devices, options); !status.ok()) return status;
  framework::Resource demand = framework::Resource::From(framework::PodRequests(with_devices, options));
  base::FlatMap<Symbol, int64_t> huge_pages;
  for (const auto& [name, amount] : demand.scalar) {
    if (name.str().starts_with("hugepages-")) huge_pages.Set(name, amount);
  }
  demand.scalar = std::move(huge_pages);
  // Pods are not counted: that is NodeResourcesFit's.
  const NodeRoom room{node.allocatable(), node.requested(), /*pod_count=*/-1};
  if (Status status = CheckFit(demand, room); !status.ok()) return status;
  allocation.node_allocatable = std::move(statuses);
  return {};
}

std::shared_ptr<const api::Pod> DynamicResources::OnNode(const CycleState& state, const PodInfo& pod,
                                                         const std::string& node_name) const {
  const CycleClaims* cycle = ClaimsOf(state);
  const NodeAllocation* here = nullptr;
  if (cycle) {
    const auto found = cycle->nodes.find(node_name);
    if (found != cycle->nodes.end()) here = &found->second;
  }
  const auto& before = pod.pod().status.node_allocatable_resource_claim_statuses;
  // What an earlier attempt left in the status is void.
  if (before.empty() && (!here || here->node_allocatable.empty())) return nullptr;
  auto changed = std::make_shared<api::Pod>(pod.pod());
  changed->status.node_allocatable_resource_claim_statuses = here ? here->node_allocatable : std::vector<ClaimStatus>();
  return changed;
}

}  // namespace berth::plugins
