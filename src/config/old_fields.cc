#include "config/old_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/field_error.h"

namespace berth::config {
namespace {

using codec::Field;
using codec::Inline;
using codec::Message;
using codec::MessageOf;

// The fields of each version, in the order of OldFields.
std::vector<std::string_view> FieldsOf(FileVersion version) {
  if (version == FileVersion::kV1alpha2) return {"disablePreemption", "bindTimeoutSeconds", "extenders"};
  if (version != FileVersion::kV1alpha1) return {};
  return {
      "disablePreemption", "bindTimeoutSeconds", "schedulerName", "algorithmSource", "hardPodAffinitySymmetricWeight",
      "plugins",           "pluginConfig",       "leaderElection"};
}

bool IsUnder(std::string_view path, const std::vector<std::string_view>& fields) {
  const std::string_view top = path.substr(0, path.find_first_of(".["));
  return std::ranges::find(fields, top) != fields.end();
}

// Two names for the same setting, which may both be given if they agree.
void MergeNames(const std::string& old_value, std::string_view old_name, std::string_view name, std::string& value,
                std::vector<std::string>& problems) {
  if (old_value.empty()) return;
  if (!value.empty() && value != old_value) {
    problems.push_back(fmt::format("leaderElection: {} and {} are both set and do not match, {}: {}, {}: {}", name,
                                   old_name, name, value, old_name, old_value));
    return;
  }
  value = old_value;
}

FileExtender FromPolicyForm(const PolicyExtender& old) {
  return {
      .url_prefix = old.url_prefix,
      .filter_verb = old.filter_verb,
      .preempt_verb = old.preempt_verb,
      .prioritize_verb = old.prioritize_verb,
      .weight = old.weight,
      .bind_verb = old.bind_verb,
      .enable_https = old.enable_https,
      .tls_config = old.tls_config,
      .http_timeout = {base::Duration(old.http_timeout)},
      .node_cache_capable = old.node_cache_capable,
      .managed_resources = old.managed_resources,
      .ignorable = old.ignorable,
  };
}

// Kubernetes 1.18 used another name for it.
void RenamePlugins(FilePlugins& plugins) {
  for (FilePluginSet FilePlugins::*set : {&FilePlugins::pre_score, &FilePlugins::score}) {
    for (auto* list : {&(plugins.*set).enabled, &(plugins.*set).disabled}) {
      for (FilePlugin& plugin : *list) {
        if (plugin.name == "DefaultPodTopologySpread") plugin.name = "SelectorSpread";
      }
    }
  }
}

}  // namespace

const Message& Describe(const OldPolicyFile*) {
  static const Message message =
      MessageOf<OldPolicyFile>("SchedulerPolicyFileSource", {Field("path", 0, &OldPolicyFile::path)});
  return message;
}

const Message& Describe(const OldPolicyConfigMap*) {
  static const Message message = MessageOf<OldPolicyConfigMap>(
      "SchedulerPolicyConfigMapSource", {
                                            Field("namespace", 0, &OldPolicyConfigMap::name_space),
                                            Field("name", 0, &OldPolicyConfigMap::name),
                                        });
  return message;
}

const Message& Describe(const OldPolicySource*) {
  static const Message message =
      MessageOf<OldPolicySource>("SchedulerPolicySource", {
                                                              Field("file", 0, &OldPolicySource::file),
                                                              Field("configMap", 0, &OldPolicySource::config_map),
                                                          });
  return message;
}

const Message& Describe(const OldAlgorithmSource*) {
  static const Message message =
      MessageOf<OldAlgorithmSource>("SchedulerAlgorithmSource", {
                                                                    Field("policy", 0, &OldAlgorithmSource::policy),
                                                                    Field("provider", 0, &OldAlgorithmSource::provider),
                                                                });
  return message;
}

const Message& Describe(const OldLeaderElection*) {
  static const Message message =
      MessageOf<OldLeaderElection>("KubeSchedulerLeaderElectionConfiguration",
                                   {
                                       Inline("later", 0, &OldLeaderElection::later),
                                       Field("lockObjectNamespace", 0, &OldLeaderElection::lock_object_namespace),
                                       Field("lockObjectName", 0, &OldLeaderElection::lock_object_name),
                                   });
  return message;
}

const Message& Describe(const OldFields*) {
  static const Message message = MessageOf<OldFields>(
      "KubeSchedulerConfiguration",
      {
          Field("disablePreemption", 0, &OldFields::disable_preemption),
          Field("bindTimeoutSeconds", 0, &OldFields::bind_timeout_seconds),
          Field("schedulerName", 0, &OldFields::scheduler_name),
          Field("algorithmSource", 0, &OldFields::algorithm_source),
          Field("hardPodAffinitySymmetricWeight", 0, &OldFields::hard_pod_affinity_symmetric_weight),
          Field("plugins", 0, &OldFields::plugins),
          Field("pluginConfig", 0, &OldFields::plugin_config),
          Field("leaderElection", 0, &OldFields::leader_election),
          Field("extenders", 0, &OldFields::extenders),
      });
  return message;
}

OldFields ReadOldFields(const codec::Value& root, FileVersion version, std::vector<codec::Diagnostic>& diagnostics,
                        std::vector<codec::Diagnostic>& skipped) {
  OldFields old;
  const std::vector<std::string_view> fields = FieldsOf(version);
  if (fields.empty()) return old;
  std::vector<codec::Diagnostic> found;
  codec::Decode(root, old, {.strict = true}, found);
  std::erase_if(diagnostics, [&](const codec::Diagnostic& problem) { return IsUnder(problem.path, fields); });
  std::ranges::copy_if(found, std::back_inserter(diagnostics),
                       [&](const codec::Diagnostic& problem) { return IsUnder(problem.path, fields); });
  if (version == FileVersion::kV1alpha2) ReadPolicyExtenders(root, old.extenders, diagnostics, skipped);
  return old;
}

void MoveIntoV1(const OldFields& old, FileVersion version, FileConfiguration& file,
                std::vector<std::string>& problems) {
  if (version == FileVersion::kV1alpha1) {
    file.leader_election = old.leader_election.later;
    MergeNames(old.leader_election.lock_object_namespace, "lockObjectNamespace", "resourceNamespace",
               file.leader_election.resource_namespace, problems);
    MergeNames(old.leader_election.lock_object_name, "lockObjectName", "resourceName",
               file.leader_election.resource_name, problems);
    FileProfile profile;
    profile.scheduler_name = old.scheduler_name;
    profile.plugins = old.plugins;
    profile.plugin_config = old.plugin_config;
    if (profile.plugins) {
      profile.plugins->pre_score = std::exchange(profile.plugins->post_filter, {});
    }
    file.profiles = {std::move(profile)};
  }
  if (version == FileVersion::kV1alpha2) {
    file.extenders.clear();
    for (const PolicyExtender& extender : old.extenders) file.extenders.push_back(FromPolicyForm(extender));
  }
  if (!IsAlpha(version)) return;
  for (FileProfile& profile : file.profiles) {
    if (profile.plugins) RenamePlugins(*profile.plugins);
  }
}

OldSettings SettingsOf(const OldFields& old, std::vector<std::string>& problems) {
  OldSettings settings;
  settings.disable_preemption = old.disable_preemption.value_or(false);
  settings.bind_timeout_seconds = old.bind_timeout_seconds;
  settings.hard_pod_affinity_weight = old.hard_pod_affinity_symmetric_weight;
  if (settings.bind_timeout_seconds.value_or(0) < 0) {
    problems.push_back(api::InvalidNumber("bindTimeoutSeconds", *settings.bind_timeout_seconds,
                                          "invalid BindTimeoutSeconds, should not be a negative value"));
  }
  const int32_t hard = settings.hard_pod_affinity_weight.value_or(1);
  if (hard < 0 || hard > 100) {
    problems.push_back(api::InvalidNumber("hardPodAffinitySymmetricWeight", hard, "not in valid range [0-100]"));
  }
  return settings;
}

namespace {

template <class Args>
Args* ArgsIn(Profile& profile, std::string_view plugin) {
  const auto it = std::ranges::find(profile.plugin_config, plugin, &PluginConfig::name);
  return it == profile.plugin_config.end() ? nullptr : std::get_if<Args>(&it->args);
}

}  // namespace

void ApplySettings(const OldSettings& settings, Profile& profile) {
  if (settings.disable_preemption) {
    const auto is_preemption = [](const auto& named) { return named.name == "DefaultPreemption"; };
    std::erase_if(profile.plugins.at(ExtensionPoint::kPostFilter).enabled, is_preemption);
    std::erase_if(profile.plugin_config, is_preemption);
  }
  if (auto* args = ArgsIn<VolumeBindingArgs>(profile, "VolumeBinding"); args && settings.bind_timeout_seconds) {
    args->bind_timeout_seconds = *settings.bind_timeout_seconds;
  }
  if (auto* args = ArgsIn<InterPodAffinityArgs>(profile, "InterPodAffinity");
      args && settings.hard_pod_affinity_weight) {
    args->hard_pod_affinity_weight = *settings.hard_pod_affinity_weight;
  }
}

}  // namespace berth::config
