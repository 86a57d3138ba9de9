// Parts of a file that kube-scheduler decoded with Go's encoding/json: the extenders of a Policy, and the arguments of
// plugins before v1beta1. There a field is found whatever the case of its name, and an unknown one is skipped.
// Internal to this folder.
#pragma once

#include <string_view>
#include <vector>

#include "codec/decode.h"
#include "config/load.h"

namespace berth::config {

// Merges the diagnostics of decoding in any case with those of exact decoding: unknown fields go to `skipped`,
// everything else to `diagnostics`, once.
void MergeAnyCase(const std::vector<codec::Diagnostic>& exact, const std::vector<codec::Diagnostic>& any_case,
                  std::vector<codec::Diagnostic>& diagnostics, std::vector<codec::Diagnostic>& skipped);

template <codec::Described T>
void DecodeAnyCase(const codec::Value& value, T& out, std::vector<codec::Diagnostic>& diagnostics,
                   std::vector<codec::Diagnostic>& skipped, std::string_view path = {}) {
  // Decoding in any case also accepts a number where text is expected, which encoding/json does not: that mistake is
  // found by exact decoding.
  std::vector<codec::Diagnostic> exact, any_case;
  T unused{};
  codec::Decode(value, unused, {.strict = true}, exact, path);
  codec::Decode(value, out, {.strict = true, .yaml = true}, any_case, path);
  MergeAnyCase(exact, any_case, diagnostics, skipped);
}

// Adds a warning, with its position if the file has a name.
void AddWarning(const LoadOptions& options, codec::Mark where, std::string_view text);
// Adds a warning for each field that was skipped.
void WarnOfSkipped(const LoadOptions& options, const std::vector<codec::Diagnostic>& skipped);

}  // namespace berth::config
