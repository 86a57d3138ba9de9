#include "config/file_format.h"

#include "api/time.h"
#include "codec/json_writer.h"

namespace berth::codec {

std::string ScalarTraits<config::FileDuration>::FromJson(const Value& value, config::FileDuration& out) {
  if (!value.is_string()) return "expected a duration such as \"1m30s\"";
  Result<base::Duration> parsed = api::ParseDuration(value.text());
  if (!parsed) return parsed.error().message;
  out.value = *parsed;
  return {};
}

void ScalarTraits<config::FileDuration>::ToJson(const config::FileDuration& value, JsonWriter& writer) {
  writer.String(api::FormatDuration(value.value));
}

}  // namespace berth::codec

namespace berth::config {

using codec::Field;
using codec::Message;
using codec::MessageOf;

const Message& Describe(const FilePlugin*) {
  static const Message message = MessageOf<FilePlugin>("Plugin", {
                                                                     Field("name", 0, &FilePlugin::name).Always(),
                                                                     Field("weight", 0, &FilePlugin::weight),
                                                                 });
  return message;
}

const Message& Describe(const FilePluginSet*) {
  static const Message message =
      MessageOf<FilePluginSet>("PluginSet", {
                                                Field("enabled", 0, &FilePluginSet::enabled),
                                                Field("disabled", 0, &FilePluginSet::disabled),
                                            });
  return message;
}

const Message& Describe(const FilePlugins*) {
  static const Message message =
      MessageOf<FilePlugins>("Plugins", {
                                            Field("preEnqueue", 0, &FilePlugins::pre_enqueue).Always(),
                                            Field("queueSort", 0, &FilePlugins::queue_sort).Always(),
                                            Field("preFilter", 0, &FilePlugins::pre_filter).Always(),
                                            Field("filter", 0, &FilePlugins::filter).Always(),
                                            Field("postFilter", 0, &FilePlugins::post_filter).Always(),
                                            Field("preScore", 0, &FilePlugins::pre_score).Always(),
                                            Field("score", 0, &FilePlugins::score).Always(),
                                            Field("reserve", 0, &FilePlugins::reserve).Always(),
                                            Field("permit", 0, &FilePlugins::permit).Always(),
                                            Field("preBind", 0, &FilePlugins::pre_bind).Always(),
                                            Field("bind", 0, &FilePlugins::bind).Always(),
                                            Field("postBind", 0, &FilePlugins::post_bind).Always(),
                                            Field("multiPoint", 0, &FilePlugins::multi_point).Always(),
                                            Field("placementGenerate", 0, &FilePlugins::placement_generate).Always(),
                                            Field("placementScore", 0, &FilePlugins::placement_score).Always(),
                                        });
  return message;
}

const Message& Describe(const FilePluginConfig*) {
  static const Message message =
      MessageOf<FilePluginConfig>("PluginConfig", {
                                                      Field("name", 0, &FilePluginConfig::name).Always(),
                                                      Field("args", 0, &FilePluginConfig::args).Always(),
                                                  });
  return message;
}

const Message& Describe(const FileProfile*) {
  static const Message message = MessageOf<FileProfile>(
      "KubeSchedulerProfile", {
                                  Field("schedulerName", 0, &FileProfile::scheduler_name),
                                  Field("percentageOfNodesToScore", 0, &FileProfile::percentage_of_nodes_to_score),
                                  Field("plugins", 0, &FileProfile::plugins),
                                  Field("pluginConfig", 0, &FileProfile::plugin_config),
                              });
  return message;
}

const Message& Describe(const FileLeaderElection*) {
  static const Message message =
      MessageOf<FileLeaderElection>("LeaderElectionConfiguration",
                                    {
                                        Field("leaderElect", 0, &FileLeaderElection::leader_elect).Always(),
                                        Field("leaseDuration", 0, &FileLeaderElection::lease_duration).Always(),
                                        Field("renewDeadline", 0, &FileLeaderElection::renew_deadline).Always(),
                                        Field("retryPeriod", 0, &FileLeaderElection::retry_period).Always(),
                                        Field("resourceLock", 0, &FileLeaderElection::resource_lock).Always(),
                                        Field("resourceName", 0, &FileLeaderElection::resource_name).Always(),
                                        Field("resourceNamespace", 0, &FileLeaderElection::resource_namespace).Always(),
                                    });
  return message;
}

const Message& Describe(const FileClientConnection*) {
  static const Message message = MessageOf<FileClientConnection>(
      "ClientConnectionConfiguration",
      {
          Field("kubeconfig", 0, &FileClientConnection::kubeconfig).Always(),
          Field("acceptContentTypes", 0, &FileClientConnection::accept_content_types).Always(),
          Field("contentType", 0, &FileClientConnection::content_type).Always(),
          Field("qps", 0, &FileClientConnection::qps).Always(),
          Field("burst", 0, &FileClientConnection::burst).Always(),
      });
  return message;
}

const Message& Describe(const ExtenderManagedResource*) {
  static const Message message = MessageOf<ExtenderManagedResource>(
      "ExtenderManagedResource", {
                                     Field("name", 0, &ExtenderManagedResource::name).Always(),
                                     Field("ignoredByScheduler", 0, &ExtenderManagedResource::ignored_by_scheduler),
                                 });
  return message;
}

const Message& Describe(const FileExtenderTls*) {
  static const Message message =
      MessageOf<FileExtenderTls>("ExtenderTLSConfig", {
                                                          Field("insecure", 0, &FileExtenderTls::insecure),
                                                          Field("serverName", 0, &FileExtenderTls::server_name),
                                                          Field("certFile", 0, &FileExtenderTls::cert_file),
                                                          Field("keyFile", 0, &FileExtenderTls::key_file),
                                                          Field("caFile", 0, &FileExtenderTls::ca_file),
                                                          Field("certData", 0, &FileExtenderTls::cert_data),
                                                          Field("keyData", 0, &FileExtenderTls::key_data),
                                                          Field("caData", 0, &FileExtenderTls::ca_data),
                                                      });
  return message;
}

const Message& Describe(const FileExtender*) {
  static const Message message =
      MessageOf<FileExtender>("Extender", {
                                              Field("urlPrefix", 0, &FileExtender::url_prefix).Always(),
                                              Field("filterVerb", 0, &FileExtender::filter_verb),
                                              Field("preemptVerb", 0, &FileExtender::preempt_verb),
                                              Field("prioritizeVerb", 0, &FileExtender::prioritize_verb),
                                              Field("weight", 0, &FileExtender::weight),
                                              Field("bindVerb", 0, &FileExtender::bind_verb),
                                              Field("enableHTTPS", 0, &FileExtender::enable_https),
                                              Field("tlsConfig", 0, &FileExtender::tls_config),
                                              Field("httpTimeout", 0, &FileExtender::http_timeout).Always(),
                                              Field("nodeCacheCapable", 0, &FileExtender::node_cache_capable),
                                              Field("managedResources", 0, &FileExtender::managed_resources),
                                              Field("ignorable", 0, &FileExtender::ignorable),
                                          });
  return message;
}

const Message& Describe(const PluginLibrary*) {
  static const Message message =
      MessageOf<PluginLibrary>("PluginLibrary", {Field("path", 0, &PluginLibrary::path).Always()});
  return message;
}

const Message& Describe(const FileConfiguration*) {
  static const Message message = MessageOf<FileConfiguration>(
      "KubeSchedulerConfiguration",
      {
          Field("apiVersion", 0, &FileConfiguration::api_version),
          Field("kind", 0, &FileConfiguration::kind),
          Field("parallelism", 0, &FileConfiguration::parallelism),
          Field("leaderElection", 0, &FileConfiguration::leader_election).Always(),
          Field("clientConnection", 0, &FileConfiguration::client_connection).Always(),
          Field("enableProfiling", 0, &FileConfiguration::enable_profiling),
          Field("enableContentionProfiling", 0, &FileConfiguration::enable_contention_profiling),
          Field("percentageOfNodesToScore", 0, &FileConfiguration::percentage_of_nodes_to_score),
          Field("podInitialBackoffSeconds", 0, &FileConfiguration::pod_initial_backoff_seconds),
          Field("podMaxBackoffSeconds", 0, &FileConfiguration::pod_max_backoff_seconds),
          Field("profiles", 0, &FileConfiguration::profiles),
          Field("extenders", 0, &FileConfiguration::extenders),
          Field("delayCacheUntilActive", 0, &FileConfiguration::delay_cache_until_active),
          Field("pluginLibraries", 0, &FileConfiguration::plugin_libraries),
          Field("legacyPlugins", 0, &FileConfiguration::legacy_plugins),
          Field("alwaysCheckAllPredicates", 0, &FileConfiguration::always_check_all_predicates),
          Field("nodeSampling", 0, &FileConfiguration::node_sampling),
      });
  return message;
}

}  // namespace berth::config
