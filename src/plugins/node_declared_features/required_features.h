// The declared node features that a pod needs, derived from its spec. Features that matter only when a running pod is
// changed do not concern the scheduler.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "api/pod.h"

namespace berth::plugins {

// A set of the features known here, one bit each.
using FeatureSet = uint32_t;

FeatureSet RequiredFeatures(const api::PodSpec& spec);
// Those of `declared` that are known here; others are ignored.
FeatureSet KnownFeatures(std::span<const std::string> declared);

}  // namespace berth::plugins
