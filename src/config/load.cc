#include "config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/field_error.h"
#include "api/pod.h"
#include "base/check.h"
#include "codec/decode.h"
#include "codec/field_mark.h"
#include "codec/json_writer.h"
#include "codec/yaml.h"
#include "config/any_case.h"
#include "config/args_reader.h"
#include "config/decode_errors.h"
#include "config/default_plugins.h"
#include "config/file_conversion.h"
#include "config/file_format.h"
#include "config/old_fields.h"
#include "config/validate.h"
#include "config/version_check.h"
#include "config/versions.h"

namespace berth::config {
namespace {

constexpr std::string_view kNodeResourcesFit = "NodeResourcesFit";
constexpr std::string_view kPodTopologySpread = "PodTopologySpread";

std::string NotRegistered(std::string_view kind, std::string_view api_version) {
  return fmt::format(
      "no kind \"{}\" is registered for version \"{}\" in scheme \"pkg/scheduler/apis/config/scheme/scheme.go:29\"",
      kind, api_version);
}

// Whether that version has a type for the plugin's arguments; otherwise they belong to a plugin unknown to it.
bool HasArgsIn(FileVersion version, std::string_view plugin) {
  return HasArgsType(plugin) && (version == FileVersion::kV1beta1 || !HasLegacyArgs(plugin));
}

bool IsArgsKind(FileVersion version, std::string_view kind) {
  if (!kind.ends_with("Args")) return false;
  return HasArgsIn(version, kind.substr(0, kind.size() - std::string_view("Args").size()));
}

std::string_view TextMember(const codec::Value& object, std::string_view name) {
  const codec::Value* member = object.Find(name);
  return member != nullptr && member->is_string() ? member->text() : std::string_view();
}

// An error when kind and apiVersion are not those of a configuration; empty when they are.
std::string WrongKind(const codec::Value& root, const LoadOptions& options) {
  const std::string_view text = options.text;
  const std::string_view kind = TextMember(root, "kind");
  const std::string_view api_version = TextMember(root, "apiVersion");
  if (kind.empty()) return fmt::format("Object 'Kind' is missing in '{}'", text);
  if (api_version.empty()) return fmt::format("Object 'apiVersion' is missing in '{}'", text);
  if (api_version == kApiVersion && kind == kConfigurationKind) return {};
  if (!options.strict_upstream && ParseFileVersion(api_version) && kind == kConfigurationKind) return {};
  if (api_version == kApiVersion && IsArgsKind(FileVersion::kV1, kind)) {
    return fmt::format("couldn't decode as KubeSchedulerConfiguration, got {}, Kind={}: ", api_version, kind);
  }
  return NotRegistered(kind, api_version);
}

// The same for a plugin's arguments, which may omit kind and apiVersion.
std::string WrongArgsKind(const codec::Value& args, const std::string& plugin, FileVersion version) {
  const std::string own_kind = plugin + "Args";
  std::string_view kind = TextMember(args, "kind");
  std::string_view api_version = TextMember(args, "apiVersion");
  if (kind.empty()) kind = own_kind;
  if (api_version.empty()) api_version = NameOf(version);
  const bool known = api_version == NameOf(version) && (kind == kConfigurationKind || IsArgsKind(version, kind));
  if (!known) return fmt::format("decoding args for plugin {}: {}", plugin, NotRegistered(kind, api_version));
  if (kind == own_kind) return {};
  return fmt::format("args for plugin {} were not of type {}.{}, got {}.{}", plugin, own_kind, kApiGroup, kind,
                     kApiGroup);
}

struct LoadedProfile {
  Profile profile;
  std::vector<std::vector<std::string>> args_problems;
};

class ProfileLoader {
 public:
  // `provider`: the plugins that replace the version's default ones, or null.
  ProfileLoader(FileVersion version, const Plugins* provider, const FeatureGates& gates, const LoadOptions& options,
                DecodeErrors& errors)
      : version_(version), provider_(provider), gates_(gates), options_(options), errors_(errors) {}

  LoadedProfile Run(const FileProfile& file, size_t index) {
    LoadedProfile loaded;
    Profile& profile = loaded.profile;
    profile.scheduler_name = file.scheduler_name.value_or("");
    profile.percentage_of_nodes_to_score = file.percentage_of_nodes_to_score;
    const Plugins custom = file.plugins ? FromFile(*file.plugins) : Plugins{};
    profile.plugins = provider_ == nullptr ? EffectivePlugins(version_, custom, gates_)
                                           : EffectivePlugins(version_, custom, *provider_);
    for (size_t i = 0; i < file.plugin_config.size(); ++i) {
      const FilePluginConfig& config = file.plugin_config[i];
      AddConfig(config.name, config.args.value, fmt::format("profiles[{}].pluginConfig[{}]", index, i), loaded);
    }
    // Every plugin that takes arguments gets some, so that later code need not know the defaults.
    for (const std::string& name : EnabledPluginNames(profile.plugins)) {
      if (!HasArgsType(name)) continue;
      if (std::ranges::find(profile.plugin_config, name, &PluginConfig::name) != profile.plugin_config.end()) continue;
      AddConfig(name, {}, fmt::format("profiles[{}].pluginConfig[{}]", index, profile.plugin_config.size()), loaded);
    }
    return loaded;
  }

 private:
  void AddConfig(const std::string& name, const codec::Value& value, const std::string& path, LoadedProfile& loaded) {
    PluginConfig config{.name = name, .args = {}};
    std::vector<std::string> problems;
    if (!HasArgsType(name)) {
      if (!value.is_null()) codec::JsonWriter(config.raw_args).Write(value);
    } else if (!HasArgsIn(version_, name)) {
      ReadLegacy(value, path, config);
    } else if (std::string wrong = WrongArgsKind(value, name, version_); !IsAlpha(version_) && !wrong.empty()) {
      errors_.AddFatal(value.mark(), fmt::format("decoding .{}: {}", path, wrong));
    } else {
      ReadInto(value, path, config, problems);
    }
    loaded.profile.plugin_config.push_back(std::move(config));
    loaded.args_problems.push_back(std::move(problems));
  }

  // Before v1beta1 only the plugin itself read its arguments, and it ignored the kind they claim to be.
  ReadArgs ReadInVersion(std::string_view plugin, const codec::Value& value, const std::string& path,
                         std::string_view shown_path, std::vector<codec::Diagnostic>& diagnostics) {
    if (!IsAlpha(version_)) return ReadPluginArgs(plugin, value, shown_path, gates_, diagnostics);
    std::vector<codec::Diagnostic> skipped;
    ReadArgs read = ReadAlphaArgs(plugin, value, shown_path, gates_, diagnostics, skipped);
    if (version_ == FileVersion::kV1alpha1) std::erase_if(diagnostics, &IsRepeatedField);
    for (codec::Diagnostic& problem : skipped) problem.path = fmt::format("{}.args.{}", path, problem.path);
    WarnOfSkipped(options_, skipped);
    return read;
  }

  void ReadLegacy(const codec::Value& value, const std::string& path, PluginConfig& config) {
    std::vector<codec::Diagnostic> diagnostics;
    ReadArgs read = ReadInVersion(config.name, value, path, {}, diagnostics);
    for (const codec::Diagnostic& problem : diagnostics) read.problems.push_back(problem.ToString());
    config.args = std::move(read.args);
    if (!read.problems.empty()) config.args_error = api::JoinErrors(read.problems);
  }

  void ReadInto(const codec::Value& value, const std::string& path, PluginConfig& config,
                std::vector<std::string>& problems) {
    // This plugin checks its arguments itself, when it is made; the validation of the file does not.
    const bool checks_itself = config.name == kNodeResourcesFit;
    std::vector<codec::Diagnostic> diagnostics;
    ReadArgs read =
        ReadInVersion(config.name, value, path, checks_itself ? std::string() : path + ".args", diagnostics);
    errors_.Add(diagnostics, fmt::format("decoding .{}: decoding args for plugin {}: ", path, config.name),
                fmt::format("decoding .{}: strict decoding error: decoding args for plugin {}: strict decoding error: ",
                            path, config.name));
    config.args = std::move(read.args);
    if (config.name == kPodTopologySpread && value.Find("defaultingType") == nullptr) DefaultSpreading(config, read);
    if (!checks_itself) {
      problems = std::move(read.problems);
    } else if (!read.problems.empty()) {
      config.args_error = api::JoinErrors(read.problems);
    }
  }

  // Before v1beta2, constraints in the file implied that the system's defaults do not apply. The alpha versions had no
  // system defaults: SelectorSpread did their work.
  void DefaultSpreading(PluginConfig& config, ReadArgs& read) const {
    auto& args = std::get<PodTopologySpreadArgs>(config.args);
    if (!IsBeforeV1beta2(version_) || (args.default_constraints.empty() && !IsAlpha(version_))) return;
    args.defaulting_type = SpreadDefaulting::kList;
    std::erase_if(read.problems,
                  [](const std::string& problem) { return problem.find(".defaultingType: ") != std::string::npos; });
  }

  FileVersion version_;
  const Plugins* provider_;
  const FeatureGates& gates_;
  const LoadOptions& options_;
  DecodeErrors& errors_;
};

KubeSchedulerConfiguration FromDecoded(FileConfiguration file, FileVersion version, const Plugins* provider,
                                       const FeatureGates& gates, const LoadOptions& options, DecodeErrors& errors,
                                       ArgsProblems& args_problems) {
  KubeSchedulerConfiguration configuration = FromFile(file);
  if (file.profiles.empty()) file.profiles.emplace_back();
  // With several profiles, each must have a name.
  if (file.profiles.size() == 1 && !file.profiles[0].scheduler_name) {
    file.profiles[0].scheduler_name = api::kDefaultSchedulerName;
  }
  ProfileLoader loader(version, provider, gates, options, errors);
  for (size_t i = 0; i < file.profiles.size(); ++i) {
    LoadedProfile loaded = loader.Run(file.profiles[i], i);
    configuration.profiles.push_back(std::move(loaded.profile));
    args_problems.push_back(std::move(loaded.args_problems));
  }
  // What its version or the provider allowed stays allowed when it is expressed in v1.
  if ((version != FileVersion::kV1 || provider) && UsesInTreeVolumeLimits(configuration)) {
    configuration.legacy_plugins = true;
  }
  return configuration;
}

// The plugins of the algorithm provider in the options, or else of the one in the file.
Result<std::optional<Plugins>> ProviderOf(const OldFields& old, FileVersion version, const LoadOptions& options) {
  const std::string name = options.provider.empty() ? old.algorithm_source.provider.value_or("") : options.provider;
  if (name.empty()) return std::optional<Plugins>();
  Result<Plugins> plugins = PluginsOfProvider(name, version);
  if (!plugins) return plugins.error();
  return std::optional(*std::move(plugins));
}

// Puts the Policy that the file names into options.policy_source.
Result<void> FindPolicy(const OldFields& old, const FileConfiguration& file, const OldSettings& settings,
                        const LoadOptions& options) {
  const std::optional<OldPolicySource>& policy = old.algorithm_source.policy;
  if (!policy || !options.provider.empty()) return {};
  const auto fail = [&](std::string_view why) {
    return Error::InvalidArgument(fmt::format("{}{}{}", options.file_name, options.file_name.empty() ? "" : ": ", why));
  };
  if (!policy->file && !policy->config_map) {
    return fail("algorithmSource.policy: Required value: a file or a configMap");
  }
  const FileProfile& profile = file.profiles.front();
  if (profile.plugins) return fail("using Plugins and Policy simultaneously is not supported");
  if (!profile.plugin_config.empty()) return fail("using PluginConfig and Policy simultaneously is not supported");
  if (options.policy_source == nullptr) return fail("algorithmSource.policy: a Policy cannot be read here");
  PolicySource& source = options.policy_source->emplace();
  source.settings = settings;
  if (policy->file) {
    source.file = policy->file->path;
  } else {
    source.config_map = policy->config_map->name;
    if (!policy->config_map->name_space.empty()) source.config_map_namespace = policy->config_map->name_space;
  }
  return {};
}

Error ToError(const std::vector<std::string>& problems, const codec::Value& root, const LoadOptions& options) {
  if (options.file_name.empty()) return Error::InvalidArgument(api::JoinErrors(problems));
  std::vector<std::string> lines;
  for (const std::string& problem : problems) {
    const codec::Mark where = codec::FieldMark(root, std::string_view(problem).substr(0, problem.find(": ")));
    lines.push_back(fmt::format("{}: {}", codec::Where(options.file_name, where), problem));
  }
  return Error::InvalidArgument(fmt::format("{}", fmt::join(lines, "\n")));
}

}  // namespace

Result<KubeSchedulerConfiguration> Load(const codec::Value& root, const FeatureGates& gates,
                                        const LoadOptions& options) {
  DecodeErrors errors(options);
  if (!root.is_null() && !root.is_object()) {
    errors.AddFatal(root.mark(), fmt::format("expected a KubeSchedulerConfiguration, found {}", root.Description()));
    return errors.ToError();
  }
  if (std::string wrong = WrongKind(root, options); !wrong.empty()) {
    errors.AddFatal(root.mark(), std::move(wrong));
    return errors.ToError();
  }
  const FileVersion version = *ParseFileVersion(TextMember(root, "apiVersion"));
  // Where strict decoding failed, v1alpha1 was decoded again leniently.
  if (version != FileVersion::kV1alpha1) errors.AddRepeatedKeys(root);
  FileConfiguration file;
  std::vector<codec::Diagnostic> diagnostics;
  codec::Decode(root, file, {.strict = true}, diagnostics);
  std::vector<codec::Diagnostic> skipped;
  const OldFields old = ReadOldFields(root, version, diagnostics, skipped);
  CheckVersion(root, version, options, diagnostics, errors);
  WarnOfSkipped(options, skipped);
  errors.Add(diagnostics, {}, {});
  std::vector<std::string> problems;
  MoveIntoV1(old, version, file, problems);
  const OldSettings settings = SettingsOf(old, problems);
  const Result<std::optional<Plugins>> provider = ProviderOf(old, version, options);
  if (!provider) return provider.error();
  if (Result<void> found = FindPolicy(old, file, settings, options); !found) return found.error();

  ArgsProblems args_problems;
  const Plugins* base = provider->has_value() ? &**provider : nullptr;
  KubeSchedulerConfiguration configuration =
      FromDecoded(std::move(file), version, base, gates, options, errors, args_problems);
  if (!errors.empty()) return errors.ToError();
  for (Profile& profile : configuration.profiles) ApplySettings(settings, profile);
  CheckScoringByFit(configuration, version, problems);
  std::ranges::move(FindProblems(configuration, args_problems), std::back_inserter(problems));
  if (!problems.empty()) return ToError(problems, root, options);
  return configuration;
}

Result<KubeSchedulerConfiguration> LoadText(std::string_view text, const FeatureGates& gates, LoadOptions options) {
  Result<std::vector<codec::Document>> documents = codec::ParseYaml(text, options.file_name);
  if (!documents) return documents.error();
  const codec::Value root = documents->empty() ? codec::Value() : documents->front().root();
  options.text = text;
  return Load(root, gates, options);
}

Result<KubeSchedulerConfiguration> LoadText(std::string_view text, const FeatureGates& gates, std::string file_name) {
  LoadOptions options;
  options.file_name = std::move(file_name);
  return LoadText(text, gates, std::move(options));
}

PluginArgs DefaultArgs(std::string_view plugin, const FeatureGates& gates) {
  if (!HasArgsType(plugin)) return {};
  std::vector<codec::Diagnostic> none;
  return ReadPluginArgs(plugin, {}, {}, gates, none).args;
}

KubeSchedulerConfiguration DefaultConfiguration(const FeatureGates& gates) {
  const LoadOptions options;
  DecodeErrors errors(options);
  ArgsProblems args_problems;
  KubeSchedulerConfiguration configuration =
      FromDecoded({}, FileVersion::kV1, nullptr, gates, options, errors, args_problems);
  CHECK_WHY(errors.empty() && Validate(configuration, args_problems), "the defaults must be valid");
  return configuration;
}

}  // namespace berth::config
