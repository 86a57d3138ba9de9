#include "config/feature_gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/field_error.h"
#include "base/ascii.h"
#include "base/check.h"
#include "config/feature_gate_table.h"

namespace berth::config {
namespace {

const FeatureGate* FindGate(std::string_view name) {
  const std::span<const FeatureGate> gates = KnownFeatureGates();
  const auto it = std::ranges::lower_bound(gates, name, {}, &FeatureGate::name);
  return it != gates.end() && it->name == name ? &*it : nullptr;
}

Result<std::vector<std::pair<std::string_view, bool>>> Split(std::string_view assignments) {
  std::vector<std::pair<std::string_view, bool>> parsed;
  while (!assignments.empty()) {
    const size_t comma = assignments.find(',');
    const std::string_view part = assignments.substr(0, comma);
    assignments = comma == std::string_view::npos ? std::string_view() : assignments.substr(comma + 1);
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    const std::string_view name = base::Trimmed(part.substr(0, equals));
    if (equals == std::string_view::npos) {
      return Error::InvalidArgument(fmt::format("missing bool value for {}", name));
    }
    const std::string_view text = base::Trimmed(part.substr(equals + 1));
    const Result<bool> value = ParseBool(text);
    if (!value) {
      return Error::InvalidArgument(fmt::format("invalid value of {}={}, err: {}", name, text, value.error().message));
    }
    parsed.emplace_back(name, *value);
  }
  return parsed;
}

}  // namespace

Result<bool> ParseBool(std::string_view text) {
  for (std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return Error::InvalidArgument(fmt::format("strconv.ParseBool: parsing {}: invalid syntax", api::Quote(text)));
}

Result<void> FeatureGates::Set(std::string_view name, bool enabled) {
  const FeatureGate* gate = FindGate(name);
  if (gate == nullptr) return Error::InvalidArgument(fmt::format("unrecognized feature gate: {}", name));
  if (gate->locked && gate->enabled_by_default != enabled) {
    return Error::InvalidArgument(fmt::format("cannot set feature gate {} to {}, feature is locked to {}", name,
                                              enabled, gate->enabled_by_default));
  }
  overrides_.Set(std::string(name), enabled);
  return {};
}

Result<void> FeatureGates::Parse(std::string_view assignments) {
  const auto parsed = Split(assignments);
  if (!parsed) return parsed.error();
  FeatureGates changed = *this;
  std::vector<std::string> errors;
  for (const auto& [name, enabled] : *parsed) {
    const Result<void> set = changed.Set(name, enabled);
    if (set) continue;
    // Stop at an unknown name: a mistyped gate is the error to report, not those after it.
    if (FindGate(name) == nullptr) return set.error();
    errors.push_back(set.error().message);
  }
  if (!errors.empty()) return Error::InvalidArgument(api::JoinErrors(errors));
  if (Result<void> valid = changed.Validate(); !valid) return valid;
  *this = std::move(changed);
  return {};
}

Result<void> FeatureGates::Validate() const {
  std::vector<std::string> errors;
  const std::span<const FeatureDependency> all = FeatureDependencies();
  for (auto group = all.begin(); group != all.end();) {
    const auto end = std::find_if(group, all.end(), [&](const auto& other) { return other.gate != group->gate; });
    std::vector<std::string_view> missing;
    for (auto it = group; it != end; ++it) {
      if (!Enabled(it->needs)) missing.push_back(it->needs);
    }
    if (!missing.empty() && Enabled(group->gate)) {
      errors.push_back(fmt::format("{} is enabled, but depends on features that are disabled: [{}]", group->gate,
                                   fmt::join(missing, " ")));
    }
    group = end;
  }
  if (!errors.empty()) return Error::InvalidArgument(api::JoinErrors(errors));
  return {};
}

std::vector<std::string> FeatureGates::Warnings() const {
  std::vector<std::string> warnings;
  for (std::string_view name : UnimplementedFeatureGates()) {
    const FeatureGate* gate = FindGate(name);
    if (Enabled(name) == gate->enabled_by_default) continue;
    warnings.push_back(fmt::format("{}={} has no effect: berth knows this feature gate but does not implement it yet",
                                   name, !gate->enabled_by_default));
  }
  return warnings;
}

bool FeatureGates::Enabled(std::string_view name) const {
  const FeatureGate* gate = FindGate(name);
  CHECK_WHY(gate != nullptr, "asked for a feature gate that does not exist");
  if (overrides_.empty()) return gate->enabled_by_default;
  if (const bool* set = overrides_.Find(std::string(name))) return *set;
  if (gate->stage == FeatureStage::kAlpha) {
    if (const bool* all = overrides_.Find("AllAlpha")) return *all;
  } else if (gate->stage == FeatureStage::kBeta) {
    if (const bool* all = overrides_.Find("AllBeta")) return *all;
  }
  return gate->enabled_by_default;
}

}  // namespace berth::config
