#include "controllers/claim_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::controllers {

using ClaimResult = ClaimController::ClaimResult;

void ClaimController::AddTemplate(std::shared_ptr<const api::ResourceClaimTemplate> made) {
  templates_[api::KeyOf(made->metadata)] = std::move(made);
}

ClaimController::ClaimPtr ClaimController::Find(std::string_view name_space, std::string_view name) const {
  const ClaimPtr* found = cluster_.objects().resource_claims.FindShared(name_space, name);
  return found ? *found : nullptr;
}

ClaimController::ClaimPtr ClaimController::Store(api::ResourceClaim claim) {
  claim.metadata.resource_version = std::to_string(++versions_);
  auto stored = std::make_shared<const api::ResourceClaim>(std::move(claim));
  driver_.Put(api::Object(stored));
  return stored;
}

std::shared_ptr<const api::Pod> ClaimController::CreateClaims(const std::shared_ptr<const api::Pod>& pod) {
  std::shared_ptr<api::Pod> named;
  for (const api::PodResourceClaim& entry : pod->spec.resource_claims) {
    if (!entry.resource_claim_template_name) continue;
    const auto& known = pod->status.resource_claim_statuses;
    if (std::any_of(known.begin(), known.end(), [&](const auto& status) { return status.name == entry.name; }))
      continue;
    const std::string name_space(pod->metadata.namespace_.str());
    const auto made = templates_.find(name_space + "/" + *entry.resource_claim_template_name);
    if (made == templates_.end()) continue;
    api::ResourceClaim claim;
    claim.metadata = made->second->spec.metadata;
    claim.metadata.namespace_ = pod->metadata.namespace_;
    claim.metadata.name = fmt::format("{}-{}", pod->metadata.name, entry.name);
    claim.metadata.uid = fmt::format("{}/{}", pod->metadata.uid, entry.name);
    claim.metadata.owner_references = {{"v1", "Pod", pod->metadata.name, pod->metadata.uid, true}};
    claim.spec = made->second->spec.spec;
    // A claim of that name may belong to another pod.
    for (int i = 2; Find(name_space, claim.metadata.name); ++i) {
      claim.metadata.name = fmt::format("{}-{}-{}", pod->metadata.name, entry.name, i);
    }
    if (!named) named = std::make_shared<api::Pod>(*pod);
    named->status.resource_claim_statuses.push_back({entry.name, claim.metadata.name});
    Store(std::move(claim));
  }
  return named ? std::shared_ptr<const api::Pod>(std::move(named)) : pod;
}

void ClaimController::Release(const api::Pod& pod) {
  std::vector<ClaimPtr> used;
  cluster_.objects().resource_claims.ForEachIn(pod.metadata.namespace_.str(), [&](const api::ResourceClaim& claim) {
    const auto& users = claim.status.reserved_for;
    const api::OwnerReference* owner = api::ControllerOf(claim.metadata);
    const bool is_user =
        std::any_of(users.begin(), users.end(), [&](const auto& user) { return user.uid == pod.metadata.uid; });
    if (is_user || (owner && owner->uid == pod.metadata.uid)) {
      used.push_back(Find(claim.metadata.namespace_.str(), claim.metadata.name));
    }
  });
  for (const ClaimPtr& claim : used) {
    const api::OwnerReference* owner = api::ControllerOf(claim->metadata);
    if (owner && owner->uid == pod.metadata.uid) {
      Delete(*claim);
    } else {
      Unreserve(*claim, pod.metadata.uid);
    }
  }
}

void ClaimController::PrepareDevices() {
  std::vector<api::ResourceClaim> ready;
  for (const auto& [key, claim] : cluster_.objects().resource_claims) {
    if (!claim->status.allocation) continue;
    api::ResourceClaim prepared = *claim;
    for (const api::DeviceRequestAllocationResult& result : claim->status.allocation->devices.results) {
      if (result.binding_conditions.empty()) continue;
      auto& devices = prepared.status.devices;
      const bool known = std::any_of(devices.begin(), devices.end(), [&](const api::AllocatedDeviceStatus& device) {
        return device.driver == result.driver && device.pool == result.pool && device.device == result.device;
      });
      // Device status in the input is kept.
      if (known) continue;
      api::AllocatedDeviceStatus& device = devices.emplace_back();
      device.driver = result.driver;
      device.pool = result.pool;
      device.device = result.device;
      for (const std::string& type : result.binding_conditions) device.conditions.push_back({type, "True", "", ""});
    }
    if (prepared.status.devices.size() != claim->status.devices.size()) ready.push_back(std::move(prepared));
  }
  for (api::ResourceClaim& claim : ready) Store(std::move(claim));
}

ClaimResult ClaimController::Get(const std::string& name_space, const std::string& name) const {
  ClaimPtr found = Find(name_space, name);
  if (!found) return Error::NotFound(fmt::format("resourceclaims.resource.k8s.io \"{}\" not found", name));
  return found;
}

ClaimResult ClaimController::Create(api::ResourceClaim claim) {
  const std::string name_space(claim.metadata.namespace_.str());
  if (claim.metadata.name.empty()) {
    int number = 1;
    do {
      claim.metadata.name = fmt::format("{}{}", claim.metadata.generate_name, number++);
    } while (Find(name_space, claim.metadata.name));
  }
  claim.metadata.uid = fmt::format("claim-{}", versions_ + 1);
  return Store(std::move(claim));
}

ClaimResult ClaimController::UpdateFinalizers(const api::ResourceClaim& claim) {
  const ClaimResult current = Get(std::string(claim.metadata.namespace_.str()), claim.metadata.name);
  if (!current) return current;
  api::ResourceClaim updated = **current;
  updated.metadata.finalizers = claim.metadata.finalizers;
  return Store(std::move(updated));
}

ClaimResult ClaimController::UpdateStatus(const api::ResourceClaim& claim) {
  const ClaimResult current = Get(std::string(claim.metadata.namespace_.str()), claim.metadata.name);
  if (!current) return current;
  api::ResourceClaim updated = **current;
  updated.status = claim.status;
  return Store(std::move(updated));
}

void ClaimController::Unreserve(const api::ResourceClaim& claim, const std::string& pod_uid) {
  const ClaimPtr current = Find(claim.metadata.namespace_.str(), claim.metadata.name);
  if (!current) return;
  api::ResourceClaim updated = *current;
  std::erase_if(updated.status.reserved_for, [&](const auto& user) { return user.uid == pod_uid; });
  // Devices that no pod uses are released.
  if (updated.status.reserved_for.empty()) updated.status = {};
  Store(std::move(updated));
}

void ClaimController::Deallocate(const api::ResourceClaim& claim) {
  const ClaimPtr current = Find(claim.metadata.namespace_.str(), claim.metadata.name);
  if (!current) return;
  api::ResourceClaim updated = *current;
  updated.status = {};
  Store(std::move(updated));
}

void ClaimController::Delete(const api::ResourceClaim& claim) {
  const ClaimPtr current = Find(claim.metadata.namespace_.str(), claim.metadata.name);
  if (!current) return;
  // Pods that wait for devices are requeued by this update; the deletion alone requeues none.
  if (current->status.allocation) Deallocate(*current);
  if (const ClaimPtr last = Find(claim.metadata.namespace_.str(), claim.metadata.name)) {
    driver_.Remove(api::Object(last));
  }
}

}  // namespace berth::controllers
