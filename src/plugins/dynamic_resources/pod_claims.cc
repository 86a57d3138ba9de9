#include "plugins/dynamic_resources/pod_claims.h"

#include <algorithm>
#include <optional>
#include <string>

namespace berth::plugins {
namespace {

struct ClaimName {
  std::optional<std::string> name;  // unset: no claim was needed
  bool made_for_pod = false;        // from a template: must belong to this very pod
};

Result<ClaimName> NameOfClaim(const api::Pod& pod, const api::PodResourceClaim& entry) {
  if (entry.resource_claim_name) return ClaimName{entry.resource_claim_name, false};
  const std::string who = "pod \"" + api::KeyOf(pod.metadata) + "\"";
  if (!entry.resource_claim_template_name) {
    return Error::InvalidArgument(who + ", spec.resourceClaim \"" + entry.name +
                                  "\": none of the supported fields are set");
  }
  const std::vector<api::PodResourceClaimStatus>& made = pod.status.resource_claim_statuses;
  const auto status = std::find_if(made.begin(), made.end(),
                                   [&](const api::PodResourceClaimStatus& s) { return s.name == entry.name; });
  if (status == made.end()) return Error::NotFound(who + ": ResourceClaim not created yet");
  return ClaimName{status->resource_claim_name, true};
}

}  // namespace

Result<std::vector<PodClaim>> FindPodClaims(const api::Pod& pod, const dra::ClaimTracker& tracker) {
  std::vector<PodClaim> claims;
  const std::string_view name_space = pod.metadata.namespace_.str();
  for (const api::PodResourceClaim& entry : pod.spec.resource_claims) {
    const Result<ClaimName> named = NameOfClaim(pod, entry);
    if (!named) return named.error();
    if (!named->name) continue;
    dra::ClaimPtr claim = tracker.Find(name_space, *named->name);
    if (!claim) {
      return Error::NotFound("could not find ResourceClaim \"" + std::string(name_space) + "/" + *named->name + "\"");
    }
    if (claim->metadata.deletion_timestamp) {
      return Error::Unavailable("resourceclaim \"" + claim->metadata.name + "\" is being deleted");
    }
    if (named->made_for_pod) {
      const api::OwnerReference* owner = api::ControllerOf(claim->metadata);
      if (!owner || owner->uid != pod.metadata.uid) {
        return Error::Conflict("ResourceClaim " + api::KeyOf(claim->metadata) + " was not created for Pod " +
                               api::KeyOf(pod.metadata) + " (Pod is not owner)");
      }
    }
    claims.push_back({&entry.name, std::move(claim)});
  }
  return claims;
}

}  // namespace berth::plugins
