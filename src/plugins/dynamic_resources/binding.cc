// Reserve, PreBind and Unreserve of DynamicResources.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/uuid.h"
#include "dra/inventory.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/extended_resources.h"

namespace berth::plugins {

using framework::CycleState;
using framework::PodInfo;
using framework::Status;

namespace {

// How often a write is tried again after the claim has changed meanwhile.
constexpr int kWriteAttempts = 5;
// How long the claim for extended resources may take to come back from the API server.
constexpr base::Duration kCreatedClaimTimeout = std::chrono::seconds(120);

bool HasFinalizer(const api::ResourceClaim& claim) {
  const std::vector<std::string>& finalizers = claim.metadata.finalizers;
  return std::find(finalizers.begin(), finalizers.end(), dra::kClaimFinalizer) != finalizers.end();
}

bool IsTrue(const std::vector<api::DeviceCondition>& conditions, const std::string& type) {
  return std::any_of(conditions.begin(), conditions.end(), [&](const api::DeviceCondition& condition) {
    return condition.type == type && condition.status == "True";
  });
}

bool HasBindingConditions(const api::ResourceClaim& claim) {
  if (!claim.status.allocation) return false;
  const auto& results = claim.status.allocation->devices.results;
  return std::any_of(results.begin(), results.end(),
                     [](const auto& result) { return !result.binding_conditions.empty(); });
}

// How a wait for devices ended, as the metrics call it.
std::string_view OutcomeOf(const Status& status) {
  if (status.ok()) return "success";
  const std::string message = status.Message();
  if (message.starts_with("device binding timeout")) return "timeout";
  return message.starts_with("device binding failed") ? "failure" : "error";
}

}  // namespace

Result<bool> DynamicResources::IsReady(const api::ResourceClaim& claim) {
  if (!claim.status.allocation) return false;
  for (const api::DeviceRequestAllocationResult& result : claim.status.allocation->devices.results) {
    if (result.binding_conditions.empty()) continue;
    const auto status = std::find_if(claim.status.devices.begin(), claim.status.devices.end(), [&](const auto& device) {
      return device.device == result.device && device.driver == result.driver && device.pool == result.pool;
    });
    if (status == claim.status.devices.end()) return false;
    for (const std::string& type : result.binding_failure_conditions) {
      const auto failed = std::find_if(status->conditions.begin(), status->conditions.end(),
                                       [&](const api::DeviceCondition& condition) { return condition.type == type; });
      if (failed != status->conditions.end() && failed->status == "True") {
        return Error::Unavailable(fmt::format("device binding failed: claim={}, reason={}, message=\"{}\"",
                                              claim.metadata.name, failed->reason, failed->message));
      }
    }
    for (const std::string& type : result.binding_conditions) {
      if (!IsTrue(status->conditions, type)) return false;
    }
  }
  return true;
}

bool DynamicResources::IsOverdue(const api::ResourceClaim& claim) const {
  if (!claim.status.allocation || !claim.status.allocation->allocation_timestamp) return false;
  return HasBindingConditions(claim) &&
         *claim.status.allocation->allocation_timestamp + binding_timeout_ < handle_.now();
}

Status DynamicResources::Reserve(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  const ClaimState* found = StateOf(state);
  if (!found) return Status::Error("not found");
  if (!found->cycle) return Status::Success();
  CycleClaims& cycle = *found->cycle;
  for (size_t i = 0; i < cycle.user_claims; ++i) {
    if (inventory_.claims().IsBeingUnreserved(cycle.claims[i]->metadata.uid, pod.uid())) cycle.unsure.insert(i);
  }
  if (!cycle.allocates) return Status::Success();
  if (found->kept && !cycle.nodes.contains(node_name)) {
    // That the node will do is known from an earlier pod; the devices are this one's to choose.
    const framework::NodeInfo* node = handle_.cluster().Find(node_name);
    if (!node) return Status::Error("claim allocation not found for node");
    if (Status status = Filter(state, pod, *node); !status.ok()) return status;
  }
  size_t wanted = 0;
  bool user_wants = false;
  for (size_t i = 0; i < cycle.claims.size(); ++i) {
    if (cycle.claims[i]->status.allocation) continue;
    ++wanted;
    user_wants |= i < cycle.user_claims;
  }
  const auto here = cycle.nodes.find(node_name);
  if (here == cycle.nodes.end() || here->second.results.empty()) {
    // Device plugins of the node serve what was asked for.
    if (!user_wants) return Status::Success();
    return Status::Error("claim allocation not found for node");
  }
  if (here->second.results.size() != wanted) {
    return Status::Error(fmt::format("internal error, have {} allocations, {} claims to allocate, want {} claims",
                                     here->second.results.size(), wanted, wanted));
  }
  size_t next = 0;
  for (size_t i = 0; i < cycle.claims.size(); ++i) {
    if (cycle.claims[i]->status.allocation) continue;
    api::AllocationResult allocation = here->second.results[next++];
    for (api::DeviceRequestAllocationResult& result : allocation.devices.results) {
      if (result.share_id) result.share_id = base::MakeUuid(handle_.random());
    }
    const bool replaced = i == cycle.user_claims && here->second.extended_claim;
    auto claim = std::make_shared<api::ResourceClaim>(replaced ? *here->second.extended_claim : *cycle.claims[i]);
    if (!HasFinalizer(*claim)) claim->metadata.finalizers.emplace_back(dra::kClaimFinalizer);
    claim->status.allocation = allocation;
    inventory_.claims().SetInFlight(std::move(claim));
    cycle.reserved[i] = std::move(allocation);
  }
  return Status::Success();
}

void DynamicResources::Unreserve(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  const ClaimState* found = StateOf(state);
  if (!found || !found->cycle) return;
  CycleClaims& cycle = *found->cycle;
  // The pod may be running, or about to: what is written for it is its own, whoever wrote it. Its end gives that back,
  // or the end of its later attempt.
  const bool keeps = handle_.cluster().IsPlacedByAnother(pod.uid(), state.attempt);
  for (size_t i = 0; i < cycle.claims.size(); ++i) {
    const api::ResourceClaim& claim = *cycle.claims[i];
    const bool extended = i >= cycle.user_claims;
    const std::string& uid = extended ? cycle.extended_uid : claim.metadata.uid;
    // Only what this attempt put in flight: another pod's allocation of a shared claim is not ours to end.
    const bool ours = cycle.reserved[i].has_value();
    cycle.reserved[i].reset();
    if (ours && inventory_.claims().EndFlight(uid)) {
      inventory_.claims().Restore(claim.metadata.namespace_.str(), claim.metadata.name);
    }
    if (keeps) continue;
    // Failing here costs nothing but time: the next attempt comes by again.
    if (extended) {
      if (claim.metadata.name != kExtendedClaimName) (void)handle_.api().DeleteResourceClaim(claim, pod);
    } else if (claim.status.allocation && IsReservedFor(claim, pod)) {
      inventory_.claims().NoteUnreserved(claim, pod.uid());
      (void)handle_.api().UnreserveResourceClaim(claim, pod);
    }
  }
  const auto here = cycle.nodes.find(node_name);
  if (!keeps && here != cycle.nodes.end() && !here->second.node_allocatable.empty()) {
    (void)handle_.api().ClearNodeAllocatableResourceClaimStatuses(pod);
  }
}

framework::PreBindPreFlightResult DynamicResources::PreBindPreFlight(const CycleState& state, const PodInfo&,
                                                                     const std::string&) {
  const ClaimState* found = StateOf(state);
  if (!found) return {Status::Error("not found")};
  return {found->cycle ? Status::Success() : Status::Skip()};
}

Status DynamicResources::PreBind(framework::BindingHandle& handle, CycleState& state, const PodInfo& pod,
                                 const std::string& node_name) {
  const ClaimState* found = StateOf(state);
  if (!found) return Status::Error("not found");
  if (!found->cycle) return Status::Success();
  CycleClaims& cycle = *found->cycle;
  for (size_t i = 0; i < cycle.claims.size(); ++i) {
    // Writes of a claim keep their order, so that one more makes sure.
    if (IsReservedFor(*cycle.claims[i], pod) && !cycle.unsure.contains(i)) continue;
    Result<dra::ClaimPtr> bound = BindClaim(handle, cycle, i, pod, node_name);
    if (!bound) return Status::FromError(bound.error());
    cycle.claims[i] = std::move(*bound);
  }
  if (const auto here = cycle.nodes.find(node_name);
      here != cycle.nodes.end() && !here->second.node_allocatable.empty()) {
    const Result<void> written =
        handle.api().SetNodeAllocatableResourceClaimStatuses(pod, here->second.node_allocatable);
    if (!written) {
      return Status::Error(
          fmt::format("updating pod {} NodeAllocatableResourceClaimStatuses: {}", pod.Key(), written.error().message));
    }
  }
  const bool waits = features_.binding_conditions &&
                     std::any_of(cycle.claims.begin(), cycle.claims.end(),
                                 [](const dra::ClaimPtr& claim) { return HasBindingConditions(*claim); });
  return waits ? AwaitDevices(handle, cycle, state, pod, node_name) : Status::Success();
}

Result<dra::ClaimPtr> DynamicResources::BindClaim(framework::BindingHandle& handle, CycleClaims& cycle, size_t index,
                                                  const PodInfo& pod, const std::string& node_name) {
  const bool extended = index >= cycle.user_claims;
  // Taken: once it has landed, what is in flight under the claim's UID may be another attempt's.
  const std::optional<api::AllocationResult> allocation = std::exchange(cycle.reserved[index], std::nullopt);
  dra::ClaimPtr claim = cycle.claims[index];
  const auto here = cycle.nodes.find(node_name);
  const bool has_mappings = here != cycle.nodes.end() && !here->second.mappings.empty();
  if (extended && (!allocation || !has_mappings)) {
    // Device plugins serve the resources: nothing is to be allocated, and no claim is made. Upstream makes an empty one
    // when the pod has claims of its own, and fails.
    if (allocation) inventory_.posting().Post({.written = nullptr, .ended_flight = cycle.extended_uid});
    return claim;
  }
  // Whatever comes of it, the allocation is no longer in flight: it is written, or given up.
  const std::string flight_uid = extended ? cycle.extended_uid : claim->metadata.uid;
  const auto land = [&](const dra::ClaimPtr& written) {
    if (!allocation && !written) return;
    inventory_.posting().Post({written, allocation ? flight_uid : std::string()});
  };
  if (extended && claim->metadata.name == kExtendedClaimName) {
    api::ResourceClaim fresh = *here->second.extended_claim;
    fresh.metadata.name.clear();
    fresh.metadata.uid.clear();
    fresh.status = {};
    Result<dra::ClaimPtr> created = handle.api().CreateResourceClaim(fresh);
    if (!created) {
      land(nullptr);
      return Error{created.error().code, fmt::format("create claim for extended resources {}: {}",
                                                     api::KeyOf(claim->metadata), created.error().message)};
    }
    // Unreserve deletes it, should anything go wrong from here on.
    claim = cycle.claims[index] = *created;
  }
  Result<dra::ClaimPtr> written = WriteClaim(handle, claim, allocation, pod);
  if (!written) {
    land(nullptr);
    return written;
  }
  if (!extended) {
    land(*written);
    return written;
  }
  const Result<void> mapped =
      handle.api().SetExtendedResourceClaimStatus(pod, {here->second.mappings, (*written)->metadata.name});
  // The claim is new: its devices stay in flight until the API server has reported it.
  (void)handle.api().Await(
      [this, written = *written]() -> std::optional<Status> {
        if (!inventory_.claims().Find(written->metadata.namespace_.str(), written->metadata.name)) return std::nullopt;
        return Status::Success();
      },
      kCreatedClaimTimeout);
  land(*written);
  if (mapped) return written;
  cycle.claims[index] = *written;
  return Error{mapped.error().code,
               fmt::format("update pod {} ExtendedResourceClaimStatus: {}", pod.Key(), mapped.error().message)};
}

Result<dra::ClaimPtr> DynamicResources::WriteClaim(framework::BindingHandle& handle, const dra::ClaimPtr& read,
                                                   const std::optional<api::AllocationResult>& allocation,
                                                   const PodInfo& pod) {
  dra::ClaimPtr current = read;
  const std::string who = api::KeyOf(read->metadata);
  for (int attempt = 1;; ++attempt) {
    const auto retry = [&](const Error& error) {
      return error.code == ErrorCode::kConflict && attempt < kWriteAttempts;
    };
    if (current->metadata.deletion_timestamp) {
      return Error::Conflict(fmt::format("claim {} got deleted in the meantime", who));
    }
    auto claim = std::make_shared<api::ResourceClaim>(*current);
    std::optional<Error> error;
    if (allocation) {
      if (claim->status.allocation) {
        return Error::Conflict(fmt::format("claim {} got allocated elsewhere in the meantime", who));
      }
      if (!HasFinalizer(*claim)) {
        claim->metadata.finalizers.emplace_back(dra::kClaimFinalizer);
        Result<dra::ClaimPtr> updated = handle.api().UpdateResourceClaim(*claim);
        if (updated) {
          claim = std::make_shared<api::ResourceClaim>(**updated);
        } else {
          error =
              Error{updated.error().code, fmt::format("add finalizer to claim {}: {}", who, updated.error().message)};
        }
      }
      claim->status.allocation = allocation;
    }
    if (!error) {
      // Last, even if it is there already: that is how the tracker of claims knows whose write it was.
      std::erase_if(claim->status.reserved_for, [&](const auto& held) { return held.uid == pod.uid(); });
      claim->status.reserved_for.push_back({"", "pods", pod.pod().metadata.name, pod.uid()});
      if (!claim->status.allocation) {
        return Error::Conflict(fmt::format("claim {} got deallocated elsewhere in the meantime", who));
      }
      // The node was chosen for the devices that the claim had. Upstream binds the pod beside others.
      const std::optional<api::AllocationResult>& chosen = allocation ? allocation : read->status.allocation;
      if (!chosen || chosen->devices.results != claim->status.allocation->devices.results) {
        return Error::Conflict(fmt::format("claim {} got other devices in the meantime", who));
      }
      if (features_.binding_conditions && !claim->status.allocation->allocation_timestamp) {
        claim->status.allocation->allocation_timestamp = handle.clock().Now();
      }
      Result<dra::ClaimPtr> updated = handle.api().UpdateResourceClaimStatus(*claim);
      if (updated) return updated;
      error = Error{updated.error().code,
                    fmt::format("add {} to claim {}: {}", allocation ? "allocation and reservation" : "reservation",
                                who, updated.error().message)};
    }
    if (!retry(*error)) return *error;
    Result<dra::ClaimPtr> fresh =
        handle.api().GetResourceClaim(std::string(read->metadata.namespace_.str()), read->metadata.name);
    if (!fresh) {
      return Error{fresh.error().code,
                   fmt::format("get updated claim {} after conflict: {}", who, fresh.error().message)};
    }
    current = *fresh;
  }
}

Status DynamicResources::AwaitDevices(framework::BindingHandle& handle, CycleClaims& cycle, const CycleState& state,
                                      const PodInfo& pod, const std::string& node_name) {
  handle.api().Announce(pod, "BindingConditionsPending", "Scheduling",
                        fmt::format("waiting for binding conditions for device on node {}", node_name));
  const base::Time began = handle.clock().Now();
  const base::Time deadline = began + binding_timeout_;
  const Status status = handle.api().Await(
      [this, &handle, &cycle, deadline, in_pre_bind = state.in_pre_bind]() -> std::optional<Status> {
        if (in_pre_bind) {
          if (std::optional<Status> cancelled = in_pre_bind->Cancelled()) return cancelled;
        }
        for (dra::ClaimPtr& mine : cycle.claims) {
          const dra::ClaimPtr claim = inventory_.claims().Find(mine->metadata.namespace_.str(), mine->metadata.name);
          if (!claim) {
            // Of extended resources that device plugins serve there is none.
            if (mine->metadata.name == kExtendedClaimName) continue;
            return Status::Error(fmt::format("could not find ResourceClaim \"{}\"", api::KeyOf(mine->metadata)));
          }
          mine = claim;
          const Result<bool> ready = IsReady(*claim);
          if (!ready) return Status::FromError(ready.error());
          if (*ready) continue;
          if (IsOverdue(*claim)) {
            return Status::Error(fmt::format("device binding timeout: claim={}", claim->metadata.name));
          }
          if (handle.clock().Now() < deadline) return std::nullopt;
          return Status::Error("device binding timeout: context deadline exceeded");
        }
        return Status::Success();
      },
      binding_timeout_);
  for (const dra::ClaimPtr& claim : cycle.claims) {
    handle.api().NoteDeviceWait(pod, *claim, OutcomeOf(status), handle.clock().Now() - began);
  }
  return status;
}

}  // namespace berth::plugins
