// berth config: shows a scheduler configuration, validates it, and converts it to the current version.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "codec/field_mark.h"
#include "codec/gzip.h"
#include "codec/json.h"
#include "codec/json_writer.h"
#include "codec/yaml.h"
#include "commands.h"
#include "config/dump.h"
#include "config/load.h"
#include "config/policy.h"
#include "config/strict_upstream.h"
#include "configuration_source.h"
#include "flags.h"
#include "input_flags.h"
#include "plugin_catalog.h"
#include "terminal.h"

namespace berth::cmd {

namespace {

constexpr char kConfigUsage[] =
    R"(Check, complete and convert scheduler configurations, and list plugins.

Usage:
  berth config validate FILE...   report what is wrong, each problem with its position; exit status 0 or 1
  berth config show [FILE]        the configuration with every default spelled out
  berth config convert FILE       older versions and Policies as kubescheduler.config.k8s.io/v1
  berth config plugins [FILE]     plugins, the extension points each serves, weight, on or off

A FILE is a KubeSchedulerConfiguration (v1, or any version since v1alpha1), a scheduler Policy, or a ConfigMap with a Policy at
policy.cfg; YAML or JSON, - for standard input. Without one, the defaults.
)";

constexpr char kConfigExamples[] = R"(  berth config validate scheduler.yaml
  berth config show scheduler.yaml -o json
  berth config show --algorithm-provider ClusterAutoscalerProvider
  berth config convert policy.cfg --strict-upstream
  berth config plugins scheduler.yaml
)";

struct ConfigOptions {
  std::string feature_gates;
  std::string algorithm_provider;
  std::string output;
  bool strict_upstream = false;
  std::vector<std::string> plugin_folders;
};

int Print(const std::string& text) {
  if (!WriteOut(text)) {
    return BadInput("config", "cannot write to standard output");
  }
  return kOk;
}

std::string_view KindOf(const codec::Value& root) {
  const codec::Value* kind = root.Find("kind");
  return kind == nullptr ? std::string_view() : kind->text();
}

// A file and its configuration; the documents are kept to find positions in them.
struct Loaded {
  config::KubeSchedulerConfiguration configuration;
  std::string shown;
  std::vector<codec::Document> documents;

  codec::Value root() const { return documents.empty() ? codec::Value() : documents.front().root(); }
};

// A file's configuration, with everything that a scheduler would be built from.
struct Completed {
  config::KubeSchedulerConfiguration configuration;
  std::vector<CatalogEntry> catalog;
  std::vector<config::ResolvedPlugins> profiles;
};

class Reader {
 public:
  Reader(const ConfigOptions& options, const framework::Registry& own_plugins, config::FeatureGates gates)
      : options_(options), own_plugins_(&own_plugins), gates_(std::move(gates)) {}

  // `own_plugins` must outlive the result.
  static Result<Reader> Create(const ConfigOptions& options, const framework::Registry& own_plugins,
                               std::vector<std::string>& warnings) {
    Result<config::FeatureGates> gates = LoadGates(options.feature_gates, warnings);
    if (!gates) return gates.error();
    return Reader(options, own_plugins, std::move(*gates));
  }

  const config::FeatureGates& gates() const { return gates_; }

  // Loaded and validated. An empty name means the defaults, or the provider's.
  Result<Loaded> Load(const std::string& file, std::vector<std::string>& warnings) const {
    Loaded loaded;
    if (file.empty() && !options_.algorithm_provider.empty()) {
      return With(std::move(loaded), config::ProviderConfiguration(options_.algorithm_provider, gates_));
    }
    if (file.empty()) return With(std::move(loaded), config::DefaultConfiguration(gates_));
    Result<std::string> text = codec::ReadFile(file);
    if (!text) return text.error();
    loaded.shown = file == "-" ? "standard input" : file;
    Result<std::vector<codec::Document>> documents = codec::ParseYaml(*text, loaded.shown);
    if (!documents) return documents.error();
    loaded.documents = std::move(*documents);
    config::LoadOptions load;
    load.file_name = loaded.shown;
    load.text = *text;
    load.strict_upstream = options_.strict_upstream;
    load.warnings = &warnings;
    load.provider = options_.algorithm_provider;
    std::optional<config::PolicySource> policy;
    load.policy_source = &policy;
    Result<config::KubeSchedulerConfiguration> configuration = LoadRoot(loaded.root(), load);
    if (configuration && policy) {
      const Result<void> applied = TakePolicy(*policy, load, *configuration);
      if (!applied) return applied.error();
    }
    return With(std::move(loaded), std::move(configuration));
  }

  // Mistakes that only appear when a scheduler is built are errors here too.
  Result<Completed> Complete(const std::string& file, std::vector<std::string>& warnings) const {
    Result<Loaded> loaded = Load(file, warnings);
    if (!loaded) return loaded.error();
    Completed completed{std::move(loaded->configuration), {}, {}};
    if (Result<void> extended = config::ApplyExtenders(completed.configuration); !extended) {
      return InFile(*loaded, extended.error());
    }
    Result<framework::Registry> registry = MakeRegistry(*own_plugins_);
    if (!registry) return registry.error();
    const auto added = AddLibraries(completed.configuration, file, options_.plugin_folders, *registry);
    if (!added) return InFile(*loaded, added.error());
    const auto own = CheckOwnPlugins(*registry, completed.configuration, gates_);
    if (!own) return InFile(*loaded, own.error());
    auto catalog = PluginCatalog(*registry, completed.configuration, gates_);
    if (!catalog) return catalog.error();
    completed.catalog = std::move(*catalog);
    std::vector<config::KnownPlugin> known = KnownPlugins(completed.catalog);
    if (options_.strict_upstream) {
      std::erase_if(known, [](const config::KnownPlugin& plugin) { return !config::IsUpstreamPlugin(plugin.name); });
    }
    auto resolved = config::ResolveProfiles(completed.configuration, known);
    if (!resolved) return InFile(*loaded, resolved.error());
    completed.profiles = std::move(*resolved);
    const std::string at = loaded->shown.empty() ? "" : loaded->shown + ": ";
    WarnOfMissing(completed, at, warnings);
    WarnOfAddresses(completed.configuration, at, warnings);
    return completed;
  }

 private:
  static Result<Loaded> With(Loaded loaded, Result<config::KubeSchedulerConfiguration> configuration) {
    if (!configuration) return configuration.error();
    loaded.configuration = std::move(*configuration);
    return loaded;
  }

  Result<config::KubeSchedulerConfiguration> LoadRoot(const codec::Value& root, config::LoadOptions load) const {
    if (config::IsPolicy(root)) return config::LoadPolicy(root, gates_, load);
    if (KindOf(root) != "ConfigMap") return config::Load(root, gates_, load);
    const Result<std::string> policy = config::PolicyTextOf(root);
    if (!policy) return Error{policy.error().code, fmt::format("{}: {}", load.file_name, policy.error().message)};
    load.file_name = fmt::format("{} ({})", load.file_name, config::kPolicyConfigMapKey);
    return config::LoadPolicyText(*policy, gates_, load);
  }

  // The Policy that a v1alpha1 file names.
  Result<void> TakePolicy(const config::PolicySource& source, config::LoadOptions load,
                          config::KubeSchedulerConfiguration& configuration) const {
    if (source.file.empty()) {
      return Error::InvalidArgument(fmt::format(
          "{}: algorithmSource names the ConfigMap {}/{} of a cluster, which is not read here: give the ConfigMap "
          "itself as a file",
          load.file_name, source.config_map_namespace, source.config_map));
    }
    const Result<std::string> text = codec::ReadFile(source.file);
    if (!text) return text.error();
    load.file_name = source.file;
    return config::ApplyPolicy(*text, source, gates_, load, configuration);
  }

  // These errors name a plugin rather than a path: the position is where the file first names it.
  static Error InFile(const Loaded& loaded, const Error& error) {
    const size_t begin = error.message.find('"');
    const size_t end = begin == std::string::npos ? begin : error.message.find('"', begin + 1);
    codec::Mark where;
    if (end != std::string::npos) {
      where = codec::TextMark(loaded.root(), std::string_view(error.message).substr(begin + 1, end - begin - 1));
    }
    if (loaded.shown.empty()) return error;
    const std::string place = where.line == 0 ? loaded.shown : codec::Where(loaded.shown, where);
    return {error.code, fmt::format("{}: {}", place, error.message)};
  }

  static void WarnOfMissing(const Completed& completed, const std::string& at, std::vector<std::string>& warnings) {
    for (const CatalogEntry& entry : completed.catalog) {
      if (!entry.missing) continue;
      const auto has = [&](const std::vector<config::Plugin>& list) {
        return std::ranges::find(list, entry.name, &config::Plugin::name) != list.end();
      };
      const auto runs = [&](const config::ResolvedPlugins& profile) {
        return std::ranges::any_of(profile.points, has) || has(profile.placement_generate) ||
               has(profile.placement_score);
      };
      if (std::ranges::any_of(completed.profiles, runs)) {
        warnings.push_back(fmt::format("{}plugin {} is not implemented yet", at, entry.name));
      }
    }
  }

  // Not an error, because it is none in kube-scheduler, whose calls then all fail.
  static void WarnOfAddresses(const config::KubeSchedulerConfiguration& configuration, const std::string& at,
                              std::vector<std::string>& warnings) {
    for (size_t i = 0; i < configuration.extenders.size(); ++i) {
      const std::string& address = configuration.extenders[i].url_prefix;
      if (address.starts_with("http://") || address.starts_with("https://")) continue;
      warnings.push_back(
          fmt::format("{}extenders[{}].urlPrefix: expected an address that begins with http:// or https://, found "
                      "\"{}\"; berth scheduler does not start with it",
                      at, i, address));
    }
  }

  ConfigOptions options_;
  const framework::Registry* own_plugins_;
  config::FeatureGates gates_;
};

int Validate(const Reader& reader, const std::vector<std::string>& files) {
  if (files.empty()) return BadInput("config", "validate: expected at least one file");
  int status = kOk;
  for (const std::string& file : files) {
    std::vector<std::string> warnings;
    const Result<Completed> completed = reader.Complete(file, warnings);
    PrintWarnings(warnings);
    if (completed) {
      fmt::print("{}: valid\n", file == "-" ? "standard input" : file);
    } else {
      fmt::print(stderr, "{}\n", completed.error().message);
      status = kBadInput;
    }
  }
  return status;
}

std::string Render(const config::KubeSchedulerConfiguration& configuration, const std::string& output) {
  if (output != "json") return config::DumpYaml(configuration);
  const Result<codec::Document> document = codec::ParseJson(config::DumpJson(configuration), "");
  std::string pretty;
  codec::JsonWriter(pretty, /*pretty=*/true).Write(document->root());
  return pretty + "\n";
}

int Show(const Reader& reader, const std::string& file, const ConfigOptions& options) {
  std::vector<std::string> warnings;
  const Result<Completed> completed = reader.Complete(file, warnings);
  PrintWarnings(warnings);
  if (!completed) return BadInput("config", completed.error().message);
  return Print(Render(config::WithUsedArgsOnly(completed->configuration), options.output));
}

int Convert(ConfigOptions options, const framework::Registry& own_plugins, const std::string& file) {
  if (file.empty() && options.algorithm_provider.empty()) return BadInput("config", "convert: expected a file");
  const bool upstream_only = options.strict_upstream;
  options.strict_upstream = false;  // here it controls what is written, not what may be read
  std::vector<std::string> warnings;
  const Result<Reader> reader = Reader::Create(options, own_plugins, warnings);
  if (!reader) return BadInput("config", reader.error().message);
  Result<Loaded> loaded = reader->Load(file, warnings);
  if (loaded && upstream_only) {
    for (std::string& note : config::KeepUpstreamOnly(loaded->configuration)) warnings.push_back(std::move(note));
  }
  PrintWarnings(warnings);
  if (!loaded) return BadInput("config", loaded.error().message);
  return Print(Render(config::WithUsedArgsOnly(loaded->configuration), options.output));
}

// One plugin in one profile.
struct PluginRow {
  std::string plugin;
  std::vector<std::string_view> points;   // it serves
  std::vector<std::string_view> enabled;  // where it is enabled in this profile
  int32_t weight = 0;                     // 0: does not score here
  bool by_default = false;
  bool missing = false;
  std::string refused;
};

std::vector<std::string_view> PointNames(const CatalogEntry& entry) {
  std::vector<std::string_view> names;
  for (int i = 0; i < config::kExtensionPointCount; ++i) {
    const auto point = static_cast<config::ExtensionPoint>(i);
    if (entry.points.Has(point)) names.push_back(config::NameOf(point));
  }
  if (entry.placement_generate) names.push_back("placementGenerate");
  if (entry.placement_score) names.push_back("placementScore");
  return names;
}

PluginRow RowOf(const CatalogEntry& entry, const config::ResolvedPlugins& profile,
                const config::ResolvedPlugins& defaults) {
  PluginRow row{.plugin = entry.name,
                .points = PointNames(entry),
                .enabled = {},
                .missing = entry.missing,
                .refused = entry.refused};
  const auto find = [&](const std::vector<config::Plugin>& list) {
    return std::ranges::find(list, entry.name, &config::Plugin::name);
  };
  for (int i = 0; i < config::kExtensionPointCount; ++i) {
    const auto point = static_cast<config::ExtensionPoint>(i);
    if (find(defaults.at(point)) != defaults.at(point).end()) row.by_default = true;
    const auto here = find(profile.at(point));
    if (here == profile.at(point).end()) continue;
    row.enabled.push_back(config::NameOf(point));
    if (point == config::ExtensionPoint::kScore) row.weight = here->weight;
  }
  return row;
}

void PrintTable(const std::vector<PluginRow>& rows) {
  size_t width = 0;
  for (const PluginRow& row : rows) width = std::max(width, row.plugin.size());
  fmt::print("{:<{}}  WEIGHT  DEFAULT  HERE  EXTENSION POINTS\n", "PLUGIN", width);
  for (const PluginRow& row : rows) {
    fmt::print("{:<{}}  {:>6}  {:<7}  {:<4}  {}{}\n", row.plugin, width,
               row.weight == 0 ? "-" : std::to_string(row.weight), row.by_default ? "on" : "off",
               row.enabled.empty() ? "off" : "on", fmt::join(row.points, ","),
               row.missing           ? " (not implemented yet)"
               : row.refused.empty() ? ""
                                     : fmt::format("(as configured it cannot be made: {})", row.refused));
  }
}

void WriteNames(codec::JsonWriter& json, std::string_view key, const std::vector<std::string_view>& names) {
  json.Key(key);
  json.StartArray();
  for (std::string_view name : names) json.String(name);
  json.EndArray();
}

void WriteRow(codec::JsonWriter& json, const PluginRow& row) {
  json.StartObject();
  json.Key("plugin");
  json.String(row.plugin);
  WriteNames(json, "extensionPoints", row.points);
  WriteNames(json, "enabledAt", row.enabled);
  json.Key("weight");
  json.Int64(row.weight);
  json.Key("default");
  json.Bool(row.by_default);
  json.Key("implemented");
  json.Bool(!row.missing);
  json.EndObject();
}

int Plugins(const Reader& reader, const std::string& file, const ConfigOptions& options) {
  std::vector<std::string> warnings;
  std::vector<std::string> unused;
  const Result<Completed> defaults = reader.Complete({}, unused);
  const Result<Completed> completed = reader.Complete(file, warnings);
  PrintWarnings(warnings);
  if (!defaults) return BadInput("config", defaults.error().message);
  if (!completed) return BadInput("config", completed.error().message);

  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  json.StartObject();
  json.Key("profiles");
  json.StartArray();
  for (size_t i = 0; i < completed->profiles.size(); ++i) {
    std::vector<PluginRow> rows;
    for (const CatalogEntry& entry : completed->catalog) {
      rows.push_back(RowOf(entry, completed->profiles[i], defaults->profiles.front()));
    }
    const std::string& name = completed->configuration.profiles[i].scheduler_name;
    if (options.output == "json") {
      json.StartObject();
      json.Key("schedulerName");
      json.String(name);
      json.Key("plugins");
      json.StartArray();
      for (const PluginRow& row : rows) WriteRow(json, row);
      json.EndArray();
      json.EndObject();
    } else {
      if (completed->profiles.size() > 1) fmt::print("{}profile {}\n", i == 0 ? "" : "\n", name);
      PrintTable(rows);
    }
  }
  json.EndArray();
  json.EndObject();
  return options.output == "json" ? Print(out + "\n") : kOk;
}

int Dispatch(const std::string& verb, const std::vector<std::string>& files, const ConfigOptions& options,
             const framework::Registry& own_plugins) {
  if (verb != "validate" && files.size() > 1)
    return BadInput("config", fmt::format("{}: expected one file, found {}", verb, files.size()));
  const std::string file = files.empty() ? std::string() : files.front();
  if (!file.empty() && !options.algorithm_provider.empty())
    return BadInput("config", "a file and --algorithm-provider exclude each other");
  if (verb == "convert") return Convert(options, own_plugins, file);
  std::vector<std::string> warnings;
  const Result<Reader> reader = Reader::Create(options, own_plugins, warnings);
  if (!reader) return BadInput("config", reader.error().message);
  PrintWarnings(warnings);
  if (verb == "validate") return Validate(*reader, files);
  if (verb == "show") return Show(*reader, file, options);
  return Plugins(*reader, file, options);
}

Result<void> CheckOutput(const std::string& verb, const std::string& output) {
  if (output.empty()) return {};
  if (verb == "validate") return Error::InvalidArgument("--output: validate prints lines only");
  const std::string_view other = verb == "plugins" ? "table" : "yaml";
  if (output == "json" || output == other) return {};
  return Error::InvalidArgument(fmt::format("--output: expected {} or json, found \"{}\"", other, output));
}

}  // namespace

int Config(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  constexpr std::string_view kVerbs[] = {"validate", "show", "convert", "plugins"};
  ConfigOptions options;
  FlagSet flags("berth config", kConfigUsage, kConfigExamples);
  flags.Add(&options.output, "output", 'o', "FORMAT", "show, convert: yaml or json; plugins: table or json");
  flags.Add(&options.feature_gates, "feature-gates", 0, "A=true,B=false", "feature gates, as kube-scheduler's");
  flags.Add(&options.algorithm_provider, "algorithm-provider", 0, "NAME",
            "instead of a file: DefaultProvider or ClusterAutoscalerProvider");
  flags.Add(&options.strict_upstream, "strict-upstream", 0,
            "accept what kube-scheduler v1.36 accepts: v1 only, none of berth's own fields; convert: write only that");
  AddPluginFolders(flags, &options.plugin_folders);
  flags.Words({std::begin(kVerbs), std::end(kVerbs)});
  flags.TakesFiles();
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("config", rest.error().message + "\n" + flags.Hint());
  if (rest->empty()) return BadInput("config", "expected validate, show, convert or plugins\n" + flags.Hint());
  const std::string& verb = rest->front();
  if (std::ranges::find(kVerbs, verb) == std::end(kVerbs)) {
    return BadInput("config",
                    fmt::format("expected validate, show, convert or plugins, found \"{}\"\n{}", verb, flags.Hint()));
  }
  if (Result<void> output = CheckOutput(verb, options.output); !output)
    return BadInput("config", output.error().message);
  return Dispatch(verb, {rest->begin() + 1, rest->end()}, options, own_plugins);
}

}  // namespace berth::cmd
