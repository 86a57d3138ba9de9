#include "metrics/metric.h"

#include <algorithm>

#include "base/check.h"

namespace berth::metrics {

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds), counts_(new std::atomic<uint64_t>[bounds.size() + 1] {}) {
  CHECK(std::is_sorted(bounds.begin(), bounds.end()));
}

void Histogram::ObserveMany(double value, uint64_t count) {
  // A bound belongs to its bucket. NaN compares with nothing and ends up in +Inf.
  const auto bucket =
      std::partition_point(bounds_.begin(), bounds_.end(), [&](double bound) { return !(value <= bound); });
  counts_[static_cast<size_t>(bucket - bounds_.begin())].fetch_add(count, std::memory_order_relaxed);
  sum_.fetch_add(value * static_cast<double>(count), std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::Read() const {
  Snapshot snapshot;
  snapshot.sum = sum_.load(std::memory_order_relaxed);
  uint64_t total = 0;
  for (size_t i = 0; i <= bounds_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    snapshot.cumulative.push_back(total);
  }
  return snapshot;
}

void Histogram::Reset() {
  for (size_t i = 0; i <= bounds_.size(); ++i) counts_[i].store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
}

}  // namespace berth::metrics
