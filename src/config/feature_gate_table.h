// The facts behind FeatureGates; only its implementation looks here.
#pragma once

#include <span>
#include <string_view>

#include "config/feature_gates.h"

namespace berth::config {

// `gate` may be on only while `needs` is.
struct FeatureDependency {
  std::string_view gate;
  std::string_view needs;
};

// Grouped by gate, sorted.
std::span<const FeatureDependency> FeatureDependencies();

}  // namespace berth::config
