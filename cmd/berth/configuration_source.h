// Where a command takes its scheduler configuration from: a file, or one of the three sources of older schedulers (a
// Policy file, a Policy ConfigMap, the name of an algorithm provider), and the feature gates that go with it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/feature_gates.h"
#include "config/types.h"
#include "flags.h"
#include "framework/registry.h"

namespace berth::cmd {

struct ConfigurationFlags {
  std::string config;
  std::string feature_gates;
  std::string algorithm_provider;
  std::string policy_config_file;
  std::string policy_configmap;
  std::string policy_configmap_namespace = "kube-system";
  bool use_legacy_policy_config = false;
  std::vector<std::string> plugin_folders;

  void AddTo(FlagSet& flags);
};

// --plugin-dir, for every verb that takes a configuration.
void AddPluginFolders(FlagSet& flags, std::vector<std::string>* folders);

struct SchedulerSetup {
  config::KubeSchedulerConfiguration configuration;
  config::FeatureGates gates;
  framework::Registry registry;  // every plugin that the configuration may name
  std::vector<std::string> warnings;
};

// `object_files` is where a Policy ConfigMap is looked up. The ConfigMap wins over the Policy file unless
// --use-legacy-policy-config; a provider or a Policy cannot be combined with profiles of a file, or with each other.
Result<SchedulerSetup> LoadSetup(const ConfigurationFlags& flags, const std::vector<std::string>& object_files,
                                 const framework::Registry& own_plugins);

// Berth's plugins and the program's own. A duplicate name is an error that names both origins.
Result<framework::Registry> MakeRegistry(const framework::Registry& own_plugins);

// The plugins of the libraries that the configuration names, relative to the folder of its `file`, and of those in
// `folders`.
Result<void> AddLibraries(const config::KubeSchedulerConfiguration& configuration, const std::string& file,
                          const std::vector<std::string>& folders, framework::Registry& registry);

// Only the gates: parsed, and a warning for each that changes nothing here.
Result<config::FeatureGates> LoadGates(const std::string& assignments, std::vector<std::string>& warnings);

}  // namespace berth::cmd
