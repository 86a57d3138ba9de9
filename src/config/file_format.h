// The configuration file as a person writes it: kubescheduler.config.k8s.io/v1, nothing defaulted. What is absent stays
// absent here, so that defaults and validation can distinguish "0" from unset. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "codec/file_values.h"
#include "codec/schema.h"
#include "config/types.h"

namespace berth::config {

inline constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kApiGroup = "kubescheduler.config.k8s.io";
inline constexpr std::string_view kConfigurationKind = "KubeSchedulerConfiguration";

// "1m30s"
struct FileDuration {
  base::Duration value{};
  friend bool operator==(const FileDuration&, const FileDuration&) = default;
};

struct FilePlugin {
  std::string name;
  std::optional<int32_t> weight;
};

struct FilePluginSet {
  std::vector<FilePlugin> enabled;
  std::vector<FilePlugin> disabled;
};

struct FilePlugins {
  FilePluginSet pre_enqueue, queue_sort, pre_filter, filter, post_filter, pre_score, score, reserve, permit, pre_bind,
      bind, post_bind, multi_point, placement_generate, placement_score;
};

struct FilePluginConfig {
  std::string name;
  codec::FileRaw args;
};

struct FileProfile {
  std::optional<std::string> scheduler_name;
  std::optional<int32_t> percentage_of_nodes_to_score;
  std::optional<FilePlugins> plugins;
  std::vector<FilePluginConfig> plugin_config;
};

struct FileLeaderElection {
  std::optional<bool> leader_elect;
  FileDuration lease_duration, renew_deadline, retry_period;
  std::string resource_lock, resource_name, resource_namespace;
};

struct FileClientConnection {
  std::string kubeconfig, accept_content_types, content_type;
  double qps = 0;
  int32_t burst = 0;
};

struct FileExtenderTls {
  bool insecure = false;
  std::string server_name, cert_file, key_file, ca_file;
  codec::FileBytes cert_data, key_data, ca_data;
};

struct FileExtender {
  std::string url_prefix, filter_verb, preempt_verb, prioritize_verb;
  int64_t weight = 0;
  std::string bind_verb;
  bool enable_https = false;
  std::optional<FileExtenderTls> tls_config;
  FileDuration http_timeout;
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;
};

struct FileConfiguration {
  std::string api_version, kind;
  std::optional<int32_t> parallelism;
  FileLeaderElection leader_election;
  FileClientConnection client_connection;
  std::optional<bool> enable_profiling, enable_contention_profiling;
  std::optional<int32_t> percentage_of_nodes_to_score;
  std::optional<int64_t> pod_initial_backoff_seconds, pod_max_backoff_seconds;
  std::vector<FileProfile> profiles;
  std::vector<FileExtender> extenders;
  bool delay_cache_until_active = false;
  // Fields of berth's own.
  std::vector<PluginLibrary> plugin_libraries;
  bool legacy_plugins = false;
  bool always_check_all_predicates = false;
  std::string node_sampling;
};

// Top-level fields that kube-scheduler does not have.
inline constexpr std::string_view kExtensionFields[] = {"pluginLibraries", "legacyPlugins", "alwaysCheckAllPredicates",
                                                        "nodeSampling"};

const codec::Message& Describe(const FilePlugin*);
const codec::Message& Describe(const FilePluginSet*);
const codec::Message& Describe(const FilePlugins*);
const codec::Message& Describe(const FilePluginConfig*);
const codec::Message& Describe(const FileProfile*);
const codec::Message& Describe(const FileLeaderElection*);
const codec::Message& Describe(const FileClientConnection*);
const codec::Message& Describe(const ExtenderManagedResource*);
const codec::Message& Describe(const FileExtenderTls*);
const codec::Message& Describe(const FileExtender*);
const codec::Message& Describe(const PluginLibrary*);
const codec::Message& Describe(const FileConfiguration*);

}  // namespace berth::config

namespace berth::codec {

template <>
struct ScalarTraits<config::FileDuration> {
  static std::string FromJson(const Value& value, config::FileDuration& out);
  static void ToJson(const config::FileDuration& value, JsonWriter& writer);
};

}  // namespace berth::codec
