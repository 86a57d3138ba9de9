// The ResourceClaims a pod refers to, by name or through a template.
#pragma once

#include <vector>

#include "api/pod.h"
#include "api/resource_claim.h"
#include "base/result.h"
#include "framework/objects.h"

namespace berth::plugins {

// Entries for which deliberately no claim was made are left out. An error says why the pod must wait: a claim is
// missing, on its way out, or somebody else's.
Result<std::vector<const api::ResourceClaim*>> FindPodClaims(const api::Pod& pod, const framework::Objects& objects);

}  // namespace berth::plugins
