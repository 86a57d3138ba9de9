#include "config/file_conversion.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "config/extender_fields.h"

namespace berth::config {
namespace {

// In the order of ExtensionPoint.
constexpr std::array<FilePluginSet FilePlugins::*, kExtensionPointCount> kPoints = {
    &FilePlugins::pre_enqueue, &FilePlugins::queue_sort, &FilePlugins::pre_filter, &FilePlugins::filter,
    &FilePlugins::post_filter, &FilePlugins::pre_score,  &FilePlugins::score,      &FilePlugins::reserve,
    &FilePlugins::permit,      &FilePlugins::pre_bind,   &FilePlugins::bind,       &FilePlugins::post_bind,
};

PluginSet FromFile(const FilePluginSet& file) {
  PluginSet set;
  for (const FilePlugin& plugin : file.enabled) set.enabled.push_back({plugin.name, plugin.weight.value_or(0)});
  for (const FilePlugin& plugin : file.disabled) set.disabled.push_back({plugin.name, plugin.weight.value_or(0)});
  return set;
}

FilePluginSet ToFile(const PluginSet& set) {
  FilePluginSet file;
  for (const Plugin& plugin : set.enabled) file.enabled.push_back({plugin.name, plugin.weight});
  for (const Plugin& plugin : set.disabled) file.disabled.push_back({plugin.name, plugin.weight});
  return file;
}

FilePlugins ToFile(const Plugins& plugins) {
  FilePlugins file;
  for (size_t i = 0; i < kPoints.size(); ++i) file.*kPoints[i] = ToFile(plugins.points[i]);
  file.multi_point = ToFile(plugins.multi_point);
  file.placement_generate = ToFile(plugins.placement_generate);
  file.placement_score = ToFile(plugins.placement_score);
  return file;
}

std::string Or(const std::string& value, std::string_view fallback) {
  return value.empty() ? std::string(fallback) : value;
}

base::Duration Or(FileDuration value, base::Duration fallback) {
  return value.value == base::Duration::zero() ? fallback : value.value;
}

LeaderElection FromFile(const FileLeaderElection& file) {
  const LeaderElection defaults;
  return {
      .leader_elect = file.leader_elect.value_or(defaults.leader_elect),
      .lease_duration = Or(file.lease_duration, defaults.lease_duration),
      .renew_deadline = Or(file.renew_deadline, defaults.renew_deadline),
      .retry_period = Or(file.retry_period, defaults.retry_period),
      .resource_lock = Or(file.resource_lock, defaults.resource_lock),
      .resource_name = Or(file.resource_name, defaults.resource_name),
      .resource_namespace = Or(file.resource_namespace, defaults.resource_namespace),
  };
}

FileLeaderElection ToFile(const LeaderElection& election) {
  return {
      .leader_elect = election.leader_elect,
      .lease_duration = {election.lease_duration},
      .renew_deadline = {election.renew_deadline},
      .retry_period = {election.retry_period},
      .resource_lock = election.resource_lock,
      .resource_name = election.resource_name,
      .resource_namespace = election.resource_namespace,
  };
}

ClientConnection FromFile(const FileClientConnection& file) {
  const ClientConnection defaults;
  return {
      .kubeconfig = file.kubeconfig,
      .accept_content_types = file.accept_content_types,
      .content_type = Or(file.content_type, defaults.content_type),
      .qps = file.qps == 0 ? defaults.qps : static_cast<float>(file.qps),
      .burst = file.burst == 0 ? defaults.burst : file.burst,
  };
}

FileClientConnection ToFile(const ClientConnection& connection) {
  FileClientConnection file{
      .kubeconfig = connection.kubeconfig,
      .accept_content_types = connection.accept_content_types,
      .content_type = connection.content_type,
      .qps = 0,
      .burst = connection.burst,
  };
  // Converted through text: 0.1f should print as 0.1, not 0.10000000149.
  const std::string qps = fmt::format("{}", connection.qps);
  std::from_chars(qps.data(), qps.data() + qps.size(), file.qps);
  return file;
}

Extender FromFile(const FileExtender& file) { return ExtenderFrom(file, file.http_timeout.value); }

FileExtender ToFile(const Extender& extender) {
  FileExtender out{
      .url_prefix = extender.url_prefix,
      .filter_verb = extender.filter_verb,
      .preempt_verb = extender.preempt_verb,
      .prioritize_verb = extender.prioritize_verb,
      .weight = extender.weight,
      .bind_verb = extender.bind_verb,
      .enable_https = extender.enable_https,
      .tls_config = {},
      .http_timeout = {extender.http_timeout},
      .node_cache_capable = extender.node_cache_capable,
      .managed_resources = extender.managed_resources,
      .ignorable = extender.ignorable,
  };
  if (const auto& tls = extender.tls_config) {
    out.tls_config = {tls->insecure, tls->server_name, tls->cert_file,  tls->key_file,
                      tls->ca_file,  {tls->cert_data}, {tls->key_data}, {tls->ca_data}};
  }
  return out;
}

FileProfile ToFile(const Profile& profile) {
  FileProfile file{
      .scheduler_name = profile.scheduler_name,
      .percentage_of_nodes_to_score = profile.percentage_of_nodes_to_score,
      .plugins = ToFile(profile.plugins),
      .plugin_config = {},
  };
  for (const PluginConfig& config : profile.plugin_config) file.plugin_config.push_back({config.name, {}});
  return file;
}

}  // namespace

Plugins FromFile(const FilePlugins& file) {
  Plugins plugins;
  for (size_t i = 0; i < kPoints.size(); ++i) plugins.points[i] = FromFile(file.*kPoints[i]);
  plugins.multi_point = FromFile(file.multi_point);
  plugins.placement_generate = FromFile(file.placement_generate);
  plugins.placement_score = FromFile(file.placement_score);
  return plugins;
}

KubeSchedulerConfiguration FromFile(const FileConfiguration& file) {
  KubeSchedulerConfiguration out;
  out.parallelism = file.parallelism.value_or(out.parallelism);
  out.percentage_of_nodes_to_score = file.percentage_of_nodes_to_score.value_or(0);
  out.pod_initial_backoff_seconds = file.pod_initial_backoff_seconds.value_or(out.pod_initial_backoff_seconds);
  out.pod_max_backoff_seconds = file.pod_max_backoff_seconds.value_or(out.pod_max_backoff_seconds);
  out.delay_cache_until_active = file.delay_cache_until_active;
  out.leader_election = FromFile(file.leader_election);
  out.client_connection = FromFile(file.client_connection);
  out.enable_profiling = file.enable_profiling.value_or(true);
  // Same as enable_profiling unless set.
  out.enable_contention_profiling = file.enable_contention_profiling.value_or(out.enable_profiling);
  for (const FileExtender& extender : file.extenders) out.extenders.push_back(FromFile(extender));
  out.plugin_libraries = file.plugin_libraries;
  out.legacy_plugins = file.legacy_plugins;
  out.always_check_all_predicates = file.always_check_all_predicates;
  out.node_sampling = file.node_sampling;
  return out;
}

FileConfiguration ToFile(const KubeSchedulerConfiguration& configuration) {
  FileConfiguration file{
      .api_version = std::string(kApiVersion),
      .kind = std::string(kConfigurationKind),
      .parallelism = configuration.parallelism,
      .leader_election = ToFile(configuration.leader_election),
      .client_connection = ToFile(configuration.client_connection),
      .enable_profiling = configuration.enable_profiling,
      .enable_contention_profiling = configuration.enable_contention_profiling,
      .percentage_of_nodes_to_score = configuration.percentage_of_nodes_to_score,
      .pod_initial_backoff_seconds = configuration.pod_initial_backoff_seconds,
      .pod_max_backoff_seconds = configuration.pod_max_backoff_seconds,
      .profiles = {},
      .extenders = {},
      .delay_cache_until_active = configuration.delay_cache_until_active,
      .plugin_libraries = configuration.plugin_libraries,
      .legacy_plugins = configuration.legacy_plugins,
      .always_check_all_predicates = configuration.always_check_all_predicates,
      .node_sampling = configuration.node_sampling,
  };
  for (const Profile& profile : configuration.profiles) file.profiles.push_back(ToFile(profile));
  for (const Extender& extender : configuration.extenders) file.extenders.push_back(ToFile(extender));
  return file;
}

}  // namespace berth::config
