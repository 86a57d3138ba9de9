// kube-scheduler v1.36's metrics: names, help texts, labels, buckets and stability levels are upstream's.
//
//   SchedulerMetrics metrics(registry, {.queueing_hints = true});
//   Counter& scheduled = metrics.schedule_attempts.With(kScheduled, profile);  // once, see the note in metric.h
//
// Every one of them is written (src/live/metrics_written_test.cc); docs/metrics.md lists where, and why upstream's
// others are omitted: batching, which lanes replace, pod groups, and metrics that upstream itself never writes.
#pragma once

#include <string_view>

#include "metrics/registry.h"

namespace berth::metrics {

// Values of the label `result` of scheduling attempts.
inline constexpr std::string_view kScheduled = "scheduled";
inline constexpr std::string_view kUnschedulable = "unschedulable";
inline constexpr std::string_view kSchedulingError = "error";

// Which of the families that upstream ties to a feature gate are exposed. The others are still recorded, so that
// callers need not check.
struct MetricGates {
  bool queueing_hints = false;          // SchedulerQueueingHints
  bool async_preemption = false;        // SchedulerAsyncPreemption
  bool async_api_calls = false;         // SchedulerAsyncAPICalls
  bool dra_extended_resource = false;   // DRAExtendedResource
  bool dra_binding_conditions = false;  // DRADeviceBindingConditions
};

class SchedulerMetrics {
 public:
  // `registry` must outlive it.
  SchedulerMetrics(Registry& registry, const MetricGates& gates);

 private:
  Registry hidden_;  // the families whose gate is disabled

 public:
  // After each family its labels, in the order of With(). A metric without labels is declared directly.
  Family<Counter>& schedule_attempts;              // result, profile
  Family<Histogram>& scheduling_attempt_duration;  // result, profile
  Histogram& scheduling_algorithm_duration;
  Family<Histogram>& event_handling_duration;  // event
  Histogram& preemption_victims;
  Counter& preemption_attempts;
  Family<Gauge>& pending_pods;                     // queue
  Family<Histogram>& pod_scheduling_sli_duration;  // attempts
  Histogram& pod_scheduling_attempts;
  Counter& pod_scheduled_after_flush;
  Family<Histogram>& framework_extension_point_duration;  // extension_point, status, profile
  Family<Histogram>& plugin_execution_duration;           // plugin, extension_point, status
  Family<Counter>& queue_incoming_pods;                   // queue, event
  Family<Gauge>& goroutines;                              // operation
  Family<Histogram>& permit_wait_duration;                // result
  Family<Gauge>& cache_size;                              // type
  Family<Gauge>& unschedulable_pods;                      // plugin, profile
  Family<Counter>& plugin_evaluation;                     // plugin, extension_point, profile
  Family<Histogram>& queueing_hint_execution_duration;    // plugin, event, hint
  Family<Gauge>& inflight_events;                         // event
  Family<Histogram>& preemption_goroutines_duration;      // result
  Family<Counter>& preemption_goroutines_execution;       // result
  Family<Counter>& async_api_call_execution;              // call_type, result
  Family<Histogram>& async_api_call_execution_duration;   // call_type, result
  Family<Gauge>& pending_async_api_calls;                 // call_type
  Family<Counter>& resourceclaim_creates;                 // status
  Family<Counter>& binding_conditions_allocations;        // profile, driver, status
  Family<Histogram>& binding_conditions_wait_duration;    // profile, driver, status
  Family<Counter>& volume_scheduling_stage_error;         // operation
};

// The metrics of one attempt, looked up once for each profile and result.
struct AttemptMetrics {
  Counter& attempts;
  Histogram& duration;

  AttemptMetrics(SchedulerMetrics& metrics, std::string_view result, std::string_view profile)
      : attempts(metrics.schedule_attempts.With(result, profile)),
        duration(metrics.scheduling_attempt_duration.With(result, profile)) {}
  void Record(double seconds) const {
    attempts.Add();
    duration.Observe(seconds);
  }
};

}  // namespace berth::metrics
