// Where a command gets its scheduler configuration from: a file, or one of the three sources of older schedulers (a
// Policy file, a Policy ConfigMap, the name of an algorithm provider), and its feature gates.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/feature_gates.h"
#include "config/load.h"
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
  // For verbs that follow another scheduler: its configuration. `purpose` is what it serves, or "".
  void AddOfOtherScheduler(FlagSet& flags, const std::string& purpose);
};

// --plugin-dir, for every verb that takes a configuration.
void AddPluginFolders(FlagSet& flags, std::vector<std::string>* folders);

struct SchedulerSetup {
  config::KubeSchedulerConfiguration configuration;
  config::FeatureGates gates;
  framework::Registry registry;  // every plugin that the configuration may name
  std::vector<std::string> warnings;
};

// The Policy in a ConfigMap, as text. `connection` is the configuration's connection to the API server.
using ConfigMapReader =
    std::function<Result<std::string>(const config::PolicySource& source, const config::ClientConnection& connection)>;

// Finds a Policy's ConfigMap among objects in files, for commands without a cluster.
ConfigMapReader ConfigMapInFiles(std::vector<std::string> files);

// The ConfigMap takes precedence over the Policy file unless --use-legacy-policy-config, and both over a Policy that
// the --config file names. A Policy's plugins are those of the single profile: a file that also configures plugins is
// an error. A provider's plugins are the base of every profile in the file.
Result<SchedulerSetup> LoadSetup(const ConfigurationFlags& flags, const ConfigMapReader& read_config_map,
                                 const framework::Registry& own_plugins);

// Berth's plugins and the program's own. A duplicate name is an error that names both origins.
Result<framework::Registry> MakeRegistry(const framework::Registry& own_plugins);

// Whether there are plugins other than berth's, which may read custom resources.
bool WatchesResources(const framework::Registry& registry);

// Adds the plugins of the libraries that the configuration names, relative to the folder of its `file`, and of those in
// `folders`.
Result<void> AddLibraries(const config::KubeSchedulerConfiguration& configuration, const std::string& file,
                          const std::vector<std::string>& folders, framework::Registry& registry);

// Only the gates: parsed, with a warning for each that has no effect here.
Result<config::FeatureGates> LoadGates(const std::string& assignments, std::vector<std::string>& warnings);

}  // namespace berth::cmd
