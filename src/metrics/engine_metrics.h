// berth's own metrics about how decisions are made; kube-scheduler has no counterpart.
#pragma once

#include "metrics/registry.h"

namespace berth::metrics {

struct EngineMetrics {
  explicit EngineMetrics(Registry& registry);

  Family<Counter>& decisions;               // profile, way: "lane", "scratch" or "sample"
  Family<Histogram>& lane_plugin_duration;  // plugin, extension_point, work: "build" or "catch_up"
};

}  // namespace berth::metrics
