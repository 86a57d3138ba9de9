// The feature gates scheduling consults, with the defaults of Kubernetes v1.36.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"

namespace berth::config {

enum class FeatureStage { kAlpha, kBeta, kGa, kDeprecated };

struct FeatureGate {
  std::string_view name;
  bool enabled_by_default;
  bool locked = false;  // generally available and no longer switchable
  FeatureStage stage = FeatureStage::kBeta;
};

// Sorted by name.
std::span<const FeatureGate> KnownFeatureGates();

// Immutable after construction; passed to plugins when they are made.
class FeatureGates {
 public:
  FeatureGates() = default;

  // An unknown name, or switching a locked gate, is an error with upstream's wording. "AllAlpha" and "AllBeta" switch
  // whatever is not set by its own name. Gates may be set one by one in any order: dependencies are left to Validate.
  Result<void> Set(std::string_view name, bool enabled);
  // "A=true,B=false", as in --feature-gates. All or nothing, and validated.
  Result<void> Parse(std::string_view assignments);
  // Says which gates are on without the gates they need.
  Result<void> Validate() const;

  // A sentence for each gate that was switched from its default without that changing anything, because berth does not
  // have what it controls. Gates of other components say nothing: one line of gates commonly serves a whole cluster.
  std::vector<std::string> Warnings() const;

  // The name must be a known gate; asking for another is a bug here.
  bool Enabled(std::string_view name) const;

 private:
  base::FlatMap<std::string, bool> overrides_;
};

}  // namespace berth::config
