#include <benchmark/benchmark.h>

#include "metrics/scheduler_metrics.h"

namespace berth::metrics {
namespace {

void BM_Count(benchmark::State& state) {
  Registry registry;
  SchedulerMetrics metrics(registry, {});
  Counter& counter = metrics.schedule_attempts.With(kScheduled, "default-scheduler");
  for (auto _ : state) counter.Add();
}
BENCHMARK(BM_Count);

void BM_Observe(benchmark::State& state) {
  Registry registry;
  SchedulerMetrics metrics(registry, {});
  Histogram& histogram = metrics.scheduling_attempt_duration.With(kScheduled, "default-scheduler");
  double seconds = 0;
  for (auto _ : state) {
    histogram.Observe(seconds);
    seconds = seconds > 0.02 ? 0 : seconds + 1e-5;
  }
}
BENCHMARK(BM_Observe);

}  // namespace
}  // namespace berth::metrics
