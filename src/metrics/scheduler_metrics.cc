#include "metrics/scheduler_metrics.h"

#include <string>

namespace berth::metrics {

SchedulerMetrics::SchedulerMetrics(Registry& registry, const MetricGates& gates)
    : schedule_attempts(registry.Add<Counter>(
          {.name = "scheduler_schedule_attempts_total",
           .help = "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
                   "scheduled, while 'error' means an internal scheduler problem.",
           .stability = Stability::kStable,
           .labels = {"result", "profile"}})),
      scheduling_attempt_duration(
          registry.Add<Histogram>({.name = "scheduler_scheduling_attempt_duration_seconds",
                                   .help = "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
                                   .stability = Stability::kStable,
                                   .labels = {"result", "profile"},
                                   .buckets = ExponentialBuckets(0.001, 2, 15)})),
      scheduling_algorithm_duration(
          registry.AddSingle<Histogram>({.name = "scheduler_scheduling_algorithm_duration_seconds",
                                         .help = "Scheduling algorithm latency in seconds",
                                         .stability = Stability::kAlpha,
                                         .buckets = ExponentialBuckets(0.001, 2, 15)})),
      event_handling_duration(registry.Add<Histogram>({.name = "scheduler_event_handling_duration_seconds",
                                                       .help = "Event handling latency in seconds.",
                                                       .stability = Stability::kAlpha,
                                                       .labels = {"event"},
                                                       .buckets = ExponentialBuckets(0.0001, 2, 12)})),
      preemption_victims(registry.AddSingle<Histogram>({.name = "scheduler_preemption_victims",
                                                        .help = "Number of selected preemption victims",
                                                        .stability = Stability::kStable,
                                                        .buckets = ExponentialBuckets(1, 2, 7)})),
      preemption_attempts(registry.AddSingle<Counter>({.name = "scheduler_preemption_attempts_total",
                                                       .help = "Total preemption attempts in the cluster till now",
                                                       .stability = Stability::kStable})),
      pending_pods(registry.Add<Gauge>(
          {.name = "scheduler_pending_pods",
           .help = "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' "
                   "means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that "
                   "the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that "
                   "the scheduler never attempted to schedule because they are gated.",
           .stability = Stability::kStable,
           .labels = {"queue"}})),
      pod_scheduling_sli_duration(
          registry.Add<Histogram>({.name = "scheduler_pod_scheduling_sli_duration_seconds",
                                   .help = "E2e latency for a pod being scheduled, from the time the pod enters the "
                                           "scheduling queue and might involve multiple scheduling attempts.",
                                   .stability = Stability::kBeta,
                                   .labels = {"attempts"},
                                   .buckets = ExponentialBuckets(0.01, 2, 20)})),
      pod_scheduling_attempts(
          registry.AddSingle<Histogram>({.name = "scheduler_pod_scheduling_attempts",
                                         .help = "Number of attempts to successfully schedule a pod.",
                                         .stability = Stability::kStable,
                                         .buckets = ExponentialBuckets(1, 2, 5)})),
      pod_scheduled_after_flush(registry.AddSingle<Counter>(
          {.name = "scheduler_pod_scheduled_after_flush_total",
           .help =
               "Number of pods that were successfully scheduled after being flushed from unschedulablePods due to "
               "timeout. This metric helps detect potential queueing hint misconfigurations or event handling issues.",
           .stability = Stability::kAlpha})),
      framework_extension_point_duration(
          registry.Add<Histogram>({.name = "scheduler_framework_extension_point_duration_seconds",
                                   .help = "Latency for running all plugins of a specific extension point.",
                                   .stability = Stability::kStable,
                                   .labels = {"extension_point", "status", "profile"},
                                   .buckets = ExponentialBuckets(0.0001, 2, 12)})),
      plugin_execution_duration(
          registry.Add<Histogram>({.name = "scheduler_plugin_execution_duration_seconds",
                                   .help = "Duration for running a plugin at a specific extension point.",
                                   .stability = Stability::kAlpha,
                                   .labels = {"plugin", "extension_point", "status"},
                                   .buckets = ExponentialBuckets(0.00001, 1.5, 20)})),
      queue_incoming_pods(
          registry.Add<Counter>({.name = "scheduler_queue_incoming_pods_total",
                                 .help = "Number of pods added to scheduling queues by event and queue type.",
                                 .stability = Stability::kStable,
                                 .labels = {"queue", "event"}})),
      goroutines(registry.Add<Gauge>({.name = "scheduler_goroutines",
                                      .help = "Number of running goroutines split by the work they do such as binding.",
                                      .stability = Stability::kBeta,
                                      .labels = {"operation"}})),
      permit_wait_duration(registry.Add<Histogram>({.name = "scheduler_permit_wait_duration_seconds",
                                                    .help = "Duration of waiting on permit.",
                                                    .stability = Stability::kBeta,
                                                    .labels = {"result"},
                                                    .buckets = ExponentialBuckets(0.001, 2, 15)})),
      cache_size(registry.Add<Gauge>({.name = "scheduler_cache_size",
                                      .help = "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
                                      .stability = Stability::kAlpha,
                                      .labels = {"type"}})),
      unschedulable_pods(
          registry.Add<Gauge>({.name = "scheduler_unschedulable_pods",
                               .help = "The number of unschedulable pods broken down by plugin name. A pod will "
                                       "increment the gauge for all plugins that caused it to not schedule and so this "
                                       "metric have meaning only when broken down by plugin.",
                               .stability = Stability::kBeta,
                               .labels = {"plugin", "profile"}})),
      plugin_evaluation(
          registry.Add<Counter>({.name = "scheduler_plugin_evaluation_total",
                                 .help = "Number of attempts to schedule pods by each plugin and the extension point "
                                         "(available only in PreFilter, Filter, PreScore, and Score).",
                                 .stability = Stability::kBeta,
                                 .labels = {"plugin", "extension_point", "profile"}})),
      queueing_hint_execution_duration(
          (gates.queueing_hints ? registry : hidden_)
              .Add<Histogram>({.name = "scheduler_queueing_hint_execution_duration_seconds",
                               .help = "Duration for running a queueing hint function of a plugin.",
                               .stability = Stability::kAlpha,
                               .labels = {"plugin", "event", "hint"},
                               .buckets = ExponentialBuckets(0.00001, 1.5, 20)})),
      inflight_events((gates.queueing_hints ? registry : hidden_)
                          .Add<Gauge>({.name = "scheduler_inflight_events",
                                       .help = "Number of events currently tracked in the scheduling queue.",
                                       .stability = Stability::kAlpha,
                                       .labels = {"event"}})),
      preemption_goroutines_duration(
          (gates.async_preemption ? registry : hidden_)
              .Add<Histogram>({.name = "scheduler_preemption_goroutines_duration_seconds",
                               .help = "Duration in seconds for running goroutines for the preemption.",
                               .stability = Stability::kAlpha,
                               .labels = {"result"},
                               .buckets = ExponentialBuckets(0.01, 2, 20)})),
      preemption_goroutines_execution((gates.async_preemption ? registry : hidden_)
                                          .Add<Counter>({.name = "scheduler_preemption_goroutines_execution_total",
                                                         .help = "Number of preemption goroutines executed.",
                                                         .stability = Stability::kAlpha,
                                                         .labels = {"result"}})),
      async_api_call_execution((gates.async_api_calls ? registry : hidden_)
                                   .Add<Counter>({.name = "scheduler_async_api_call_execution_total",
                                                  .help = "Total number of API calls executed by the async dispatcher.",
                                                  .stability = Stability::kAlpha,
                                                  .labels = {"call_type", "result"}})),
      async_api_call_execution_duration(
          (gates.async_api_calls ? registry : hidden_)
              .Add<Histogram>({.name = "scheduler_async_api_call_execution_duration_seconds",
                               .help = "Duration in seconds for executing API call in the async dispatcher.",
                               .stability = Stability::kAlpha,
                               .labels = {"call_type", "result"},
                               .buckets = ExponentialBuckets(0.001, 2, 15)})),
      pending_async_api_calls((gates.async_api_calls ? registry : hidden_)
                                  .Add<Gauge>({.name = "scheduler_pending_async_api_calls",
                                               .help = "Number of API calls currently pending in the async queue.",
                                               .stability = Stability::kAlpha,
                                               .labels = {"call_type"}})),
      resourceclaim_creates((gates.dra_extended_resource ? registry : hidden_)
                                .Add<Counter>({.name = "scheduler_resourceclaim_creates_total",
                                               .help = "Number of ResourceClaims creation requests within scheduler",
                                               .stability = Stability::kAlpha,
                                               .labels = {"status"}})),
      binding_conditions_allocations(
          (gates.dra_binding_conditions ? registry : hidden_)
              .Add<Counter>({.name = "scheduler_dra_bindingconditions_allocations_total",
                             .help = "Number of allocations using devices with BindingConditions, counted per driver "
                                     "per scheduling attempt",
                             .stability = Stability::kAlpha,
                             .labels = {"profile", "driver", "status"}})),
      binding_conditions_wait_duration(
          (gates.dra_binding_conditions ? registry : hidden_)
              .Add<Histogram>(
                  {.name = "scheduler_dra_bindingconditions_wait_duration_seconds",
                   .help = "Time in seconds spent waiting for BindingConditions to be satisfied during PreBind.",
                   .stability = Stability::kAlpha,
                   .labels = {"profile", "driver", "status"},
                   .buckets = ExponentialBuckets(0.1, 2, 14)})),
      volume_scheduling_stage_error(registry.Add<Counter>({.name = "scheduler_volume_scheduling_stage_error_total",
                                                           .help = "Volume scheduling stage error count",
                                                           .stability = Stability::kAlpha,
                                                           .labels = {"operation"}})) {}

}  // namespace berth::metrics
