// InMemoryCluster's resource claims: what the scheduler writes, and claims that are allocated without it.
#include <fmt/format.h>

#include <utility>

#include "dra/inventory.h"
#include "perf/in_memory_cluster.h"

namespace berth::perf {

using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

framework::ApiWriter::ClaimResult InMemoryCluster::GetResourceClaim(const std::string& name_space,
                                                                    const std::string& name) {
  return claims_->Get(name_space, name);
}

framework::ApiWriter::ClaimResult InMemoryCluster::CreateResourceClaim(const api::ResourceClaim& claim) {
  return claims_->Create(claim);
}

framework::ApiWriter::ClaimResult InMemoryCluster::UpdateResourceClaim(const api::ResourceClaim& claim) {
  return claims_->UpdateFinalizers(claim);
}

framework::ApiWriter::ClaimResult InMemoryCluster::UpdateResourceClaimStatus(const api::ResourceClaim& claim) {
  return claims_->UpdateStatus(claim);
}

void InMemoryCluster::ChangeStatus(const PodInfo& pod, const std::function<void(api::PodStatus&)>& change) {
  const auto it = pods_.find(pod.uid());
  if (it == pods_.end()) return;
  api::Pod changed = *it->second.pod;
  change(changed.status);
  it->second.pod = std::make_shared<const api::Pod>(std::move(changed));
}

Result<void> InMemoryCluster::SetExtendedResourceClaimStatus(const PodInfo& pod,
                                                             const api::PodExtendedResourceClaimStatus& written) {
  ChangeStatus(pod, [&](api::PodStatus& status) { status.extended_resource_claim_status = written; });
  return {};
}

Result<void> InMemoryCluster::SetNodeAllocatableResourceClaimStatuses(
    const PodInfo& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) {
  ChangeStatus(pod, [&](api::PodStatus& status) { status.node_allocatable_resource_claim_statuses = statuses; });
  return {};
}

Status InMemoryCluster::ClearNodeAllocatableResourceClaimStatuses(const PodInfo& pod) {
  ChangeStatus(pod, [](api::PodStatus& status) { status.node_allocatable_resource_claim_statuses.clear(); });
  return Status::Success();
}

Status InMemoryCluster::UnreserveResourceClaim(const api::ResourceClaim& claim, const PodInfo& pod) {
  claims_->Unreserve(claim, pod.uid());
  return Status::Success();
}

Status InMemoryCluster::DeallocateResourceClaim(const api::ResourceClaim& claim, const PodInfo& /*pod*/) {
  claims_->Deallocate(claim);
  return Status::Success();
}

Status InMemoryCluster::DeleteResourceClaim(const api::ResourceClaim& claim, const PodInfo& /*pod*/) {
  claims_->Delete(claim);
  return Status::Success();
}

std::vector<std::string> InMemoryCluster::NodeNames() const {
  std::vector<std::string> names;
  for (const NodeInfo* node : cluster().nodes()) names.push_back(node->name());
  return names;
}

Result<void> InMemoryCluster::AllocateClaims(const std::string& name_space) {
  std::vector<std::shared_ptr<const api::ResourceClaim>> waiting;
  for (const auto& [key, claim] : cluster().objects().resource_claims) {
    const bool wanted = name_space.empty() || claim->metadata.namespace_ == name_space;
    if (wanted && !claim->status.allocation) waiting.push_back(claim);
  }
  std::vector<const NodeInfo*> nodes(cluster().nodes().begin(), cluster().nodes().end());
  for (const auto& claim : waiting) {
    if (Result<void> allocated = AllocateClaim(*claim, nodes); !allocated) return allocated;
  }
  return {};
}

// Nodes are tried in random order, which is generated only as far as needed.
Result<void> InMemoryCluster::AllocateClaim(const api::ResourceClaim& claim, std::vector<const NodeInfo*>& nodes) {
  using Kind = dra::AllocationOutcome::Kind;
  const api::ResourceClaim* const one[] = {&claim};
  for (size_t tried = 0; tried < nodes.size(); ++tried) {
    std::swap(nodes[tried], nodes[tried + random_.Below(nodes.size() - tried)]);
    const NodeInfo& node = *nodes[tried];
    dra::AllocationOutcome outcome =
        driver_->cluster().inventory().Allocate(node.shared_node(), node.index(), one, nullptr, {});
    if (outcome.kind == Kind::kError) {
      return Error::InvalidArgument(fmt::format("node {}: {}", node.name(), outcome.error));
    }
    if (outcome.kind != Kind::kAllocated) continue;
    api::ResourceClaim allocated = claim;
    allocated.status.allocation = std::move(outcome.results.front());
    for (api::DeviceRequestAllocationResult& result : allocated.status.allocation->devices.results) {
      if (result.share_id) result.share_id = fmt::format("share-{}", next_number_++);
    }
    const ClaimResult written = claims_->UpdateStatus(allocated);
    if (!written) return written.error();
    return {};
  }
  return Error::NotFound(fmt::format("no node has devices left for claim {}; there are {} nodes",
                                     api::KeyOf(claim.metadata), nodes.size()));
}

}  // namespace berth::perf
