// What the fuzzer of this layer runs: a configuration file (or a Policy) of arbitrary bytes is loaded, completed,
// validated and converted without a crash or a hang; what loads must read the same after it was written and loaded
// again.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/yaml.h"
#include "config/dump.h"
#include "config/load.h"
#include "config/policy.h"
#include "config/resolve.h"
#include "config/strict_upstream.h"
#include "config/validate.h"

namespace berth::config {

inline void CheckLoaded(KubeSchedulerConfiguration configuration, const FeatureGates& gates) {
  CHECK(Validate(configuration).ok());
  const std::string yaml = DumpYaml(configuration);
  const Result<KubeSchedulerConfiguration> again = LoadText(yaml, gates, "again");
  CHECK(again.ok());
  CHECK(DumpYaml(*again) == yaml);
  CHECK(LoadText(DumpJson(configuration), gates, "again").ok());
  const Result<std::vector<ResolvedPlugins>> resolved = ResolveProfiles(configuration, {});
  CHECK(!resolved.ok() || !resolved->empty());
  if (HideManagedResources(configuration)) DumpYaml(WithUsedArgsOnly(configuration));
  KeepUpstreamOnly(configuration);
  DumpYaml(configuration);
}

inline void FuzzConfiguration(std::string_view input) {
  const Result<std::vector<codec::Document>> documents = codec::ParseYaml(input, "input");
  if (!documents || documents->empty()) return;
  const codec::Value root = documents->front().root();
  const FeatureGates gates;
  if (IsPolicy(root)) {
    std::vector<std::string> warnings;
    LoadOptions options{.file_name = "input", .text = input, .warnings = &warnings};
    if (Result<KubeSchedulerConfiguration> loaded = LoadPolicy(root, gates, options)) Validate(*loaded).ok();
    return;
  }
  // Errors in kube-scheduler's words, and in ours, which include positions in the file.
  const bool plain = LoadText(input, gates).ok();
  Result<KubeSchedulerConfiguration> placed = LoadText(input, gates, "input");
  CHECK(plain == placed.ok());
  LoadText(input, gates, LoadOptions{.file_name = "input", .strict_upstream = true}).ok();
  if (placed) CheckLoaded(std::move(*placed), gates);
}

}  // namespace berth::config
