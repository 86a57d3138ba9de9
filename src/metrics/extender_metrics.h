// How long extenders take to answer; kube-scheduler has no counterpart.
#pragma once

#include "metrics/registry.h"

namespace berth::metrics {

struct ExtenderMetrics {
  explicit ExtenderMetrics(Registry& registry);

  Family<Histogram>& duration;  // extender, verb, result: "success" or "error"
};

}  // namespace berth::metrics
