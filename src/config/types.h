// KubeSchedulerConfiguration after decoding, defaulting and plugin resolution: what the program is built from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/plugin_args.h"

namespace berth::config {

// The extension points of a configuration file, in its own words and order.
enum class ExtensionPoint {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
};
inline constexpr int kExtensionPointCount = 12;
// "preFilter", …
std::string_view NameOf(ExtensionPoint point);

struct Plugin {
  std::string name;
  int32_t weight = 0;
};

struct PluginSet {
  std::vector<Plugin> enabled;
  std::vector<Plugin> disabled;
};

// As written (after the defaults are merged): multiPoint not yet expanded.
struct Plugins {
  PluginSet points[kExtensionPointCount];
  PluginSet multi_point;
  // Points for groups of pods; behind an alpha gate, and not part of the engine's points.
  PluginSet placement_generate;
  PluginSet placement_score;

  PluginSet& at(ExtensionPoint point) { return points[static_cast<int>(point)]; }
  const PluginSet& at(ExtensionPoint point) const { return points[static_cast<int>(point)]; }
};

struct PluginConfig {
  std::string name;
  PluginArgs args;
  // Arguments of a plugin this program has no type for, as JSON; empty when none were given.
  std::string raw_args{};
  // Why the plugin would reject these arguments. Not an error by itself: only a profile that uses the plugin fails.
  std::string args_error{};
};

struct Profile {
  std::string scheduler_name;
  std::optional<int32_t> percentage_of_nodes_to_score;
  Plugins plugins;
  std::vector<PluginConfig> plugin_config;
};

struct LeaderElection {
  bool leader_elect = true;
  base::Duration lease_duration = std::chrono::seconds(15);
  base::Duration renew_deadline = std::chrono::seconds(10);
  base::Duration retry_period = std::chrono::seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "kube-scheduler";
  std::string resource_namespace = "kube-system";
};

struct ClientConnection {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  float qps = 50;
  int32_t burst = 100;
};

struct ExtenderManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
};

struct ExtenderTlsConfig {
  bool insecure = false;
  std::string server_name;
  std::string cert_file;
  std::string key_file;
  std::string ca_file;
  // PEM bytes; they take precedence over the files.
  std::string cert_data;
  std::string key_data;
  std::string ca_data;
};

struct Extender {
  std::string url_prefix;
  std::string filter_verb;
  std::string preempt_verb;
  std::string prioritize_verb;
  int64_t weight = 0;
  std::string bind_verb;
  bool enable_https = false;
  std::optional<ExtenderTlsConfig> tls_config;
  base::Duration http_timeout{};  // 0: the client's default of 5 s
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;
};

// A shared library with plugins in it.
struct PluginLibrary {
  std::string path;
};

// Values of nodeSampling.
inline constexpr std::string_view kExactSampling = "Exact";        // all
inline constexpr std::string_view kUpstreamSampling = "Upstream";  // as many as kube-scheduler would

struct KubeSchedulerConfiguration {
  int32_t parallelism = 16;
  std::optional<int32_t> percentage_of_nodes_to_score;  // 0 when the file has none: let the scheduler choose
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
  bool delay_cache_until_active = false;
  std::vector<Profile> profiles;
  LeaderElection leader_election{};
  ClientConnection client_connection{};
  bool enable_profiling = true;
  bool enable_contention_profiling = true;
  std::vector<Extender> extenders{};

  // Extension fields: berth's own, unknown to kube-scheduler.
  std::vector<PluginLibrary> plugin_libraries{};
  // The volume limits by in-tree type, which v1 rejects at extension points, are allowed there.
  bool legacy_plugins = false;
  // How many nodes are evaluated when percentageOfNodesToScore is not given; kExactSampling when empty.
  std::string node_sampling{};
  // The other filters also run on a node that one filter rejects, for a complete list of reasons.
  bool always_check_all_predicates = false;
};

}  // namespace berth::config
