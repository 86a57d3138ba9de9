#include "config/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/file.h"
#include "config/args_reader.h"
#include "config/default_plugins.h"

namespace berth::config {
namespace {

constexpr int64_t kMaxNodeScore = 100;
constexpr auto kMaxTotalScore = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

// One list to fill: the profile's settings for it, which plugins implement it, and the name of their Go interface.
struct Point {
  std::string_view type_name;
  const PluginSet& configured;
  std::function<bool(const KnownPlugin&)> implements;
  std::vector<Plugin>& resolved;
};

// Upstream's order, which decides which of several errors is reported.
std::vector<Point> PointsOf(const Plugins& plugins, ResolvedPlugins& resolved) {
  constexpr std::pair<ExtensionPoint, std::string_view> kOrder[] = {
      {ExtensionPoint::kPreFilter, "PreFilterPlugin"},   {ExtensionPoint::kFilter, "FilterPlugin"},
      {ExtensionPoint::kPostFilter, "PostFilterPlugin"}, {ExtensionPoint::kReserve, "ReservePlugin"},
      {ExtensionPoint::kPreScore, "PreScorePlugin"},     {ExtensionPoint::kScore, "ScorePlugin"},
      {ExtensionPoint::kPreBind, "PreBindPlugin"},       {ExtensionPoint::kBind, "BindPlugin"},
      {ExtensionPoint::kPostBind, "PostBindPlugin"},     {ExtensionPoint::kPermit, "PermitPlugin"},
      {ExtensionPoint::kPreEnqueue, "PreEnqueuePlugin"}, {ExtensionPoint::kQueueSort, "QueueSortPlugin"},
  };
  std::vector<Point> points;
  for (const auto& [point, type_name] : kOrder) {
    points.push_back({type_name, plugins.at(point),
                      [at = point](const KnownPlugin& plugin) { return plugin.points.Has(at); },
                      resolved.points[static_cast<int>(point)]});
  }
  points.push_back({"PlacementGeneratePlugin", plugins.placement_generate,
                    [](const KnownPlugin& plugin) { return plugin.placement_generate; }, resolved.placement_generate});
  points.push_back({"PlacementScorePlugin", plugins.placement_score,
                    [](const KnownPlugin& plugin) { return plugin.placement_score; }, resolved.placement_score});
  return points;
}

class Resolver {
 public:
  Resolver(const Profile& profile, std::span<const KnownPlugin> known) : profile_(profile), known_(known) {}

  Result<ResolvedPlugins> Run() {
    if (Result<void> made = CheckArgs(); !made) return made.error();
    ResolvedPlugins resolved;
    const std::vector<Point> points = PointsOf(profile_.plugins, resolved);
    for (const Point& point : points) {
      if (Result<void> listed = TakeConfigured(point); !listed) return listed.error();
    }
    if (!profile_.plugins.multi_point.enabled.empty()) {
      for (const Point& point : points) {
        if (Result<void> expanded = Expand(point); !expanded) return expanded.error();
      }
    }
    if (Result<void> counted = CheckCounts(resolved); !counted) return counted.error();
    for (const Point& point : points) {
      const bool score = point.type_name == "ScorePlugin";
      if (!score && point.type_name != "PlacementScorePlugin") continue;
      if (Result<void> weighed = Weigh(point); !weighed) {
        return Invalid("{}: {}", score ? "score plugins" : "placement score plugins", weighed.error().message);
      }
    }
    return resolved;
  }

 private:
  template <class... T>
  static Error Invalid(fmt::format_string<T...> format, T&&... values) {
    return Error::InvalidArgument(fmt::format(format, std::forward<T>(values)...));
  }

  const KnownPlugin* Find(std::string_view name) const {
    const auto it = std::ranges::find(known_, name, &KnownPlugin::name);
    return it == known_.end() ? nullptr : &*it;
  }

  // Plugins are made before they are listed, so bad arguments are reported first.
  Result<void> CheckArgs() const {
    const std::vector<std::string> used = EnabledPluginNames(profile_.plugins);
    for (const PluginConfig& config : profile_.plugin_config) {
      if (config.args_error.empty() || !std::ranges::binary_search(used, config.name)) continue;
      if (Find(config.name) == nullptr) continue;
      return Invalid("initializing plugin \"{}\": {}", config.name, config.args_error);
    }
    return {};
  }

  Result<void> TakeConfigured(const Point& point) const {
    for (const Plugin& plugin : point.configured.enabled) {
      const KnownPlugin* known = Find(plugin.name);
      if (known == nullptr) return Invalid("{} \"{}\" does not exist", point.type_name, plugin.name);
      if (!point.implements(*known)) {
        return Invalid("plugin \"{}\" does not extend {} plugin", plugin.name, point.type_name);
      }
      if (Names(point.resolved, plugin.name)) {
        return Invalid("plugin \"{}\" already registered as \"{}\"", plugin.name, point.type_name);
      }
      point.resolved.push_back({plugin.name, 0});
    }
    return {};
  }

  Result<void> Expand(const Point& point) const {
    const std::vector<Plugin>& disabled = point.configured.disabled;
    if (Names(disabled, "*")) return {};
    std::set<std::string_view> overridden;
    std::vector<Plugin> expanded;
    for (const Plugin& plugin : profile_.plugins.multi_point.enabled) {
      const KnownPlugin* known = Find(plugin.name);
      if (known == nullptr) return Invalid("{} \"{}\" does not exist", point.type_name, plugin.name);
      if (!point.implements(*known) || Names(disabled, plugin.name)) continue;
      if (Names(point.configured.enabled, plugin.name)) {
        overridden.insert(plugin.name);
      } else if (Names(expanded, plugin.name)) {
        return Invalid("plugin \"{}\" already registered as \"{}\"", plugin.name, point.type_name);
      } else {
        expanded.push_back({plugin.name, 0});
      }
    }
    std::vector<Plugin> others;
    std::vector<Plugin> ordered;
    for (Plugin& plugin : point.resolved) {
      (overridden.contains(plugin.name) ? ordered : others).push_back(plugin);
    }
    std::ranges::move(expanded, std::back_inserter(ordered));
    std::ranges::move(others, std::back_inserter(ordered));
    point.resolved = std::move(ordered);
    return {};
  }

  Result<void> CheckCounts(const ResolvedPlugins& resolved) const {
    const size_t queue_sorts = resolved.at(ExtensionPoint::kQueueSort).size();
    if (queue_sorts != 1) {
      return Invalid("only one queue sort plugin required for profile with scheduler name \"{}\", but got {}",
                     profile_.scheduler_name, queue_sorts);
    }
    if (resolved.at(ExtensionPoint::kBind).empty()) {
      return Invalid("at least one bind plugin is needed for profile with scheduler name \"{}\"",
                     profile_.scheduler_name);
    }
    if (resolved.placement_generate.size() > 1) {
      return Invalid("at most one placement generate plugin is allowed for profile with scheduler name \"{}\"",
                     profile_.scheduler_name);
    }
    return {};
  }

  // The weight given at the point takes precedence over multiPoint's. Everything enabled counts towards the limit, run
  // or not.
  Result<void> Weigh(const Point& point) const {
    std::map<std::string_view, int32_t> weights;
    int64_t total = 0;
    for (const auto* list : {&point.configured.enabled, &profile_.plugins.multi_point.enabled}) {
      for (const Plugin& plugin : *list) {
        if (!point.implements(*Find(plugin.name)) || weights.contains(plugin.name)) continue;
        const int32_t weight = plugin.weight == 0 ? 1 : plugin.weight;
        weights[plugin.name] = weight;
        // Negative weights wrap around as they do in Go, and count as too large.
        const auto room = static_cast<int64_t>(kMaxTotalScore - static_cast<uint64_t>(total));
        if (weight * kMaxNodeScore > room) {
          return Error::InvalidArgument("total score of Score plugins could overflow");
        }
        total += weight * kMaxNodeScore;
      }
    }
    for (Plugin& plugin : point.resolved) plugin.weight = weights[plugin.name];
    return {};
  }

  const Profile& profile_;
  std::span<const KnownPlugin> known_;
};

// Fills `data` from the file when only that is named. The error reads as Go's.
std::string ReadIfNamed(std::string& data, const std::string& file) {
  if (!data.empty() || file.empty()) return {};
  Result<std::string> content = base::ReadFile(file);
  if (!content) return fmt::format("open {}: {}", file, base::LowerCase(content.error().message));
  data = *std::move(content);
  return {};
}

// Whether an HTTPS client can be made from the extender's settings.
std::string TlsProblem(const Extender& extender) {
  ExtenderTlsConfig tls = extender.tls_config.value_or(ExtenderTlsConfig{});
  const bool has_ca = !tls.ca_file.empty() || !tls.ca_data.empty();
  const bool has_cert =
      (!tls.cert_file.empty() || !tls.cert_data.empty()) && (!tls.key_file.empty() || !tls.key_data.empty());
  // Certificates given as files are read when a connection is made, so that they may be renewed.
  const bool read_later = tls.cert_data.empty() && tls.key_data.empty();
  const bool insecure = tls.insecure || (extender.enable_https && !has_ca);
  if (has_ca && insecure) return "specifying a root certificates file with the insecure flag is not allowed";
  if (!has_ca && !has_cert && !insecure && tls.server_name.empty()) return {};
  for (const auto& [data, file] : {std::pair(&tls.ca_data, &tls.ca_file), std::pair(&tls.cert_data, &tls.cert_file),
                                   std::pair(&tls.key_data, &tls.key_file)}) {
    if (std::string problem = ReadIfNamed(*data, *file); !problem.empty()) return problem;
  }
  constexpr std::string_view kPem = "-----BEGIN ";
  if (has_ca && tls.ca_data.find(kPem) == std::string::npos) {
    return "unable to load root certificates: unable to parse bytes as PEM block";
  }
  if (!has_cert || read_later) return {};
  if (tls.cert_data.find(kPem) == std::string::npos) return "tls: failed to find any PEM data in certificate input";
  if (tls.key_data.find(kPem) == std::string::npos) return "tls: failed to find any PEM data in key input";
  return {};
}

std::string ArgsOf(const Profile& profile, std::string_view plugin) {
  const auto it = std::ranges::find(profile.plugin_config, plugin, &PluginConfig::name);
  if (it == profile.plugin_config.end()) return {};
  return std::holds_alternative<std::monostate>(it->args) ? it->raw_args : ArgsToJson(it->args);
}

}  // namespace

Result<ResolvedPlugins> ResolvePlugins(const Profile& profile, std::span<const KnownPlugin> known) {
  return Resolver(profile, known).Run();
}

Result<void> CheckSameQueueSort(const Profile& first, std::string_view first_plugin, const Profile& profile,
                                std::string_view plugin) {
  if (plugin != first_plugin) {
    return Error::InvalidArgument(
        fmt::format("initializing profiles: different queue sort plugins for profile \"{}\": \"{}\", first: \"{}\"",
                    profile.scheduler_name, plugin, first_plugin));
  }
  if (ArgsOf(profile, plugin) != ArgsOf(first, plugin)) {
    return Error::InvalidArgument(fmt::format(
        "initializing profiles: different queue sort plugin args for profile \"{}\"", profile.scheduler_name));
  }
  return {};
}

Result<std::vector<ResolvedPlugins>> ResolveProfiles(const KubeSchedulerConfiguration& configuration,
                                                     std::span<const KnownPlugin> known) {
  std::vector<ResolvedPlugins> all;
  for (const Profile& profile : configuration.profiles) {
    Result<ResolvedPlugins> resolved = ResolvePlugins(profile, known);
    if (!resolved) {
      return Error::InvalidArgument(fmt::format("initializing profiles: creating profile for scheduler name {}: {}",
                                                profile.scheduler_name, resolved.error().message));
    }
    all.push_back(std::move(*resolved));
    const auto queue_sort = [](const ResolvedPlugins& plugins) -> const std::string& {
      return plugins.at(ExtensionPoint::kQueueSort)[0].name;
    };
    const Result<void> agreed =
        CheckSameQueueSort(configuration.profiles.front(), queue_sort(all.front()), profile, queue_sort(all.back()));
    if (!agreed) return agreed.error();
  }
  if (all.empty()) return Error::InvalidArgument("at least one profile is required");
  return all;
}

Result<void> HideManagedResources(KubeSchedulerConfiguration& configuration) {
  std::vector<std::string> ignored;
  for (const Extender& extender : configuration.extenders) {
    for (const ExtenderManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
    }
  }
  if (ignored.empty()) return {};
  for (Profile& profile : configuration.profiles) {
    const auto it = std::ranges::find(profile.plugin_config, "NodeResourcesFit", &PluginConfig::name);
    auto* args = it == profile.plugin_config.end() ? nullptr : std::get_if<NodeResourcesFitArgs>(&it->args);
    if (args == nullptr) {
      return Error::InvalidArgument("couldn't build extenders: can't find NodeResourcesFitArgs in plugin config");
    }
    args->ignored_resources = ignored;
  }
  return {};
}

Result<void> ApplyExtenders(KubeSchedulerConfiguration& configuration) {
  for (const Extender& extender : configuration.extenders) {
    if (std::string problem = TlsProblem(extender); !problem.empty()) {
      return Error::InvalidArgument("couldn't build extenders: " + problem);
    }
  }
  return HideManagedResources(configuration);
}

KubeSchedulerConfiguration WithUsedArgsOnly(KubeSchedulerConfiguration configuration) {
  for (Profile& profile : configuration.profiles) {
    const std::vector<std::string> used = EnabledPluginNames(profile.plugins);
    std::erase_if(profile.plugin_config, [&](const PluginConfig& config) {
      const bool no_args = std::holds_alternative<std::monostate>(config.args) && config.raw_args.empty();
      return no_args || !std::ranges::binary_search(used, config.name);
    });
    std::ranges::sort(profile.plugin_config, {}, &PluginConfig::name);
  }
  return configuration;
}

}  // namespace berth::config
