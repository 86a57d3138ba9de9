// The command line of `berth scheduler`, group by group. The initial values are the flags' defaults.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/feature_gates.h"
#include "config/types.h"
#include "flag_values.h"

namespace berth::cmd {

// HTTPS: health, metrics and the rest.
struct SecureServingOptions {
  IpAddress bind_address{"0.0.0.0"};
  int64_t secure_port = 10259;  // 0: nothing is served
  std::string cert_dir{};       // empty: a self-signed certificate in memory
  std::string tls_cert_file{};
  std::string tls_private_key_file{};
  std::vector<std::string> tls_cipher_suites{};
  std::vector<int32_t> tls_curve_preferences{};
  std::string tls_min_version{};
  std::vector<NamedCertKey> tls_sni_cert_keys{};
  bool disable_http2_serving = false;
  int64_t http2_max_streams_per_connection = 0;
  bool permit_port_sharing = false;
  bool permit_address_sharing = false;
};

// Authentication: client certificates, and tokens that the API server reviews.
struct AuthenticationOptions {
  std::string kubeconfig{};
  base::Duration token_cache_ttl = std::chrono::seconds(10);
  std::string client_ca_file{};
  std::string requestheader_client_ca_file{};
  std::vector<std::string> requestheader_username_headers{"x-remote-user"};
  std::vector<std::string> requestheader_uid_headers{};
  std::vector<std::string> requestheader_group_headers{"x-remote-group"};
  std::vector<std::string> requestheader_extra_headers_prefix{"x-remote-extra-"};
  std::vector<std::string> requestheader_allowed_names{};
  bool skip_lookup = false;
  bool tolerate_lookup_failure = true;
};

// Authorization: the API server's answers, cached for a while.
struct AuthorizationOptions {
  std::string kubeconfig{};
  base::Duration authorized_ttl = std::chrono::seconds(10);
  base::Duration unauthorized_ttl = std::chrono::seconds(10);
  std::vector<std::string> always_allow_paths{"/healthz", "/readyz", "/livez"};
};

struct DeprecatedOptions {
  bool profiling = true;
  bool contention_profiling = true;
  std::string kubeconfig{};
  std::string content_type = "application/vnd.kubernetes.protobuf";
  float qps = 50;
  int32_t burst = 100;
  // The only one that has no field in the configuration file: it always applies.
  base::Duration pod_max_in_unschedulable_pods_duration = std::chrono::minutes(5);
};

struct MetricsOptions {
  std::string show_hidden_for_version{};
  std::vector<std::string> disabled{};
  std::map<std::string, std::string> allow_labels{};  // "metric,label" -> "value,value"
  std::string allow_labels_manifest{};
};

struct LoggingOptions {
  std::string format = "text";
  base::Duration flush_frequency = std::chrono::seconds(5);
  LogLevel verbosity{};
  LogPatterns vmodule{};
  bool text_split_stream = false;
  bool json_split_stream = false;
  ByteCount text_info_buffer_size{};
  ByteCount json_info_buffer_size{};
};

struct SchedulerOptions {
  std::string config_file{};
  std::string write_config_to{};
  std::string master{};
  SecureServingOptions secure_serving{};
  AuthenticationOptions authentication{};
  AuthorizationOptions authorization{};
  DeprecatedOptions deprecated{};
  config::LeaderElection leader_election{};
  std::vector<std::string> emulated_version{};
  std::vector<std::string> min_compatibility_version{};
  GateAssignments feature_gates{};
  MetricsOptions metrics{};
  LoggingOptions logging{};
  VersionChoice version{};
  bool help = false;

  // berth's own.
  uint64_t seed = 0;  // used if given; otherwise ties are broken differently at every start
  bool verify_incremental = false;
  bool watch_config = false;  // reload --config whenever it changes
  ByteCount explain_memory{32 << 20, "32Mi"};
  bool annotate_results = false;
  std::string record{};  // the folder of the recording; empty: nothing is recorded
  ByteCount record_size{int64_t{1} << 30, "1Gi"};
  // For configurations from before Kubernetes 1.23, in place of profiles.
  std::string policy_config_file{};
  std::string policy_configmap{};
  std::string policy_configmap_namespace = "kube-system";
  std::string algorithm_provider{};
  bool use_legacy_policy_config = false;
  std::vector<std::string> plugin_dirs{};

  // Determined while parsing.
  config::FeatureGates gates{};
  std::set<std::string, std::less<>> given{};  // names of the flags on the command line

  bool Given(std::string_view name) const { return given.contains(name); }
};

// Applies flags to a configuration, which was loaded from --config or is the default: the deprecated flags apply only
// without --config, those of leader election override the file if given. Then validates both, with upstream's messages;
// several problems read "[a, b]".
Result<void> ApplyOptions(const SchedulerOptions& options, config::KubeSchedulerConfiguration& configuration);

// The logging flags, which are checked before anything is logged.
Result<void> CheckLogging(const SchedulerOptions& options);

// The allowed values of metric labels: from --allow-metric-labels, or from the file of --allow-metric-labels-manifest.
Result<std::map<std::string, std::string>> LoadMetricLabels(const MetricsOptions& options);

// Assignments to the gates of the component "kube", which is this program, as one text; another component is an error.
Result<std::string> KubeGates(const GateAssignments& assignments);

// --emulated-version and --min-compatibility-version.
Result<void> CheckVersions(const SchedulerOptions& options);

}  // namespace berth::cmd
