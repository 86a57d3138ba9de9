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

// The spellings that Go's strconv.ParseBool accepts, and its error.
Result<bool> ParseBool(std::string_view text);

// Immutable after construction; passed to plugins when they are made.
class FeatureGates {
 public:
  FeatureGates() = default;

  // An unknown name, or switching a locked gate, is an error with upstream's wording. "AllAlpha" and "AllBeta" switch
  // the gates that are not set by their own name. Gates may be set one by one in any order: dependencies are left to
  // Validate.
  Result<void> Set(std::string_view name, bool enabled);
  // "A=true,B=false", as in --feature-gates. All or nothing, and validated.
  Result<void> Parse(std::string_view assignments);
  // Reports gates that are enabled without the gates they depend on.
  Result<void> Validate() const;

  // A warning for each gate that was changed from its default without effect, because berth does not implement the
  // feature. Gates of other components are not reported: clusters commonly pass one list to all components.
  std::vector<std::string> Warnings() const;

  // The name must be a known gate; any other is a bug in berth.
  bool Enabled(std::string_view name) const;

 private:
  base::FlatMap<std::string, bool> overrides_;
};

}  // namespace berth::config
