// The rules of a file's version for its fields, beyond the schema that all versions share.
// Internal to this folder.
#pragma once

#include <string>
#include <vector>

#include "codec/decode.h"
#include "config/decode_errors.h"
#include "config/load.h"
#include "config/versions.h"

namespace berth::config {

// Rejects what the version did not have yet (and, for options.strict_upstream, what is berth's own), removes what has
// since been dropped from `diagnostics`, and warns of the version and of everything in it that has no effect.
void CheckVersion(const codec::Value& root, FileVersion version, const LoadOptions& options,
                  std::vector<codec::Diagnostic>& diagnostics, DecodeErrors& errors);

// NodeResourcesFit does not score before v1beta1, and in v1beta1 not together with the plugins whose strategies it took
// over.
void CheckScoringByFit(const KubeSchedulerConfiguration& configuration, FileVersion version,
                       std::vector<std::string>& problems);

}  // namespace berth::config
