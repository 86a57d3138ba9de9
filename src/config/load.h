// Loads a configuration file (kubescheduler.config.k8s.io/v1 or any version before it): decodes it as strictly as its
// version did, fills in the defaults of its version, and validates it. Mistakes that only show when profiles are built
// (unknown plugins, no binder) are found by resolve.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/value.h"
#include "config/feature_gates.h"
#include "config/types.h"

namespace berth::config {

// Settings that v1alpha1 and v1alpha2 have for all profiles and later versions have in a profile's plugins and
// arguments.
struct OldSettings {
  bool disable_preemption = false;
  std::optional<int64_t> bind_timeout_seconds{};
  std::optional<int32_t> hard_pod_affinity_weight{};
};

// A Policy that replaces profiles: in a file, or in a ConfigMap of the cluster.
struct PolicySource {
  std::string file{};
  std::string config_map{};
  std::string config_map_namespace = "kube-system";
  OldSettings settings{};
};

struct LoadOptions {
  // With a name, every problem is a line of its own that starts with FILE:LINE:COL. Without one, errors read as
  // kube-scheduler prints them.
  std::string file_name{};
  // The document's text, for the two errors that quote it.
  std::string_view text{};
  // The verdict of kube-scheduler v1.36.4: it reads v1 only, and no fields of berth's own.
  bool strict_upstream = false;
  // Receives warnings about what is not an error, such as an old version.
  std::vector<std::string>* warnings = nullptr;
  // Receives the Policy that the file names (algorithmSource of v1alpha1), for ApplyPolicy. If null, such a file is an
  // error.
  std::optional<PolicySource>* policy_source = nullptr;
  // An algorithm provider whose plugins replace the default ones; takes precedence over one that the file names.
  std::string provider{};
};

Result<KubeSchedulerConfiguration> Load(const codec::Value& root, const FeatureGates& gates,
                                        const LoadOptions& options = {});

// YAML or JSON. Of several YAML documents the first counts, as upstream.
Result<KubeSchedulerConfiguration> LoadText(std::string_view text, const FeatureGates& gates,
                                            std::string file_name = {});
// `options.text` is set here.
Result<KubeSchedulerConfiguration> LoadText(std::string_view text, const FeatureGates& gates, LoadOptions options);

// A plugin's arguments when none are given; nothing for a plugin that takes none.
PluginArgs DefaultArgs(std::string_view plugin, const FeatureGates& gates);

// What an empty configuration means: one profile, "default-scheduler", with the default plugins.
KubeSchedulerConfiguration DefaultConfiguration(const FeatureGates& gates);

}  // namespace berth::config
