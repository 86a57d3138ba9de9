#include "plugins/volume_binding/capacity_score.h"

#include <cmath>

#include "framework/plugin.h"

namespace berth::plugins {
namespace {

constexpr int64_t kMaxUtilization = 100;
constexpr int64_t kMaxShapeScore = 10;

}  // namespace

CapacityScore::CapacityScore(std::span<const config::UtilizationShapePoint> shape) {
  static constexpr config::UtilizationShapePoint kDefault[] = {{0, kMaxShapeScore}, {kMaxUtilization, 0}};
  if (shape.empty()) shape = kDefault;
  for (const config::UtilizationShapePoint& point : shape) {
    points_.push_back({point.utilization, point.score * (framework::kMaxNodeScore / kMaxShapeScore)});
  }
}

int64_t CapacityScore::At(int64_t utilization) const {
  if (utilization <= points_.front().utilization) return points_.front().score;
  for (size_t i = 1; i < points_.size(); ++i) {
    const Point& from = points_[i - 1];
    const Point& to = points_[i];
    if (utilization > to.utilization) continue;
    const int64_t rise = to.score - from.score;
    return from.score + rise * (utilization - from.utilization) / (to.utilization - from.utilization);
  }
  return points_.back().score;
}

int64_t CapacityScore::Of(std::span<const StorageUse> classes) const {
  if (classes.empty()) return 0;
  int64_t sum = 0;
  for (const StorageUse& use : classes) {
    const bool full = use.capacity == 0 || use.requested > use.capacity;
    // 128 bits: a hundred times some petabytes exceeds 64 bits.
    __extension__ using Wide = __int128;
    sum += At(full ? kMaxUtilization : static_cast<int64_t>(Wide{use.requested} * kMaxUtilization / use.capacity));
  }
  return static_cast<int64_t>(std::round(static_cast<double>(sum) / static_cast<double>(classes.size())));
}

}  // namespace berth::plugins
