// How evenly a node's resources are used, and how a pod changes that.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "framework/plugin.h"
#include "plugins/node_resources/scored_resources.h"

namespace berth::plugins {

// 100 when all resources are used to the same fraction, 50 at worst. Floating point in a fixed order: the result is
// truncated to an integer, so another order could differ by a point.
inline int64_t EvennessOf(std::span<const ResourceUse> uses, int64_t ResourceUse::*amount) {
  const auto fraction = [amount](const ResourceUse& use) {
    const double value = static_cast<double>(use.*amount) / static_cast<double>(use.capacity);
    return value > 1 ? 1.0 : value;
  };
  size_t count = 0;
  double total = 0;
  double last[2] = {0, 0};  // the two latest; all of them in the usual case of two resources
  for (const ResourceUse& use : uses) {
    if (use.capacity == 0) continue;
    const double value = fraction(use);
    total += value;
    last[0] = last[1];
    last[1] = value;
    ++count;
  }
  double deviation = 0;
  if (count == 2) {
    deviation = std::abs((last[0] - last[1]) / 2);
  } else if (count > 2) {
    const double mean = total / static_cast<double>(count);
    double sum = 0;
    for (const ResourceUse& use : uses) {
      if (use.capacity == 0) continue;
      const double distance = fraction(use) - mean;
      sum = sum + distance * distance;
    }
    deviation = std::sqrt(sum / static_cast<double>(count));
  }
  return static_cast<int64_t>((1 - deviation) * static_cast<double>(framework::kMaxNodeScore));
}

// 75 when the pod changes nothing, up to 100 when it makes use more even, down to 50 when less.
struct BalanceChange {
  int64_t operator()(std::span<const ResourceUse> uses) const {
    constexpr int64_t kHalf = framework::kMaxNodeScore / 2;
    const int64_t after = EvennessOf(uses, &ResourceUse::with_pod);
    const int64_t before = EvennessOf(uses, &ResourceUse::used);
    return kHalf + (kHalf + after - before) / 2;
  }
};

}  // namespace berth::plugins
