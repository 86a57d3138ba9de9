// Counter, Gauge, Histogram: numbers that one thread writes often and another reads occasionally.
//
// Thread-safe without locks. Counting is one atomic addition; observing is a search over about twenty bounds at most
// and two atomic additions. Look a metric up once (Family::With) and keep the reference: it stays valid as long as the
// registry.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buckets.h"

namespace berth::metrics {

class Counter {
 public:
  void Add(uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }
  void Reset() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }
  void Reset() { Set(0); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  // Upper bounds, ascending, without +Inf, which every histogram has. `bounds` must outlive it.
  explicit Histogram(std::span<const double> bounds);

  void Observe(double value) { ObserveMany(value, 1); }
  // The same as `count` observations of this value, at the cost of one: for callers that sample or batch.
  void ObserveMany(double value, uint64_t count);

  struct Snapshot {
    std::vector<uint64_t> cumulative;  // one per bound, then +Inf, which is the number of observations
    double sum = 0;
    uint64_t count() const { return cumulative.back(); }
  };
  // Buckets and count are consistent; the sum may be ahead of them by concurrent observations.
  Snapshot Read() const;
  void Reset();
  std::span<const double> bounds() const { return bounds_; }

 private:
  const std::span<const double> bounds_;
  const std::unique_ptr<std::atomic<uint64_t>[]> counts_;  // one per bound, then +Inf; not cumulative
  std::atomic<double> sum_{0};
};

using base::ExponentialBuckets;

}  // namespace berth::metrics
