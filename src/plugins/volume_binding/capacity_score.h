// Scores a node by how full its storage would be, by a piecewise linear function through configured points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/plugin_args.h"

namespace berth::plugins {

// Storage of one class on a node.
struct StorageUse {
  int64_t requested = 0;
  int64_t capacity = 0;
};

class CapacityScore {
 public:
  // Points by rising utilization, scores 0..10. Without any, emptier is better.
  explicit CapacityScore(std::span<const config::UtilizationShapePoint> shape);

  // 0..100: the mean over the classes, with equal weights; 0 for none.
  int64_t Of(std::span<const StorageUse> classes) const;

 private:
  int64_t At(int64_t utilization) const;

  struct Point {
    int64_t utilization;
    int64_t score;
  };
  std::vector<Point> points_;
};

}  // namespace berth::plugins
