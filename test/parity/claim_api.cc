#include "claim_api.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/time.h"
#include "codec/json_writer.h"

namespace berth::parity {

using framework::PodInfo;
using framework::Status;

namespace {

std::string StatusPatch(const std::string& field, const std::string& json) {
  return fmt::format(R"({{"status":{{"{}":{}}}}})", field, json);
}

template <class T>
std::string ListJson(const std::vector<T>& list) {
  std::string out = "[";
  for (const T& item : list) out += (out.size() > 1 ? "," : "") + codec::EncodeJson(item);
  return out + "]";
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

}  // namespace

std::string AllocationText(const api::AllocationResult& allocation, base::Time now) {
  api::AllocationResult marked = allocation;
  for (api::DeviceRequestAllocationResult& result : marked.devices.results) {
    if (result.share_id) result.share_id = "*";
  }
  return Replaced(codec::EncodeJson(marked), "\"" + api::FormatTime(now) + "\"", "\"*\"");
}

void ClaimApi::Start(const framework::ObjectStore<api::ResourceClaim>& claims) {
  before_.clear();
  for (const auto& [key, claim] : claims) before_[api::KeyOf(claim->metadata)] = claim;
  claims_ = before_;
  writes_.clear();
  events.clear();
  waits = false;
  extended_status.reset();
  node_allocatable.clear();
}

std::map<std::string, std::string> ClaimApi::ChangedClaims() const {
  std::map<std::string, std::string> changed;
  for (const auto& [key, claim] : before_) {
    if (!claims_.contains(key)) changed[key] = "null";
  }
  for (const auto& [key, claim] : claims_) {
    const auto known = before_.find(key);
    if (known != before_.end() && known->second == claim) continue;
    const bool is_new = known == before_.end();
    const bool allocated_now = is_new || !known->second->status.allocation;
    std::string text;
    codec::JsonWriter writer(text);
    writer.StartObject();
    if (!claim->metadata.finalizers.empty()) {
      writer.Key("finalizers");
      writer.StartArray();
      for (const std::string& finalizer : claim->metadata.finalizers) writer.String(finalizer);
      writer.EndArray();
    }
    if (is_new) {
      writer.Key("generateName");
      writer.String(claim->metadata.generate_name);
      writer.Key("annotations");
      writer.StartObject();
      for (const auto& [name, value] : claim->metadata.annotations) {
        writer.Key(name);
        writer.String(value);
      }
      writer.EndObject();
      writer.Key("ownerReferences");
      writer.Raw(ListJson(claim->metadata.owner_references));
      writer.Key("spec");
      writer.Object(claim->spec);
    }
    api::ResourceClaimStatus status = claim->status;
    const std::optional<api::AllocationResult> allocation = status.allocation;
    status.allocation.reset();
    writer.Key("status");
    std::string status_text = codec::EncodeJson(status);
    if (allocation) {
      std::string given = allocated_now ? AllocationText(*allocation, clock_.Now())
                                        : Replaced(codec::EncodeJson(*allocation),
                                                   "\"" + api::FormatTime(clock_.Now()) + "\"", "\"*\"");
      status_text.insert(1, "\"allocation\":" + given + (status_text.size() > 2 ? "," : ""));
    }
    writer.Raw(status_text);
    writer.EndObject();
    changed[key] = std::move(text);
  }
  return changed;
}

void ClaimApi::Wrote(std::string verb, const api::ResourceClaim& claim, std::string subresource, std::string patch) {
  writes_.push_back(
      {std::move(verb), "resourceclaims", std::move(subresource), api::KeyOf(claim.metadata), std::move(patch)});
}

ClaimApi::ClaimPtr ClaimApi::Put(api::ResourceClaim claim) {
  const std::string key = api::KeyOf(claim.metadata);
  return claims_[key] = std::make_shared<const api::ResourceClaim>(std::move(claim));
}

// The recordings stop where upstream would wait for devices; here every wait is over at once.
Status ClaimApi::Await(const std::function<std::optional<Status>()>& check, base::Duration) {
  if (std::optional<Status> answer = check()) return *answer;
  if (!events.empty()) waits = true;
  return Status::Success();
}

framework::ApiWriter::ClaimResult ClaimApi::GetResourceClaim(const std::string& name_space, const std::string& name) {
  const auto found = claims_.find(name_space + "/" + name);
  if (found == claims_.end()) return Error::NotFound(fmt::format("resourceclaims \"{}\" not found", name));
  return found->second;
}

framework::ApiWriter::ClaimResult ClaimApi::CreateResourceClaim(const api::ResourceClaim& claim) {
  api::ResourceClaim created = claim;
  created.metadata.name = claim.metadata.generate_name + "*";
  Wrote("create", created);
  created.metadata.name = claim.metadata.generate_name + "aaaaa";
  created.metadata.uid = "uid-" + created.metadata.name;
  return Put(std::move(created));
}

framework::ApiWriter::ClaimResult ClaimApi::UpdateResourceClaim(const api::ResourceClaim& claim) {
  Wrote("update", claim);
  api::ResourceClaim updated = *claims_.at(api::KeyOf(claim.metadata));
  updated.metadata.finalizers = claim.metadata.finalizers;
  return Put(std::move(updated));
}

framework::ApiWriter::ClaimResult ClaimApi::UpdateResourceClaimStatus(const api::ResourceClaim& claim) {
  Wrote("update", claim, "status");
  api::ResourceClaim updated = *claims_.at(api::KeyOf(claim.metadata));
  updated.status = claim.status;
  return Put(std::move(updated));
}

Result<void> ClaimApi::SetExtendedResourceClaimStatus(const PodInfo& pod,
                                                      const api::PodExtendedResourceClaimStatus& status) {
  writes_.push_back(
      {"patch", "pods", "status", pod.Key(), StatusPatch("extendedResourceClaimStatus", codec::EncodeJson(status))});
  extended_status = status;
  return {};
}

Result<void> ClaimApi::SetNodeAllocatableResourceClaimStatuses(
    const PodInfo& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) {
  writes_.push_back(
      {"patch", "pods", "status", pod.Key(), StatusPatch("nodeAllocatableResourceClaimStatuses", ListJson(statuses))});
  node_allocatable = statuses;
  return {};
}

Status ClaimApi::ClearNodeAllocatableResourceClaimStatuses(const PodInfo& pod) {
  writes_.push_back(
      {"patch", "pods", "status", pod.Key(), StatusPatch("nodeAllocatableResourceClaimStatuses", "null")});
  node_allocatable.clear();
  return {};
}

void ClaimApi::Announce(const PodInfo&, const std::string& reason, const std::string& action, const std::string& note) {
  events.push_back({reason, action, note});
}

Status ClaimApi::UnreserveResourceClaim(const api::ResourceClaim& claim, const PodInfo& pod) {
  Wrote("patch", claim, "status",
        fmt::format(R"({{"metadata":{{"uid":"{}"}},"status":{{"reservedFor":[{{"$patch":"delete","uid":"{}"}}]}}}})",
                    claim.metadata.uid, pod.uid()));
  api::ResourceClaim updated = *claims_.at(api::KeyOf(claim.metadata));
  std::erase_if(updated.status.reserved_for, [&](const auto& user) { return user.uid == pod.uid(); });
  Put(std::move(updated));
  return {};
}

Status ClaimApi::DeallocateResourceClaim(const api::ResourceClaim& claim, const PodInfo& /*pod*/) {
  Wrote("update", claim, "status");
  api::ResourceClaim updated = *claims_.at(api::KeyOf(claim.metadata));
  updated.status = {};
  Put(std::move(updated));
  return {};
}

Status ClaimApi::DeleteResourceClaim(const api::ResourceClaim& claim, const PodInfo& /*pod*/) {
  Wrote("update", claim);
  Wrote("delete", claim);
  claims_.erase(api::KeyOf(claim.metadata));
  return {};
}

}  // namespace berth::parity
