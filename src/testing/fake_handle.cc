#include "testing/fake_handle.h"

#include "dra/inventory.h"

namespace berth::testing {

using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

Status FakeApi::Bind(const PodInfo& pod, const std::string& node_name) {
  bound.emplace_back(pod.Key(), node_name);
  return answer;
}

Status FakeApi::Evict(const PodInfo& victim, const PodInfo& preemptor) {
  evicted.emplace_back(victim.Key(), preemptor.Key());
  return answer;
}

Status FakeApi::SetNominatedNode(const PodInfo& pod, const std::string& node_name) {
  nominated.emplace_back(pod.Key(), node_name);
  return answer;
}

Status FakeApi::UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) {
  written_volumes.push_back(std::move(volume));
  return answer;
}

Status FakeApi::UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) {
  written_claims.push_back(std::move(claim));
  return answer;
}

Status FakeApi::Await(const Check& check, base::Duration) {
  awaited = check;
  return Status::Success();
}

framework::ApiWriter::ClaimResult FakeApi::GetResourceClaim(const std::string&, const std::string& name) {
  if (!claim_on_read) return Error::NotFound(name);
  return claim_on_read;
}

framework::ApiWriter::ClaimResult FakeApi::UpdateResourceClaim(const api::ResourceClaim& claim) {
  return std::make_shared<const api::ResourceClaim>(claim);
}

framework::ApiWriter::ClaimResult FakeApi::UpdateResourceClaimStatus(const api::ResourceClaim& claim) {
  written_statuses.push_back(claim);
  if (conflicts > 0 && conflicts-- > 0) return Error::Conflict("the object has been modified");
  return std::make_shared<const api::ResourceClaim>(claim);
}

Status FakeApi::UnreserveResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo&) {
  unreserved.push_back(claim.metadata.name);
  return answer;
}

FakeHandle::FakeHandle(Filter filter) : filter_(std::move(filter)) {}
FakeHandle::~FakeHandle() = default;

dra::Inventory& FakeHandle::inventory() const {
  if (!inventory_) {
    inventory_ = std::make_unique<dra::Inventory>(dra::Features::Of(gates_));
    inventory_->FollowStores(objects_);
  }
  return *inventory_;
}

framework::NodeToStatus FakeHandle::FilterAll(const PodInfo& pod) const {
  framework::NodeToStatus statuses;
  for (const NodeInfo* node : cluster_.nodes()) {
    if (Status status = filter_ ? filter_(pod, *node) : Status::Success(); !status.ok()) {
      statuses.Set(node->index(), std::move(status));
    }
  }
  return statuses;
}

Status FakeHandle::RunFilterWithNominatedPods(framework::CycleState&, const PodInfo& pod, const NodeInfo& node) const {
  if (broken_.contains(node.name())) return Status::Error("filter broke on " + node.name());
  if (!filter_) return Status::Success();
  NodeInfo with_nominated = node;
  for (const framework::PodInfoPtr& other : nominator_.NominatedTo(node.name())) {
    if (other->priority() >= pod.priority() && other->uid() != pod.uid()) with_nominated.AddPod(other);
  }
  return filter_(pod, with_nominated);
}

Status FitsCpu(const PodInfo& pod, const NodeInfo& node) {
  const int64_t wanted = pod.requests().milli_cpu, capacity = node.allocatable().milli_cpu;
  if (wanted > capacity) return Status::UnschedulableAndUnresolvable("Insufficient cpu");
  if (wanted + node.requested().milli_cpu > capacity) return Status::Unschedulable("Insufficient cpu");
  return Status::Success();
}

}  // namespace berth::testing
