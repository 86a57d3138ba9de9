// LeaseCandidates as the API server reads and writes them. JSON only: they are not among the registered kinds.
#pragma once

#include <string>

#include "api/coordination.h"
#include "api/custom_object.h"
#include "base/result.h"

namespace berth::client {

// The version that client-go uses; kube-apiserver v1.36 has no later one.
const api::GroupVersionResource& LeaseCandidateResource();

std::string EncodeLeaseCandidate(const api::LeaseCandidate& candidate);
Result<api::LeaseCandidate> DecodeLeaseCandidate(const std::string& json);

}  // namespace berth::client
