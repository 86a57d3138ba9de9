#include "configuration_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "codec/gzip.h"
#include "codec/yaml.h"
#include "config/load.h"
#include "config/policy.h"
#include "config/resolve.h"
#include "plugin_catalog.h"
#include "plugin_library/library.h"
#include "plugins/registry.h"

namespace berth::cmd {

namespace {

// The ConfigMap of that name in `value`, which may be a list of objects.
const codec::Value* FindConfigMap(const codec::Value& value, const config::PolicySource& source) {
  if (const codec::Value* items = value.Find("items")) {
    for (const codec::Value& item : items->items()) {
      if (const codec::Value* found = FindConfigMap(item, source)) return found;
    }
  }
  const codec::Value* metadata = value.Find("metadata");
  if (metadata == nullptr || value.TextAt("kind") != "ConfigMap") return nullptr;
  const std::string_view name_space = metadata->TextAt("namespace");
  const bool same_namespace = (name_space.empty() ? "default" : name_space) == source.config_map_namespace;
  return same_namespace && metadata->TextAt("name") == source.config_map ? &value : nullptr;
}

Result<std::string> FindInFiles(const config::PolicySource& source, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (file == "-") continue;  // can be read only once, and contains the cluster
    const Result<std::string> text = codec::ReadFile(file);
    if (!text) return text.error();
    const Result<std::vector<codec::Document>> documents = codec::ParseYaml(*text, file);
    if (!documents) return documents.error();
    for (const codec::Document& document : *documents) {
      if (const codec::Value* found = FindConfigMap(document.root(), source)) return config::PolicyTextOf(*found);
    }
  }
  return Error::NotFound(
      fmt::format("couldn't get policy config map {}/{}: configmaps \"{}\" not found in the files given with -f",
                  source.config_map_namespace, source.config_map, source.config_map));
}

// The Policy that the flags select, in upstream's order of precedence.
std::optional<config::PolicySource> PolicyOf(const ConfigurationFlags& flags) {
  const bool from_map = !flags.use_legacy_policy_config && !flags.policy_configmap.empty();
  if (!from_map && flags.policy_config_file.empty()) return std::nullopt;
  config::PolicySource source;
  if (!from_map) {
    source.file = flags.policy_config_file;
    return source;
  }
  source.config_map = flags.policy_configmap;
  if (!flags.policy_configmap_namespace.empty()) source.config_map_namespace = flags.policy_configmap_namespace;
  return source;
}

Result<void> TakePolicy(const config::PolicySource& source, const ConfigMapReader& read_config_map,
                        SchedulerSetup& setup) {
  const bool from_map = source.file.empty();
  const Result<std::string> text =
      from_map ? read_config_map(source, setup.configuration.client_connection) : codec::ReadFile(source.file);
  if (!text) return text.error();
  config::LoadOptions options;
  options.file_name =
      from_map ? fmt::format("configmap {}/{}", source.config_map_namespace, source.config_map) : source.file;
  options.warnings = &setup.warnings;
  return config::ApplyPolicy(*text, source, setup.gates, options, setup.configuration);
}

// Whether the file configures plugins, rather than only the scheduler's name.
bool ConfiguresPlugins(const codec::Value& root) {
  const auto configures = [](const codec::Value& profile) {
    const codec::Value* plugins = profile.Find("plugins");
    const codec::Value* args = profile.Find("pluginConfig");
    return (plugins != nullptr && !plugins->is_null()) || (args != nullptr && !args->items().empty());
  };
  const codec::Value* profiles = root.Find("profiles");
  if (profiles == nullptr || profiles->items().empty()) return configures(root);
  return profiles->items().size() > 1 || configures(profiles->items().front());
}

struct LoadedFile {
  config::KubeSchedulerConfiguration configuration;
  bool configures_plugins = false;
  std::optional<config::PolicySource> policy{};
};

Result<LoadedFile> LoadFile(const ConfigurationFlags& flags, SchedulerSetup& setup) {
  const Result<std::string> text = codec::ReadFile(flags.config);
  if (!text) return text.error();
  LoadedFile file;
  config::LoadOptions options;
  options.file_name = flags.config;
  options.warnings = &setup.warnings;
  options.policy_source = &file.policy;
  options.provider = flags.algorithm_provider;
  Result<config::KubeSchedulerConfiguration> loaded = config::LoadText(*text, setup.gates, options);
  if (!loaded) return loaded.error();
  file.configuration = std::move(*loaded);
  const Result<std::vector<codec::Document>> documents = codec::ParseYaml(*text, flags.config);
  file.configures_plugins = documents && !documents->empty() && ConfiguresPlugins(documents->front().root());
  return file;
}

// The profiles before any Policy: from the file, from the provider, or the defaults.
Result<LoadedFile> LoadBase(const ConfigurationFlags& flags, SchedulerSetup& setup) {
  if (!flags.config.empty()) return LoadFile(flags, setup);
  if (flags.algorithm_provider.empty()) return LoadedFile{config::DefaultConfiguration(setup.gates)};
  auto provider = config::ProviderConfiguration(flags.algorithm_provider, setup.gates);
  if (!provider) return provider.error();
  return LoadedFile{*std::move(provider)};
}

Result<void> CheckCombination(const ConfigurationFlags& flags) {
  if (flags.use_legacy_policy_config && flags.policy_config_file.empty()) {
    return Error::InvalidArgument("policyConfigFile: Required value: required when --use-legacy-policy-config is true");
  }
  const bool policy = !flags.policy_config_file.empty() || !flags.policy_configmap.empty();
  if (policy && !flags.algorithm_provider.empty()) {
    return Error::InvalidArgument("cannot set an algorithm provider and Policy config");
  }
  return {};
}

// Plugins that a feature gate or a file enables but berth cannot run are skipped, with a warning.
void LeaveOutMissing(SchedulerSetup& setup) {
  for (const CatalogEntry& missing : MissingPlugins(setup.registry)) {
    size_t dropped = 0;
    const auto drop = [&](config::PluginSet& set) {
      dropped += std::erase_if(set.enabled, [&](const config::Plugin& plugin) { return plugin.name == missing.name; });
    };
    for (config::Profile& profile : setup.configuration.profiles) {
      for (config::PluginSet& set : profile.plugins.points) drop(set);
      drop(profile.plugins.multi_point);
      drop(profile.plugins.placement_generate);
      drop(profile.plugins.placement_score);
    }
    if (dropped > 0)
      setup.warnings.push_back(fmt::format("plugin {} is not implemented yet and left out", missing.name));
  }
}

}  // namespace

void ConfigurationFlags::AddTo(FlagSet& flags) {
  flags.Add(&config, "config", 0, "FILE", "KubeSchedulerConfiguration; the defaults of kube-scheduler without it");
  flags.Add(&feature_gates, "feature-gates", 0, "A=true,B=false", "feature gates, as kube-scheduler's");
  flags.Add(&algorithm_provider, "algorithm-provider", 0, "NAME",
            "DefaultProvider or ClusterAutoscalerProvider (deprecated)");
  flags.Add(&policy_config_file, "policy-config-file", 0, "FILE", "scheduler Policy, JSON or YAML (deprecated)");
  flags.Add(&policy_configmap, "policy-configmap", 0, "NAME",
            "ConfigMap among the input with a scheduler Policy at policy.cfg (deprecated)");
  flags.Add(&policy_configmap_namespace, "policy-configmap-namespace", 0, "NAMESPACE",
            "namespace of that ConfigMap (default kube-system)");
  flags.Add(&use_legacy_policy_config, "use-legacy-policy-config", 0,
            "take the Policy file even if a ConfigMap is named (deprecated)");
  AddPluginFolders(flags, &plugin_folders);
}

void ConfigurationFlags::AddOfOtherScheduler(FlagSet& flags, const std::string& purpose) {
  flags.Add(&config, "config", 0, "FILE",
            "KubeSchedulerConfiguration of the other scheduler" + purpose + " (default berth's own defaults)");
  flags.Add(&feature_gates, "feature-gates", 0, "A=true,B=false", "feature gates of the other scheduler");
  AddPluginFolders(flags, &plugin_folders);
}

void AddPluginFolders(FlagSet& flags, std::vector<std::string>* folders) {
  flags.Add(folders, "plugin-dir", 0, "DIR", "folder with plugin libraries, *.so; repeat for several");
}

Result<config::FeatureGates> LoadGates(const std::string& assignments, std::vector<std::string>& warnings) {
  config::FeatureGates gates;
  if (const Result<void> parsed = gates.Parse(assignments); !parsed) {
    return Error::InvalidArgument("--feature-gates: " + parsed.error().message);
  }
  for (std::string& warning : gates.Warnings()) warnings.push_back("--feature-gates: " + warning);
  return gates;
}

Result<framework::Registry> MakeRegistry(const framework::Registry& own_plugins) {
  framework::Registry registry = plugins::InTreeRegistry();
  if (Result<void> merged = registry.Merge(own_plugins); !merged) return merged.error();
  return registry;
}

bool WatchesResources(const framework::Registry& registry) {
  return registry.entries().size() > plugins::InTreeRegistry().entries().size();
}

Result<void> AddLibraries(const config::KubeSchedulerConfiguration& configuration, const std::string& file,
                          const std::vector<std::string>& folders, framework::Registry& registry) {
  std::vector<std::string> paths;
  for (const config::PluginLibrary& library : configuration.plugin_libraries) {
    paths.push_back((std::filesystem::path(file).parent_path() / library.path).string());
  }
  for (const std::string& folder : folders) {
    Result<std::vector<std::string>> found = plugin_library::LibrariesIn(folder);
    if (!found) return Error{found.error().code, "--plugin-dir: " + found.error().message};
    paths.insert(paths.end(), found->begin(), found->end());
  }
  return plugin_library::LoadInto(registry, paths);
}

ConfigMapReader ConfigMapInFiles(std::vector<std::string> files) {
  return [files = std::move(files)](const config::PolicySource& source, const config::ClientConnection&) {
    return FindInFiles(source, files);
  };
}

Result<SchedulerSetup> LoadSetup(const ConfigurationFlags& flags, const ConfigMapReader& read_config_map,
                                 const framework::Registry& own_plugins) {
  SchedulerSetup setup;
  Result<config::FeatureGates> gates = LoadGates(flags.feature_gates, setup.warnings);
  if (!gates) return gates.error();
  setup.gates = std::move(*gates);
  if (Result<void> combined = CheckCombination(flags); !combined) return combined.error();

  Result<LoadedFile> file = LoadBase(flags, setup);
  if (!file) return file.error();
  setup.configuration = std::move(file->configuration);
  if (!flags.algorithm_provider.empty()) {
    setup.warnings.push_back("--algorithm-provider is deprecated; berth config show prints what it means");
  }
  const std::optional<config::PolicySource> by_flags = PolicyOf(flags);
  const std::optional<config::PolicySource>& policy = by_flags ? by_flags : file->policy;
  if (policy) {
    if (file->configures_plugins) return Error::InvalidArgument("cannot set a Plugin config and Policy config");
    if (Result<void> taken = TakePolicy(*policy, read_config_map, setup); !taken) return taken.error();
  }
  if (setup.configuration.parallelism != config::KubeSchedulerConfiguration().parallelism) {
    setup.warnings.push_back(
        fmt::format("parallelism: {} has no effect: one thread evaluates all nodes, and more were not faster",
                    setup.configuration.parallelism));
  }
  if (Result<void> hidden = config::HideManagedResources(setup.configuration); !hidden) return hidden.error();
  Result<framework::Registry> registry = MakeRegistry(own_plugins);
  if (!registry) return registry.error();
  setup.registry = std::move(*registry);
  const auto added = AddLibraries(setup.configuration, flags.config, flags.plugin_folders, setup.registry);
  if (!added) return added.error();
  LeaveOutMissing(setup);
  return setup;
}

}  // namespace berth::cmd
