// A configuration file (kubescheduler.config.k8s.io/v1, v1beta3 or v1beta2) into KubeSchedulerConfiguration: decoded
// strictly, defaulted as its version defaults, validated. What only shows when the scheduler is put together (unknown
// plugins, no binder) is resolve.h's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/value.h"
#include "config/feature_gates.h"
#include "config/types.h"

namespace berth::config {

struct LoadOptions {
  // With a name, every problem is a line of its own that starts with FILE:LINE:COL. Without, errors read as
  // kube-scheduler prints them.
  std::string file_name{};
  // The document's text, for the two errors that quote it.
  std::string_view text{};
  // The verdict of kube-scheduler v1.36.4: it reads v1 only, and no fields of berth's own.
  bool strict_upstream = false;
  // Gets what is worth a sentence without being wrong, such as an old version.
  std::vector<std::string>* warnings = nullptr;
};

Result<KubeSchedulerConfiguration> Load(const codec::Value& root, const FeatureGates& gates,
                                        const LoadOptions& options = {});

// YAML or JSON. Of several YAML documents the first counts, as upstream has it.
Result<KubeSchedulerConfiguration> LoadText(std::string_view text, const FeatureGates& gates,
                                            std::string file_name = {});
// `options.text` is set here.
Result<KubeSchedulerConfiguration> LoadText(std::string_view text, const FeatureGates& gates, LoadOptions options);

// A plugin's arguments when none are given; nothing for a plugin that takes none.
PluginArgs DefaultArgs(std::string_view plugin, const FeatureGates& gates);

// What an empty configuration means: one profile, "default-scheduler", with the default plugins.
KubeSchedulerConfiguration DefaultConfiguration(const FeatureGates& gates);

}  // namespace berth::config
