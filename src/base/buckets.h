// Bounds of histograms.
#pragma once

#include <cstddef>
#include <vector>

#include "base/check.h"

namespace berth::base {

// `count` bounds from `start` on, each `factor` times the one before. Computed by repeated multiplication, as in
// Prometheus' Go library, so that the bounds print alike: 0.0008 and 0.0016, but also 2.2499999999999998e-05.
inline std::vector<double> ExponentialBuckets(double start, double factor, size_t count) {
  CHECK(start > 0 && factor > 1 && count > 0);
  std::vector<double> bounds(count);
  for (double& bound : bounds) {
    bound = start;
    start *= factor;
  }
  return bounds;
}

}  // namespace berth::base
