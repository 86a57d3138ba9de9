// Every metric that berth has in common with kube-scheduler v1.36.4, as upstream's sources define it.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "metrics/component_metrics.h"
#include "metrics/scheduler_metrics.h"

namespace berth::metrics {
namespace {

struct Upstream {
  std::string name;
  MetricType type;
  Stability stability;
  std::vector<std::string> labels;
  std::vector<double> buckets;
  std::string help;
};

// clang-format off
const std::vector<Upstream> kUpstream = {
    {"disabled_metrics_total", MetricType::kCounter, Stability::kBeta, {}, {},
     "The count of disabled metrics."},
    {"hidden_metrics_total", MetricType::kCounter, Stability::kBeta, {}, {},
     "The count of hidden metrics."},
    {"version_info", MetricType::kGauge, Stability::kAlpha, {"component", "binary", "emulation", "min_compat"}, {},
     "Provides the compatibility version info of the component. The component label is the name of the component, usually kube, but is relevant for aggregated-apiservers."},
    {"kubernetes_build_info", MetricType::kGauge, Stability::kBeta, {"major", "minor", "git_version", "git_commit", "git_tree_state", "build_date", "go_version", "compiler", "platform"}, {},
     "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running."},
    {"kubernetes_feature_enabled", MetricType::kGauge, Stability::kBeta, {"name", "stage"}, {},
     "This metric records the data about the stage and enablement of a k8s feature."},
    {"kubernetes_healthcheck", MetricType::kGauge, Stability::kStable, {"name", "type"}, {},
     "This metric records the result of a single healthcheck."},
    {"kubernetes_healthchecks_total", MetricType::kCounter, Stability::kStable, {"name", "type", "status"}, {},
     "This metric records the results of all healthcheck."},
    {"leader_election_master_status", MetricType::kGauge, Stability::kAlpha, {"name"}, {},
     "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name."},
    {"leader_election_slowpath_total", MetricType::kCounter, Stability::kAlpha, {"name"}, {},
     "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name."},
    {"registered_metrics_total", MetricType::kCounter, Stability::kBeta, {"stability_level", "deprecated_version"}, {},
     "The count of registered metrics broken by stability level and deprecation version."},
    {"rest_client_exec_plugin_call_total", MetricType::kCounter, Stability::kAlpha, {"code", "call_status"}, {},
     "Number of calls to an exec plugin, partitioned by the type of event encountered (no_error, plugin_execution_error, plugin_not_found_error, client_internal_error) and an optional exit code. The exit code will be set to 0 if and only if the plugin call was successful."},
    {"rest_client_exec_plugin_ttl_seconds", MetricType::kGauge, Stability::kAlpha, {}, {},
     "Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the auth exec plugin. The value is in seconds until certificate expiry (negative if already expired). If auth exec plugins are unused or manage no TLS certificates, the value will be +INF."},
    {"rest_client_rate_limiter_duration_seconds", MetricType::kHistogram, Stability::kAlpha, {"verb", "host"}, {0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0},
     "Client side rate limiter latency in seconds. Broken down by verb, and host."},
    {"rest_client_request_duration_seconds", MetricType::kHistogram, Stability::kAlpha, {"verb", "host"}, {0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0},
     "Request latency in seconds. Broken down by verb, and host."},
    {"rest_client_request_retries_total", MetricType::kCounter, Stability::kAlpha, {"code", "verb", "host"}, {},
     "Number of request retries, partitioned by status code, verb, and host."},
    {"rest_client_request_size_bytes", MetricType::kHistogram, Stability::kAlpha, {"verb", "host"}, {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216},
     "Request size in bytes. Broken down by verb and host."},
    {"rest_client_requests_total", MetricType::kCounter, Stability::kAlpha, {"code", "method", "host"}, {},
     "Number of HTTP requests, partitioned by status code, method, and host."},
    {"rest_client_response_size_bytes", MetricType::kHistogram, Stability::kAlpha, {"verb", "host"}, {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216},
     "Response size in bytes. Broken down by verb and host."},
    {"scheduler_async_api_call_execution_duration_seconds", MetricType::kHistogram, Stability::kAlpha, {"call_type", "result"}, {0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384},
     "Duration in seconds for executing API call in the async dispatcher."},
    {"scheduler_async_api_call_execution_total", MetricType::kCounter, Stability::kAlpha, {"call_type", "result"}, {},
     "Total number of API calls executed by the async dispatcher."},
    {"scheduler_cache_size", MetricType::kGauge, Stability::kAlpha, {"type"}, {},
     "Number of nodes, pods, and assumed (bound) pods in the scheduler cache."},
    {"scheduler_dra_bindingconditions_allocations_total", MetricType::kCounter, Stability::kAlpha, {"profile", "driver", "status"}, {},
     "Number of allocations using devices with BindingConditions, counted per driver per scheduling attempt"},
    {"scheduler_dra_bindingconditions_wait_duration_seconds", MetricType::kHistogram, Stability::kAlpha, {"profile", "driver", "status"}, {0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2},
     "Time in seconds spent waiting for BindingConditions to be satisfied during PreBind."},
    {"scheduler_event_handling_duration_seconds", MetricType::kHistogram, Stability::kAlpha, {"event"}, {0.0001, 0.0002, 0.0004, 0.0008, 0.0016, 0.0032, 0.0064, 0.0128, 0.0256, 0.0512, 0.1024, 0.2048},
     "Event handling latency in seconds."},
    {"scheduler_framework_extension_point_duration_seconds", MetricType::kHistogram, Stability::kStable, {"extension_point", "status", "profile"}, {0.0001, 0.0002, 0.0004, 0.0008, 0.0016, 0.0032, 0.0064, 0.0128, 0.0256, 0.0512, 0.1024, 0.2048},
     "Latency for running all plugins of a specific extension point."},
    {"scheduler_goroutines", MetricType::kGauge, Stability::kBeta, {"operation"}, {},
     "Number of running goroutines split by the work they do such as binding."},
    {"scheduler_inflight_events", MetricType::kGauge, Stability::kAlpha, {"event"}, {},
     "Number of events currently tracked in the scheduling queue."},
    {"scheduler_pending_async_api_calls", MetricType::kGauge, Stability::kAlpha, {"call_type"}, {},
     "Number of API calls currently pending in the async queue."},
    {"scheduler_pending_pods", MetricType::kGauge, Stability::kStable, {"queue"}, {},
     "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule because they are gated."},
    {"scheduler_permit_wait_duration_seconds", MetricType::kHistogram, Stability::kBeta, {"result"}, {0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384},
     "Duration of waiting on permit."},
    {"scheduler_plugin_evaluation_total", MetricType::kCounter, Stability::kBeta, {"plugin", "extension_point", "profile"}, {},
     "Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter, Filter, PreScore, and Score)."},
    {"scheduler_plugin_execution_duration_seconds", MetricType::kHistogram, Stability::kAlpha, {"plugin", "extension_point", "status"}, {1e-05, 1.5000000000000002e-05, 2.2500000000000005e-05, 3.375000000000001e-05, 5.062500000000001e-05, 7.593750000000002e-05, 0.00011390625000000003, 0.00017085937500000006, 0.0002562890625000001, 0.00038443359375000017, 0.0005766503906250003, 0.0008649755859375004, 0.0012974633789062506, 0.0019461950683593758, 0.0029192926025390638, 0.004378938903808595, 0.006568408355712893, 0.009852612533569338, 0.014778918800354007, 0.02216837820053101},
     "Duration for running a plugin at a specific extension point."},
    {"scheduler_pod_scheduled_after_flush_total", MetricType::kCounter, Stability::kAlpha, {}, {},
     "Number of pods that were successfully scheduled after being flushed from unschedulablePods due to timeout. This metric helps detect potential queueing hint misconfigurations or event handling issues."},
    {"scheduler_pod_scheduling_attempts", MetricType::kHistogram, Stability::kStable, {}, {1.0, 2.0, 4.0, 8.0, 16.0},
     "Number of attempts to successfully schedule a pod."},
    {"scheduler_pod_scheduling_sli_duration_seconds", MetricType::kHistogram, Stability::kBeta, {"attempts"}, {0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36, 1310.72, 2621.44, 5242.88},
     "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts."},
    {"scheduler_preemption_attempts_total", MetricType::kCounter, Stability::kStable, {}, {},
     "Total preemption attempts in the cluster till now"},
    {"scheduler_preemption_goroutines_duration_seconds", MetricType::kHistogram, Stability::kAlpha, {"result"}, {0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36, 1310.72, 2621.44, 5242.88},
     "Duration in seconds for running goroutines for the preemption."},
    {"scheduler_preemption_goroutines_execution_total", MetricType::kCounter, Stability::kAlpha, {"result"}, {},
     "Number of preemption goroutines executed."},
    {"scheduler_preemption_victims", MetricType::kHistogram, Stability::kStable, {}, {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0},
     "Number of selected preemption victims"},
    {"scheduler_queue_incoming_pods_total", MetricType::kCounter, Stability::kStable, {"queue", "event"}, {},
     "Number of pods added to scheduling queues by event and queue type."},
    {"scheduler_queueing_hint_execution_duration_seconds", MetricType::kHistogram, Stability::kAlpha, {"plugin", "event", "hint"}, {1e-05, 1.5000000000000002e-05, 2.2500000000000005e-05, 3.375000000000001e-05, 5.062500000000001e-05, 7.593750000000002e-05, 0.00011390625000000003, 0.00017085937500000006, 0.0002562890625000001, 0.00038443359375000017, 0.0005766503906250003, 0.0008649755859375004, 0.0012974633789062506, 0.0019461950683593758, 0.0029192926025390638, 0.004378938903808595, 0.006568408355712893, 0.009852612533569338, 0.014778918800354007, 0.02216837820053101},
     "Duration for running a queueing hint function of a plugin."},
    {"scheduler_resourceclaim_creates_total", MetricType::kCounter, Stability::kAlpha, {"status"}, {},
     "Number of ResourceClaims creation requests within scheduler"},
    {"scheduler_schedule_attempts_total", MetricType::kCounter, Stability::kStable, {"result", "profile"}, {},
     "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an internal scheduler problem."},
    {"scheduler_scheduling_algorithm_duration_seconds", MetricType::kHistogram, Stability::kAlpha, {}, {0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384},
     "Scheduling algorithm latency in seconds"},
    {"scheduler_scheduling_attempt_duration_seconds", MetricType::kHistogram, Stability::kStable, {"result", "profile"}, {0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384},
     "Scheduling attempt latency in seconds (scheduling algorithm + binding)"},
    {"scheduler_unschedulable_pods", MetricType::kGauge, Stability::kBeta, {"plugin", "profile"}, {},
     "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin."},
    {"scheduler_volume_scheduling_stage_error_total", MetricType::kCounter, Stability::kAlpha, {"operation"}, {},
     "Volume scheduling stage error count"},
};
// clang-format on

TEST(UpstreamTable, EveryMetricIsDefinedAsUpstreamDefinesIt) {
  Registry registry;
  SchedulerMetrics scheduler(registry, {true, true, true, true, true});
  RestClientMetrics rest_client(registry);
  ExecPluginMetrics exec_plugins(registry, [] { return 0.0; });
  LeaderElectionMetrics leader_election(registry);
  HealthCheckMetrics health(registry);
  AddBuildInfo(registry, {});
  AddVersionInfo(registry, {});
  AddFeatureStates(registry, {});
  AddMetaMetrics(registry);

  std::map<std::string, const FamilyBase*> ours;
  for (const FamilyBase* family : registry.Families()) ours[family->description().name] = family;
  for (const Upstream& wanted : kUpstream) {
    ASSERT_TRUE(ours.contains(wanted.name)) << wanted.name;
    const FamilyBase& found = *ours[wanted.name];
    EXPECT_EQ(found.type(), wanted.type) << wanted.name;
    EXPECT_EQ(found.description().stability, wanted.stability) << wanted.name;
    EXPECT_EQ(found.description().labels, wanted.labels) << wanted.name;
    EXPECT_EQ(found.description().buckets, wanted.buckets) << wanted.name;
    EXPECT_EQ(found.description().help, wanted.help) << wanted.name;
    ours.erase(wanted.name);
  }
  for (const auto& [name, family] : ours) ADD_FAILURE() << name << " is not one of upstream's";
}

TEST(UpstreamTable, GatesDecideWhatIsExposed) {
  Registry registry;
  SchedulerMetrics metrics(registry, {.queueing_hints = true});
  metrics.inflight_events.With("NodeAdd").Set(1);
  metrics.pending_async_api_calls.With("pod_binding").Set(1);
  const std::string text = registry.Expose();
  EXPECT_NE(text.find("scheduler_inflight_events{event=\"NodeAdd\"} 1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("scheduler_pending_async_api_calls"), std::string::npos) << text;
}

}  // namespace
}  // namespace berth::metrics
