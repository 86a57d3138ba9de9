// The two sources of the algorithm in schedulers before v1.23: a Policy (a file, or a ConfigMap's "policy.cfg") and the
// name of an algorithm provider. Both become a KubeSchedulerConfiguration, mapped to plugins and arguments as
// Kubernetes 1.22 mapped them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/value.h"
#include "config/feature_gates.h"
#include "config/load.h"
#include "config/types.h"

namespace berth::config {

inline constexpr std::string_view kPolicyConfigMapKey = "policy.cfg";

// Whether a document is a Policy, rather than a configuration or something else.
bool IsPolicy(const codec::Value& root);

// Only file_name and warnings of `options` are used.
Result<KubeSchedulerConfiguration> LoadPolicy(const codec::Value& root, const FeatureGates& gates,
                                              const LoadOptions& options = {});

// JSON or YAML.
Result<KubeSchedulerConfiguration> LoadPolicyText(std::string_view text, const FeatureGates& gates,
                                                  const LoadOptions& options = {});

// Replaces every profile's plugins and the extenders by those of the Policy; the profiles keep their names.
Result<void> ApplyPolicy(std::string_view text, const PolicySource& source, const FeatureGates& gates,
                         const LoadOptions& options, KubeSchedulerConfiguration& configuration);

// The Policy inside a ConfigMap, as text.
Result<std::string> PolicyTextOf(const codec::Value& config_map);

// "DefaultProvider" or "ClusterAutoscalerProvider".
Result<KubeSchedulerConfiguration> ProviderConfiguration(std::string_view provider, const FeatureGates& gates);

}  // namespace berth::config
