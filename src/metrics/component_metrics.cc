#include "metrics/component_metrics.h"

#include <map>
#include <memory>
#include <utility>

namespace berth::metrics {
namespace {

const std::vector<double> kRequestSeconds = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
const std::vector<double> kRequestBytes = {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};

}  // namespace

RestClientMetrics::RestClientMetrics(Registry& registry)
    : requests(registry.Add<Counter>({.name = "rest_client_requests_total",
                                      .help = "Number of HTTP requests, partitioned by status code, method, and host.",
                                      .stability = Stability::kAlpha,
                                      .labels = {"code", "method", "host"}})),
      request_retries(
          registry.Add<Counter>({.name = "rest_client_request_retries_total",
                                 .help = "Number of request retries, partitioned by status code, verb, and host.",
                                 .stability = Stability::kAlpha,
                                 .labels = {"code", "verb", "host"}})),
      request_duration(registry.Add<Histogram>({.name = "rest_client_request_duration_seconds",
                                                .help = "Request latency in seconds. Broken down by verb, and host.",
                                                .stability = Stability::kAlpha,
                                                .labels = {"verb", "host"},
                                                .buckets = kRequestSeconds})),
      request_size(registry.Add<Histogram>({.name = "rest_client_request_size_bytes",
                                            .help = "Request size in bytes. Broken down by verb and host.",
                                            .stability = Stability::kAlpha,
                                            .labels = {"verb", "host"},
                                            .buckets = kRequestBytes})),
      response_size(registry.Add<Histogram>({.name = "rest_client_response_size_bytes",
                                             .help = "Response size in bytes. Broken down by verb and host.",
                                             .stability = Stability::kAlpha,
                                             .labels = {"verb", "host"},
                                             .buckets = kRequestBytes})),
      rate_limiter_duration(registry.Add<Histogram>(
          {.name = "rest_client_rate_limiter_duration_seconds",
           .help = "Client side rate limiter latency in seconds. Broken down by verb, and host.",
           .stability = Stability::kAlpha,
           .labels = {"verb", "host"},
           .buckets = kRequestSeconds})) {}

ExecPluginMetrics::ExecPluginMetrics(Registry& registry, std::function<double()> shortest_life)
    : calls(registry.Add<Counter>(
          {.name = "rest_client_exec_plugin_call_total",
           .help = "Number of calls to an exec plugin, partitioned by the type of event encountered (no_error, "
                   "plugin_execution_error, plugin_not_found_error, client_internal_error) and an optional exit code. "
                   "The exit code will be set to 0 if and only if the plugin call was successful.",
           .stability = Stability::kAlpha,
           .labels = {"code", "call_status"}})) {
  registry.AddComputed({.name = "rest_client_exec_plugin_ttl_seconds",
                        .help = "Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the "
                                "auth exec plugin. The value is in seconds until certificate expiry (negative if "
                                "already expired). If auth exec plugins are unused or manage no TLS certificates, the "
                                "value will be +INF.",
                        .stability = Stability::kAlpha},
                       MetricType::kGauge,
                       [life = std::move(shortest_life)](SampleSink& sink) { sink.Add({}, life()); });
}

LeaderElectionMetrics::LeaderElectionMetrics(Registry& registry)
    : master_status(registry.Add<Gauge>(
          {.name = "leader_election_master_status",
           .help = "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates "
                   "master. 'name' is the string used to identify the lease. Please make sure to group by name.",
           .stability = Stability::kAlpha,
           .labels = {"name"}})),
      slowpath(
          registry.Add<Counter>({.name = "leader_election_slowpath_total",
                                 .help = "Total number of slow path exercised in renewing leader leases. 'name' is the "
                                         "string used to identify the lease. Please make sure to group by name.",
                                 .stability = Stability::kAlpha,
                                 .labels = {"name"}})) {}

HealthCheckMetrics::HealthCheckMetrics(Registry& registry)
    : healthcheck(registry.Add<Gauge>({.name = "kubernetes_healthcheck",
                                       .help = "This metric records the result of a single healthcheck.",
                                       .stability = Stability::kStable,
                                       .labels = {"name", "type"}})),
      healthchecks(registry.Add<Counter>({.name = "kubernetes_healthchecks_total",
                                          .help = "This metric records the results of all healthcheck.",
                                          .stability = Stability::kStable,
                                          .labels = {"name", "type", "status"}})) {}

void AddBuildInfo(Registry& registry, const BuildInfo& info) {
  Description description{
      .name = "kubernetes_build_info",
      .help =
          "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build "
          "date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
      .stability = Stability::kBeta,
      .labels = {"major", "minor", "git_version", "git_commit", "git_tree_state", "build_date", "go_version",
                 "compiler", "platform"}};
  registry.AddComputed(std::move(description), MetricType::kGauge, [info](SampleSink& sink) {
    sink.Add({info.major, info.minor, info.git_version, info.git_commit, info.git_tree_state, info.build_date,
              info.go_version, info.compiler, info.platform},
             1);
  });
}

void AddVersionInfo(Registry& registry, const VersionInfo& info) {
  Description description{
      .name = "version_info",
      .help =
          "Provides the compatibility version info of the component. The component label is the name of the "
          "component, usually kube, but is relevant for aggregated-apiservers.",
      .stability = Stability::kAlpha,
      .labels = {"component", "binary", "emulation", "min_compat"}};
  registry.AddComputed(std::move(description), MetricType::kGauge, [info](SampleSink& sink) {
    sink.Add({"kube", info.binary, info.emulation, info.min_compat}, 1);
  });
}

void AddFeatureStates(Registry& registry, const std::vector<FeatureState>& features) {
  registry.AddComputed({.name = "kubernetes_feature_enabled",
                        .help = "This metric records the data about the stage and enablement of a k8s feature.",
                        .stability = Stability::kBeta,
                        .labels = {"name", "stage"}},
                       MetricType::kGauge, [features](SampleSink& sink) {
                         for (const FeatureState& feature : features)
                           sink.Add({feature.name, feature.stage}, feature.enabled);
                       });
}

void AddMetaMetrics(Registry& registry) {
  registry.AddSingle<Counter>(
      {.name = "disabled_metrics_total", .help = "The count of disabled metrics.", .stability = Stability::kBeta});
  registry.AddSingle<Counter>(
      {.name = "hidden_metrics_total", .help = "The count of hidden metrics.", .stability = Stability::kBeta});
  registry.AddComputed({.name = "registered_metrics_total",
                        .help = "The count of registered metrics broken by stability level and deprecation version.",
                        .stability = Stability::kBeta,
                        .labels = {"stability_level", "deprecated_version"}},
                       MetricType::kCounter, [&registry](SampleSink& sink) {
                         std::map<std::string, double> counts;
                         for (const FamilyBase* family : registry.Families()) {
                           const std::string_view level = StabilityName(family->description().stability);
                           if (!level.empty()) ++counts[std::string(level)];
                         }
                         for (const auto& [level, count] : counts) sink.Add({level, ""}, count);
                       });
}

}  // namespace berth::metrics
