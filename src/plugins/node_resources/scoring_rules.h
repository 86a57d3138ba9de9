// Scoring by allocation: the strategies of NodeResourcesFit, each of which used to be a plugin of its own. Each maps
// the use of the scored resources on a node to 0..100; resources that do not count there (capacity 0) are left out of
// the weighted mean. Integer division throughout.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "config/plugin_args.h"
#include "framework/plugin.h"
#include "plugins/node_resources/scored_resources.h"

namespace berth::plugins {

// Amounts beyond 90 PiB wrap around, as they do upstream.
constexpr int64_t PercentOf(int64_t amount, int64_t capacity) {
  return static_cast<int64_t>(static_cast<uint64_t>(amount) * 100) / capacity;
}

// The mean of `percent` over the resources that count, by their weights.
template <class Percent>
int64_t WeightedMean(std::span<const ResourceUse> uses, const Percent& percent) {
  int64_t score = 0;
  int64_t weights = 0;
  for (const ResourceUse& use : uses) {
    if (use.capacity == 0) continue;
    weights += use.weight;
    score += percent(use) * use.weight;
  }
  return weights == 0 ? 0 : score / weights;
}

// Spreads: the freer, the better.
struct LeastAllocated {
  int64_t operator()(std::span<const ResourceUse> uses) const {
    return WeightedMean(uses, [](const ResourceUse& use) -> int64_t {
      // Only the defaults for pods without requests can exceed the capacity.
      if (use.with_pod > use.capacity) return 0;
      return PercentOf(framework::WrappingSubtract(use.capacity, use.with_pod), use.capacity);
    });
  }
};

// Packs: the fuller, the better.
struct MostAllocated {
  int64_t operator()(std::span<const ResourceUse> uses) const {
    return WeightedMean(
        uses, [](const ResourceUse& use) { return PercentOf(std::min(use.with_pod, use.capacity), use.capacity); });
  }
};

// RequestedToCapacityRatio: a function of utilization given by points and straight lines between them.
class UtilizationCurve {
 public:
  // Points by rising utilization (0..100) with scores 0..10; at least one.
  explicit UtilizationCurve(std::span<const config::UtilizationShapePoint> shape) {
    constexpr int64_t kMaxShapeScore = 10;
    for (const config::UtilizationShapePoint& point : shape) {
      shape_.push_back({point.utilization, point.score * (framework::kMaxNodeScore / kMaxShapeScore)});
    }
  }

  int64_t operator()(std::span<const ResourceUse> uses) const {
    int64_t score = 0;
    int64_t weights = 0;
    for (const ResourceUse& use : uses) {
      if (use.capacity == 0) continue;
      const int64_t utilization = use.with_pod > use.capacity ? kFull : PercentOf(use.with_pod, use.capacity);
      const int64_t value = ValueAt(utilization);
      // A resource that scores nothing does not lower the mean.
      if (value <= 0) continue;
      score += value * use.weight;
      weights += use.weight;
    }
    if (weights == 0) return 0;
    return static_cast<int64_t>(std::round(static_cast<double>(score) / static_cast<double>(weights)));
  }

 private:
  static constexpr int64_t kFull = 100;
  struct Point {
    int64_t utilization;
    int64_t score;
  };

  int64_t ValueAt(int64_t utilization) const {
    if (utilization <= shape_.front().utilization) return shape_.front().score;
    for (size_t i = 1; i < shape_.size(); ++i) {
      const Point& left = shape_[i - 1];
      const Point& right = shape_[i];
      if (utilization > right.utilization) continue;
      return left.score +
             (right.score - left.score) * (utilization - left.utilization) / (right.utilization - left.utilization);
    }
    return shape_.back().score;
  }

  std::vector<Point> shape_;
};

}  // namespace berth::plugins
