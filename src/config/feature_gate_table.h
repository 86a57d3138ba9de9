// The tables behind FeatureGates. Internal to its implementation.
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

// Gates that kube-scheduler consults and berth does not implement, sorted.
std::span<const std::string_view> UnimplementedFeatureGates();

// Grouped by gate, sorted.
std::span<const FeatureDependency> FeatureDependencies();

}  // namespace berth::config
