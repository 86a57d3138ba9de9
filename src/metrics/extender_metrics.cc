#include "metrics/extender_metrics.h"

namespace berth::metrics {

ExtenderMetrics::ExtenderMetrics(Registry& registry)
    : duration(registry.Add<Histogram>(
          {.name = "scheduler_berth_extender_duration_seconds",
           .help = "Duration of calls to extenders, by the extender's URL, the configured verb and the result. 'error' "
                   "means no answer in time, or one that is not 200.",
           .stability = Stability::kAlpha,
           .labels = {"extender", "verb", "result"},
           .buckets = ExponentialBuckets(0.001, 2, 15)})) {}

}  // namespace berth::metrics
