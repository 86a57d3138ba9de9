#include "scheduler_flags.h"

#include <fmt/format.h>

#include <iterator>

#include "api/field_error.h"

namespace berth::cmd {
namespace {

// Upstream's groups, in its order; ours is the last.
constexpr char kMisc[] = "Misc";
constexpr char kServing[] = "Secure serving";
constexpr char kAuthentication[] = "Authentication";
constexpr char kAuthorization[] = "Authorization";
constexpr char kOldFlags[] = "Deprecated";
constexpr char kElection[] = "Leader election";
constexpr char kGates[] = "Feature gate";
constexpr char kMetrics[] = "Metrics";
constexpr char kLogs[] = "Logs";
constexpr char kGlobal[] = "Global";
constexpr char kOwn[] = "Berth";

// Below this, one attempt might not fit; above the maximum, it is probably a mistake.
constexpr int64_t kLeastExplainMemory = 64 << 10;
constexpr int64_t kMostExplainMemory = int64_t{16} << 30;

enum class Support {
  kFull,
  kInFile,      // deprecated: `note` is the field of the configuration file to use instead; ignored with --config
  kDeprecated,  // `note` explains it
  kNoEffect,    // accepted, but values other than the default have no effect: `note` says why
  kRefused,     // values other than the default are an error: `note` says why
};

// One flag. Its type is that of its target, its default the target's value before parsing.
struct Row {
  const char* group;
  const char* name;
  char shorthand;
  FlagTarget (*sets)(SchedulerOptions& options);
  const char* help;
  Support support = Support::kFull;
  const char* note = "";
};

#define SETS(member) [](SchedulerOptions& options) -> FlagTarget { return &options.member; }

// clang-format off
constexpr Row kFlags[] = {
    {kMisc, "config", 0, SETS(config_file), "File with a KubeSchedulerConfiguration."},
    {kMisc, "write-config-to", 0, SETS(write_config_to),
     "Write the configuration with every default to this file, and exit."},
    {kMisc, "master", 0, SETS(master), "Address of the Kubernetes API server; wins over the one in a kubeconfig."},

    {kServing, "bind-address", 0, SETS(secure_serving.bind_address),
     "The IP address at which --secure-port is served. An unspecified one (0.0.0.0 or ::) means every interface."},
    {kServing, "secure-port", 0, SETS(secure_serving.secure_port),
     "The port for HTTPS with authentication and authorization. If 0, nothing is served over HTTPS."},
    {kServing, "disable-http2-serving", 0, SETS(secure_serving.disable_http2_serving),
     "Serve HTTP/1.1 only, which berth does anyway. [default=false]"},
    {kServing, "cert-dir", 0, SETS(secure_serving.cert_dir),
     "The directory of the TLS certificate: a self-signed pair is kept there. Ignored when --tls-cert-file and "
     "--tls-private-key-file are given."},
    {kServing, "tls-cert-file", 0, SETS(secure_serving.tls_cert_file),
     "File with the x509 certificate for HTTPS, followed by those of its authorities, if any. Without it and "
     "--tls-private-key-file, a self-signed certificate is made, and kept in --cert-dir if that is given."},
    {kServing, "tls-private-key-file", 0, SETS(secure_serving.tls_private_key_file),
     "File with the private key of --tls-cert-file."},
    {kServing, "tls-cipher-suites", 0, SETS(secure_serving.tls_cipher_suites),
     "Cipher suites that may be used, separated by commas, in the names of Go's crypto/tls. They concern TLS 1.2: those "
     "of TLS 1.3 are always on. Without it, a safe choice."},
    {kServing, "tls-curve-preferences", 0, SETS(secure_serving.tls_curve_preferences),
     "Numbers of the key exchanges that may be used, separated by commas (Go's crypto/tls CurveID), the preferred one "
     "first. Without it, OpenSSL's choice."},
    {kServing, "tls-min-version", 0, SETS(secure_serving.tls_min_version),
     "The oldest TLS version that is accepted: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13. Without it, "
     "VersionTLS12."},
    {kServing, "tls-sni-cert-key", 0, SETS(secure_serving.tls_sni_cert_keys),
     "A certificate file and its key file for clients that ask for certain names: \"foo.crt,foo.key\" or "
     "\"foo.crt,foo.key:*.foo.com,foo.com\". Without names, those in the certificate. May be repeated."},
    {kServing, "http2-max-streams-per-connection", 0, SETS(secure_serving.http2_max_streams_per_connection),
     "How many streams a client may have in one HTTP/2 connection. Zero for the server's own limit.",
     Support::kNoEffect, "berth serves HTTP/1.1, which has no streams"},
    {kServing, "permit-port-sharing", 0, SETS(secure_serving.permit_port_sharing),
     "Bind the port with SO_REUSEPORT, so that several instances can share it. [default=false]"},
    {kServing, "permit-address-sharing", 0, SETS(secure_serving.permit_address_sharing),
     "Bind the port with SO_REUSEADDR, so that a restart need not wait for the old sockets; berth always does. "
     "[default=false]"},

    {kAuthentication, "authentication-kubeconfig", 0, SETS(authentication.kubeconfig),
     "kubeconfig of an API server where tokenreviews.authentication.k8s.io may be created. Without it (and outside of a "
     "cluster) every token is anonymous, and no client CA is looked up in the cluster."},
    {kAuthentication, "authentication-token-webhook-cache-ttl", 0, SETS(authentication.token_cache_ttl),
     "How long the verdict about a token is remembered."},
    {kAuthentication, "client-ca-file", 0, SETS(authentication.client_ca_file),
     "Authorities of client certificates: whoever shows one that they signed is the user in its CommonName."},
    {kAuthentication, "requestheader-username-headers", 0, SETS(authentication.requestheader_username_headers),
     "Request headers in which a proxy names the user. X-Remote-User is common."},
    {kAuthentication, "requestheader-uid-headers", 0, SETS(authentication.requestheader_uid_headers),
     "Request headers in which a proxy gives the user's UID. X-Remote-Uid is suggested. Needs the feature gate "
     "RemoteRequestHeaderUID."},
    {kAuthentication, "requestheader-group-headers", 0, SETS(authentication.requestheader_group_headers),
     "Request headers in which a proxy names the user's groups. X-Remote-Group is suggested."},
    {kAuthentication, "requestheader-extra-headers-prefix", 0,
     SETS(authentication.requestheader_extra_headers_prefix),
     "Beginnings of request headers in which a proxy says more about the user. X-Remote-Extra- is suggested."},
    {kAuthentication, "requestheader-client-ca-file", 0, SETS(authentication.requestheader_client_ca_file),
     "Authorities of the client certificates of such proxies; without one of theirs the headers are not believed."},
    {kAuthentication, "requestheader-allowed-names", 0, SETS(authentication.requestheader_allowed_names),
     "Common names of the client certificates of such proxies. If empty, any that --requestheader-client-ca-file "
     "vouches for."},
    {kAuthentication, "authentication-skip-lookup", 0, SETS(authentication.skip_lookup),
     "Do not look up in the cluster what these flags leave open."},
    {kAuthentication, "authentication-tolerate-lookup-failure", 0, SETS(authentication.tolerate_lookup_failure),
     "Go on when that lookup fails. Every request may then be anonymous."},

    {kAuthorization, "authorization-kubeconfig", 0, SETS(authorization.kubeconfig),
     "kubeconfig of an API server where subjectaccessreviews.authorization.k8s.io may be created. Without it (and "
     "outside of a cluster) whatever needs authorization is forbidden."},
    {kAuthorization, "authorization-webhook-cache-authorized-ttl", 0, SETS(authorization.authorized_ttl),
     "How long a yes of the API server is remembered."},
    {kAuthorization, "authorization-webhook-cache-unauthorized-ttl", 0, SETS(authorization.unauthorized_ttl),
     "How long a no of the API server is remembered."},
    {kAuthorization, "authorization-always-allow-paths", 0, SETS(authorization.always_allow_paths),
     "HTTP paths that anybody may ask for, without a question to the API server."},

    {kOldFlags, "profiling", 0, SETS(deprecated.profiling),
     "DEPRECATED: profiling over the web at /debug/pprof/, which berth does not have. Ignored with --config.",
     Support::kInFile, "enableProfiling"},
    {kOldFlags, "contention-profiling", 0, SETS(deprecated.contention_profiling),
     "DEPRECATED: profiling of waiting, if profiling is on; berth does not have it. Ignored with --config.",
     Support::kInFile, "enableContentionProfiling"},
    {kOldFlags, "kubeconfig", 0, SETS(deprecated.kubeconfig),
     "DEPRECATED: kubeconfig with the API server's address and our credentials. Ignored with --config.",
     Support::kInFile, "clientConnection.kubeconfig"},
    {kOldFlags, "kube-api-content-type", 0, SETS(deprecated.content_type),
     "DEPRECATED: content type of requests to the API server. Ignored with --config.",
     Support::kInFile, "clientConnection.contentType"},
    {kOldFlags, "kube-api-qps", 0, SETS(deprecated.qps),
     "DEPRECATED: requests per second to the API server. Ignored with --config.",
     Support::kInFile, "clientConnection.qps"},
    {kOldFlags, "kube-api-burst", 0, SETS(deprecated.burst),
     "DEPRECATED: requests to the API server that may exceed that rate for a moment. Ignored with --config.",
     Support::kInFile, "clientConnection.burst"},
    {kOldFlags, "pod-max-in-unschedulable-pods-duration", 0,
     SETS(deprecated.pod_max_in_unschedulable_pods_duration),
     "DEPRECATED: the longest time a pod stays among the unschedulable ones before it is tried again, whatever "
     "happens. It will be removed in a future version.",
     Support::kDeprecated, "it will be removed in a future version"},

    {kElection, "leader-elect", 0, SETS(leader_election.leader_elect),
     "Schedule only while holding a lease, so that several replicas can run and one of them works."},
    {kElection, "leader-elect-lease-duration", 0, SETS(leader_election.lease_duration),
     "How long the others wait after the leader's last renewal before they try to take over: the longest time without "
     "a leader."},
    {kElection, "leader-elect-renew-deadline", 0, SETS(leader_election.renew_deadline),
     "How long the leader tries to renew before it gives up leading. Must be less than the lease duration."},
    {kElection, "leader-elect-retry-period", 0, SETS(leader_election.retry_period),
     "How long to wait between two attempts to acquire or renew."},
    {kElection, "leader-elect-resource-lock", 0, SETS(leader_election.resource_lock),
     "The kind of object that is the lock. Only 'leases' is supported."},
    {kElection, "leader-elect-resource-name", 0, SETS(leader_election.resource_name), "The name of that object."},
    {kElection, "leader-elect-resource-namespace", 0, SETS(leader_election.resource_namespace),
     "The namespace of that object."},

    {kGates, "emulated-version", 0, SETS(emulated_version),
     "The version whose behaviour to show, as major.minor, perhaps after a component: kube=1.36. berth has that of "
     "1.36 only.\nOptions are: kube=1.33..1.36(default:1.36)\nIf the component is not specified, defaults to \"kube\""},
    {kGates, "min-compatibility-version", 0, SETS(min_compatibility_version),
     "The oldest version of other control plane components to get along with, as major.minor; not above "
     "--emulated-version.\nOptions are: kube=1.33..1.36(default:1.35)\nIf the component is not specified, defaults to "
     "\"kube\"",
     Support::kNoEffect, "nothing that berth does depends on it"},
    {kGates, "feature-gates", 0, SETS(feature_gates),
     "Feature gates as name=true or name=false, separated by commas, each perhaps with a component before it: "
     "kube:name=true. May be repeated."},

    {kMetrics, "show-hidden-metrics-for-version", 0, SETS(metrics.show_hidden_for_version),
     "Show metrics that were hidden since this version, as major.minor. Only the previous minor version is allowed, so "
     "that a hidden metric is noticed before it is gone."},
    {kMetrics, "disabled-metrics", 0, SETS(metrics.disabled),
     "Metrics to leave out, by their full names; wins over showing hidden ones."},
    {kMetrics, "allow-metric-labels", 0, SETS(metrics.allow_labels),
     "Values a label of a metric may have, as <metric>,<label>='<value>,<value>...'; others become \"unexpected\"."},
    {kMetrics, "allow-metric-labels-manifest", 0, SETS(metrics.allow_labels_manifest),
     "YAML file with the same: a map from \"metric,label\" to \"value,value\". Not together with --allow-metric-labels."},

    {kLogs, "logging-format", 0, SETS(logging.format), "How log lines look: \"json\" or \"text\"."},
    {kLogs, "log-flush-frequency", 0, SETS(logging.flush_frequency), "The longest time between two flushes of the log.",
     Support::kNoEffect, "every line is written at once"},
    {kLogs, "v", 'v', SETS(logging.verbosity), "How much is logged; more with a higher number."},
    {kLogs, "vmodule", 0, SETS(logging.vmodule),
     "Other levels for some source files, as pattern=N,... (only for the text format)."},
    {kLogs, "log-text-split-stream", 0, SETS(logging.text_split_stream),
     "[Alpha] In text format, errors go to stderr and the rest to stdout. Needs the feature gate LoggingAlphaOptions."},
    {kLogs, "log-text-info-buffer-size", 0, SETS(logging.text_info_buffer_size),
     "[Alpha] In text format with split streams, how many bytes of stdout are held back. Needs the feature gate "
     "LoggingAlphaOptions.",
     Support::kNoEffect, "every line is written at once"},
    {kLogs, "log-json-split-stream", 0, SETS(logging.json_split_stream),
     "[Alpha] In JSON format, errors go to stderr and the rest to stdout. Needs the feature gate LoggingAlphaOptions."},
    {kLogs, "log-json-info-buffer-size", 0, SETS(logging.json_info_buffer_size),
     "[Alpha] In JSON format with split streams, how many bytes of stdout are held back. Needs the feature gate "
     "LoggingAlphaOptions.",
     Support::kNoEffect, "every line is written at once"},

    {kGlobal, "version", 0, SETS(version),
     "Print the version and exit: --version, or --version=raw for all of it. --version=vX.Y.Z would report another one.",
     Support::kFull},
    {kGlobal, "help", 'h', SETS(help), "This text."},

    {kOwn, "seed", 0, SETS(seed),
     "Where the random choice between equally good nodes begins: the same seed, the same placements. Without it, every "
     "start is different."},
    {kOwn, "verify-incremental", 0, SETS(verify_incremental),
     "Compare every answer that was kept up to date with one made from scratch. Slow; for finding bugs."},
    {kOwn, "watch-config", 0, SETS(watch_config),
     "Read the file of --config again whenever it changes, as SIGHUP does. A file that is refused changes nothing."},
    {kOwn, "explain-memory", 0, SETS(explain_memory),
     "Memory for the last attempts to schedule pods, which /debug/berth/ tells of; the oldest are forgotten first. At "
     "least 64Ki; 0 keeps none."},
    {kOwn, "annotate-results", 0, SETS(annotate_results),
     "Write what every plugin said of every node on the pods, as the annotations of kube-scheduler-simulator. Slow: "
     "every plugin is asked about every node, for every pod."},
    {kOwn, "record", 0, SETS(record),
     "Record every input and every decision into files of this directory, for berth replay. A write that fails ends the "
     "recording, not the scheduler."},
    {kOwn, "record-size", 0, SETS(record_size),
     "How large the recording may become, as 500Mi or 2Gi: the oldest files go. At least 8Mi."},
    {kOwn, "policy-config-file", 0, SETS(policy_config_file),
     "Scheduler Policy, JSON or YAML, as schedulers before Kubernetes 1.23 took it. Not together with profiles in "
     "--config.",
     Support::kDeprecated, "use profiles in the file of --config; berth config convert writes them"},
    {kOwn, "policy-configmap", 0, SETS(policy_configmap),
     "ConfigMap of the cluster with such a Policy at policy.cfg, read once at start; wins over --policy-config-file.",
     Support::kDeprecated, "use profiles in the file of --config; berth config convert writes them"},
    {kOwn, "policy-configmap-namespace", 0, SETS(policy_configmap_namespace), "The namespace of that ConfigMap."},
    {kOwn, "use-legacy-policy-config", 0, SETS(use_legacy_policy_config),
     "Take --policy-config-file even if a ConfigMap is named. [default=false]"},
    {kOwn, "algorithm-provider", 0, SETS(algorithm_provider),
     "DefaultProvider or ClusterAutoscalerProvider, as those schedulers took it: the plugins that the profiles of "
     "--config begin with.",
     Support::kDeprecated, "use profiles in the file of --config; berth config convert writes them"},
    {kOwn, "plugin-dir", 0, SETS(plugin_dirs),
     "Directories with shared objects whose plugins to load, separated by commas. May be repeated."},
};
// clang-format on

#undef SETS

std::vector<GroupedFlag> Bind(SchedulerOptions& options) {
  std::vector<GroupedFlag> flags;
  for (const Row& row : kFlags) flags.push_back({row.group, row.name, row.shorthand, row.sets(options), row.help});
  return flags;
}

std::string NoArguments(const std::string& command, const std::vector<std::string>& rest) {
  std::string quoted;
  for (const std::string& argument : rest) quoted += (quoted.empty() ? "" : " ") + api::Quote(argument);
  return fmt::format("{} does not take any arguments, got [{}]", api::Quote(command), quoted);
}

}  // namespace

SchedulerFlags::SchedulerFlags(std::string command) : command_(std::move(command)), flags_(Bind(options_)) {}

// Reports each given flag that is deprecated, has no effect or is rejected.
Result<void> SchedulerFlags::CheckSupport() {
  for (const Row& row : kFlags) {
    if (!flags_.Given(row.name)) continue;
    options_.given.emplace(row.name);
    switch (row.support) {
      case Support::kFull:
        break;
      case Support::kInFile:
        warnings_.push_back(
            options_.config_file.empty()
                ? fmt::format("--{} is deprecated; use {} in the file of --config", row.name, row.note)
                : fmt::format("--{} is ignored because --config is given; use {} there", row.name, row.note));
        break;
      case Support::kDeprecated:
        warnings_.push_back(fmt::format("--{} is deprecated; {}", row.name, row.note));
        break;
      case Support::kNoEffect:
        if (flags_.Changed(row.name)) warnings_.push_back(fmt::format("--{} has no effect: {}", row.name, row.note));
        break;
      case Support::kRefused:
        if (flags_.Changed(row.name)) {
          return Error{ErrorCode::kUnsupported, fmt::format("--{} is not supported: {}", row.name, row.note)};
        }
    }
  }
  return {};
}

Result<void> SchedulerFlags::Parse(const std::vector<std::string>& arguments) {
  const Result<std::vector<std::string>> rest = flags_.Parse(arguments);
  if (!rest) return rest.error();
  if (options_.help) return {};
  for (const std::string& argument : *rest) {
    if (!argument.empty()) return Error::InvalidArgument(NoArguments(command_, *rest));
  }
  if (options_.version.text.starts_with('v')) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("--version={}: berth reports its own version only", options_.version.text)};
  }
  if (options_.version.text != "false") return {};

  if (Result<void> versions = CheckVersions(options_); !versions) return versions;
  const Result<std::string> gates = KubeGates(options_.feature_gates);
  if (!gates) return gates.error();
  if (Result<void> parsed = options_.gates.Parse(*gates); !parsed) return parsed;
  for (const std::string& warning : options_.gates.Warnings()) warnings_.push_back("--feature-gates: " + warning);
  if (Result<void> supported = CheckSupport(); !supported) return supported;
  if (const int64_t bytes = options_.explain_memory.bytes;
      bytes != 0 && (bytes < kLeastExplainMemory || bytes > kMostExplainMemory)) {
    return Error::InvalidArgument(
        fmt::format("--explain-memory: expected 0 or 64Ki to 16Gi, found {}", options_.explain_memory.text));
  }
  return CheckLogging(options_);
}

std::string SchedulerFlags::Help(size_t columns) const {
  return fmt::format(
      "Schedules the pods of a Kubernetes cluster: finds for each waiting pod the nodes that can take it, ranks them, "
      "and "
      "binds\nthe pod to the best. Takes the flags and the configuration of kube-scheduler v1.36, and decides as it "
      "does.\n"
      "\nUsage:\n  {} [flags]\n{}",
      command_, flags_.Help(columns));
}

}  // namespace berth::cmd
