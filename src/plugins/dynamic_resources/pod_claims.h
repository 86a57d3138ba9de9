// The ResourceClaims a pod refers to, by name or through a template.
#pragma once

#include <vector>

#include "api/pod.h"
#include "api/resource_claim.h"
#include "base/result.h"
#include "dra/claim_tracker.h"

namespace berth::plugins {

struct PodClaim {
  const std::string* name;  // in the pod's spec
  dra::ClaimPtr claim;
};

// Entries for which deliberately no claim was made are left out. An error says why the pod must wait: a claim
// is missing, is being deleted, or belongs to another pod.
Result<std::vector<PodClaim>> FindPodClaims(const api::Pod& pod, const dra::ClaimTracker& claims);

}  // namespace berth::plugins
