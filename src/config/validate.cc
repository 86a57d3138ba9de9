#include "config/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/field_error.h"
#include "api/label_syntax.h"
#include "config/args_reader.h"
#include "config/file_format.h"
#include "config/versions.h"

namespace berth::config {
namespace {

using api::DuplicateField;
using api::FieldChild;
using api::FieldIndex;
using api::InvalidDuration;
using api::InvalidJson;
using api::InvalidNumber;
using api::RequiredField;
using Problems = std::vector<std::string>;

void CheckLeaderElection(const LeaderElection& election, Problems& problems) {
  if (!election.leader_elect) return;
  const auto positive = [&](const char* path, base::Duration value) {
    if (value <= base::Duration::zero()) problems.push_back(InvalidDuration(path, value, "must be greater than zero"));
  };
  positive("leaderElection.leaseDuration", election.lease_duration);
  positive("leaderElection.renewDeadline", election.renew_deadline);
  positive("leaderElection.retryPeriod", election.retry_period);
  if (election.lease_duration <= election.renew_deadline) {
    // Upstream prints the deadline as the bad value, and so do we.
    problems.push_back(InvalidDuration("leaderElection.leaseDuration", election.renew_deadline,
                                       "must be greater than `RenewDeadline`"));
  }
  const auto required = [&](const char* path, const std::string& value) {
    if (value.empty()) problems.push_back(RequiredField(path));
  };
  required("leaderElection.resourceLock", election.resource_lock);
  required("leaderElection.resourceNamespace", election.resource_namespace);
  required("leaderElection.resourceName", election.resource_name);
  if (election.resource_lock != "leases") {
    problems.push_back(api::InvalidField("leaderElection.resourceLock", election.resource_lock,
                                         "resourceLock value must be \"leases\""));
  }
}

void CheckPercentage(const std::string& path, const std::optional<int32_t>& percentage, Problems& problems) {
  if (!percentage || (*percentage >= 0 && *percentage <= 100)) return;
  problems.push_back(InvalidNumber(path, *percentage, "not in valid range [0-100]"));
}

std::string RemovedPlugin(const std::string& path, const std::string& name) {
  return api::InvalidField(
      path, name,
      fmt::format("was invalid in version \"v1\" (KubeSchedulerConfiguration is version \"{}\")", kApiVersion));
}

// Upstream's validation looks for the arguments of this plugin under a name that no plugin has. A file that uses that
// name gets an error, whatever the arguments.
constexpr std::string_view kMisnamedFit = "NodeResourcesFitArgs";

// `legacy`: plugins that were merged into others long ago may be named.
void CheckPluginConfig(const Profile& profile, bool legacy, const std::string& path,
                       const std::vector<Problems>* args_problems, Problems& problems) {
  const auto removed = [&](const std::string& name) { return !legacy && IsInTreeVolumeLimit(name); };
  for (int i = 0; i < kExtensionPointCount; ++i) {
    const std::vector<Plugin>& enabled = profile.plugins.points[i].enabled;
    const std::string at =
        FieldChild(FieldChild(FieldChild(path, "plugins"), NameOf(static_cast<ExtensionPoint>(i))), "enabled");
    for (size_t j = 0; j < enabled.size(); ++j) {
      if (removed(enabled[j].name)) problems.push_back(RemovedPlugin(FieldIndex(at, j), enabled[j].name));
    }
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < profile.plugin_config.size(); ++i) {
    const std::string& name = profile.plugin_config[i].name;
    const std::string at = FieldIndex(FieldChild(path, "pluginConfig"), i);
    if (!seen.insert(name).second) problems.push_back(DuplicateField(at, name));
    if (removed(name)) {
      problems.push_back(RemovedPlugin(at, name));
    } else if (name == kMisnamedFit) {
      const std::string& args = profile.plugin_config[i].raw_args;
      problems.push_back(InvalidJson(FieldChild(at, "args"), args.empty() ? "null" : args, "has to match plugin args"));
    } else if (args_problems != nullptr) {
      std::ranges::copy((*args_problems)[i], std::back_inserter(problems));
    }
  }
}

std::string PluginsJson(const std::vector<Plugin>& plugins) {
  if (plugins.empty()) return "null";
  std::string json;
  for (const Plugin& plugin : plugins) {
    json +=
        fmt::format(R"({}{{"Name":{},"Weight":{}}})", json.empty() ? "" : ",", api::Quote(plugin.name), plugin.weight);
  }
  return "[" + json + "]";
}

bool SamePlugins(const std::vector<Plugin>& a, const std::vector<Plugin>& b) {
  const auto same = [](const Plugin& x, const Plugin& y) { return x.name == y.name && x.weight == y.weight; };
  return std::ranges::equal(a, b, same);
}

const PluginConfig* FindConfig(const Profile& profile, std::string_view name) {
  const auto it = std::ranges::find(profile.plugin_config, name, &PluginConfig::name);
  return it == profile.plugin_config.end() ? nullptr : &*it;
}

std::string ArgsText(const PluginConfig* config) {
  if (config == nullptr) return "null";
  return std::holds_alternative<std::monostate>(config->args) ? config->raw_args : ArgsToJson(config->args);
}

// There is one queue for all profiles, so they must agree on its order.
void CheckQueueSort(const std::vector<Profile>& profiles, Problems& problems) {
  const PluginSet& first = profiles[0].plugins.at(ExtensionPoint::kQueueSort);
  if (first.enabled.size() > 1) {
    problems.push_back(InvalidNumber("profiles[0].plugins.queueSort.Enabled",
                                     static_cast<int64_t>(first.enabled.size()),
                                     "only one queue sort plugin can be enabled"));
  }
  const std::string name = first.enabled.empty() ? std::string() : first.enabled[0].name;
  const PluginConfig* first_config = name.empty() ? nullptr : FindConfig(profiles[0], name);
  for (size_t i = 1; i < profiles.size(); ++i) {
    const PluginSet& other = profiles[i].plugins.at(ExtensionPoint::kQueueSort);
    const std::string path = FieldIndex("profiles", i);
    if (!SamePlugins(first.enabled, other.enabled) || !SamePlugins(first.disabled, other.disabled)) {
      problems.push_back(InvalidJson(
          FieldChild(path, "plugins.queueSort"),
          fmt::format(R"({{"Enabled":{},"Disabled":{}}})", PluginsJson(other.enabled), PluginsJson(other.disabled)),
          "must be the same for all profiles"));
    }
    const PluginConfig* config = name.empty() ? nullptr : FindConfig(profiles[i], name);
    if (config != nullptr && ArgsText(config) != ArgsText(first_config)) {
      problems.push_back(InvalidJson(FieldChild(path, "pluginConfig.args"), ArgsText(config),
                                     "queueSort must be the same for all profiles"));
    }
  }
}

void CheckProfiles(const KubeSchedulerConfiguration& configuration, const ArgsProblems& args_problems,
                   Problems& problems) {
  const std::vector<Profile>& profiles = configuration.profiles;
  if (profiles.empty()) {
    problems.push_back(RequiredField("profiles"));
    return;
  }
  std::set<std::string_view> names;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const Profile& profile = profiles[i];
    const std::string path = FieldIndex("profiles", i);
    const std::string name_path = FieldChild(path, "schedulerName");
    if (profile.scheduler_name.empty()) problems.push_back(RequiredField(name_path));
    CheckPercentage(FieldChild(path, "percentageOfNodesToScore"), profile.percentage_of_nodes_to_score, problems);
    CheckPluginConfig(profile, configuration.legacy_plugins, path, args_problems.empty() ? nullptr : &args_problems[i],
                      problems);
    if (!names.insert(profile.scheduler_name).second) problems.push_back(name_path + ": Duplicate value: {}");
  }
  CheckQueueSort(profiles, problems);
}

void CheckNodeSampling(const std::string& value, Problems& problems) {
  if (value.empty() || value == kExactSampling || value == kUpstreamSampling) return;
  constexpr std::string_view kSupported[] = {kExactSampling, kUpstreamSampling};
  problems.push_back(api::UnsupportedField("nodeSampling", value, kSupported));
}

void CheckManagedResource(const std::string& path, const std::string& name, Problems& problems) {
  const std::vector<std::string> syntax = api::LabelKeyProblems(name);
  for (const std::string& problem : syntax) problems.push_back(api::InvalidField(path, name, problem));
  if (syntax.empty() && !api::IsExtendedResourceName(name)) {
    problems.push_back(api::InvalidField(path, name, "is an invalid extended resource name"));
  }
}

}  // namespace

void CheckExtenders(const std::vector<Extender>& extenders, Problems& problems) {
  int binders = 0;
  std::set<std::string_view> managed;
  for (size_t i = 0; i < extenders.size(); ++i) {
    const Extender& extender = extenders[i];
    const std::string path = FieldIndex("extenders", i);
    if (!extender.prioritize_verb.empty() && extender.weight <= 0) {
      problems.push_back(
          InvalidNumber(FieldChild(path, "weight"), extender.weight, "must have a positive weight applied to it"));
    }
    if (!extender.bind_verb.empty()) ++binders;
    for (size_t j = 0; j < extender.managed_resources.size(); ++j) {
      const std::string& name = extender.managed_resources[j].name;
      const std::string at = FieldChild(FieldIndex(FieldChild(path, "managedResources"), j), "name");
      CheckManagedResource(at, name, problems);
      if (!managed.insert(name).second) {
        problems.push_back(api::InvalidField(at, name, "duplicate extender managed resource name"));
      }
    }
  }
  if (binders > 1) {
    problems.push_back(api::InvalidField("extenders", fmt::format("found {} extenders implementing bind", binders),
                                         "only one extender can implement bind"));
  }
}

std::vector<std::string> FindProblems(const KubeSchedulerConfiguration& configuration,
                                      const ArgsProblems& args_problems) {
  Problems problems;
  if (configuration.client_connection.burst < 0) {
    problems.push_back(
        InvalidNumber("clientConnection.burst", configuration.client_connection.burst, "must be non-negative"));
  }
  CheckLeaderElection(configuration.leader_election, problems);
  if (configuration.parallelism <= 0) {
    problems.push_back(
        InvalidNumber("parallelism", configuration.parallelism, "should be an integer value greater than zero"));
  }
  CheckProfiles(configuration, args_problems, problems);
  CheckPercentage("percentageOfNodesToScore", configuration.percentage_of_nodes_to_score, problems);
  CheckNodeSampling(configuration.node_sampling, problems);
  const int64_t initial = configuration.pod_initial_backoff_seconds;
  const int64_t max = configuration.pod_max_backoff_seconds;
  if (initial <= 0) problems.push_back(InvalidNumber("podInitialBackoffSeconds", initial, "must be greater than 0"));
  if (max < initial) {
    problems.push_back(
        InvalidNumber("podMaxBackoffSeconds", max, "must be greater than or equal to PodInitialBackoffSeconds"));
  }
  CheckExtenders(configuration.extenders, problems);
  for (size_t i = 0; i < configuration.plugin_libraries.size(); ++i) {
    const std::string at = FieldChild(FieldIndex("pluginLibraries", i), "path");
    if (configuration.plugin_libraries[i].path.empty()) problems.push_back(RequiredField(at, "can not be empty"));
  }
  return problems;
}

Result<void> Validate(const KubeSchedulerConfiguration& configuration, const ArgsProblems& args_problems) {
  const std::vector<std::string> problems = FindProblems(configuration, args_problems);
  if (problems.empty()) return {};
  return Error::InvalidArgument(api::JoinErrors(problems));
}

}  // namespace berth::config
