#include "metrics/engine_metrics.h"

namespace berth::metrics {

EngineMetrics::EngineMetrics(Registry& registry)
    : decisions(registry.Add<Counter>(
          {.name = "scheduler_berth_decisions_total",
           .help = "Number of decisions about pods, by how they were found. 'lane' means from what is kept for pods "
                   "that are alike; 'scratch' means every plugin was asked about every node; 'sample' means the same "
                   "for as many nodes as percentageOfNodesToScore calls for.",
           .stability = Stability::kAlpha,
           .labels = {"profile", "way"}})),
      lane_plugin_duration(registry.Add<Histogram>(
          {.name = "scheduler_berth_lane_plugin_duration_seconds",
           .help =
               "Duration of a plugin's part in one pass of a lane, over all nodes it has to be asked about. 'build' "
               "is a pass over every node; 'catch_up' one over what has changed, timed one time in 64.",
           .stability = Stability::kAlpha,
           .labels = {"plugin", "extension_point", "work"},
           .buckets = ExponentialBuckets(0.0000001, 4, 12)})) {}

}  // namespace berth::metrics
