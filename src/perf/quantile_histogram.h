// Histograms as in component-base: the bucket boundaries of the scheduler_* metrics, and quantiles by linear
// interpolation inside a bucket.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::perf {

class QuantileHistogram {
 public:
  // Upper bounds of the buckets, ascending; an unbounded one follows. They must outlive the histogram.
  explicit QuantileHistogram(std::span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  void Observe(double value);
  void Add(const QuantileHistogram& other);  // of the same bounds
  void Reset();

  uint64_t count() const { return count_; }
  double Average() const { return sum_ / static_cast<double>(count_); }
  // 0 <= q <= 1, with at least one observation. Values beyond the last bound count as that bound.
  double Quantile(double q) const;

 private:
  std::span<const double> bounds_;
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  double sum_ = 0;
};

using MetricLabels = std::map<std::string, std::string, std::less<>>;

// The histograms of one scheduler by metric and labels. References stay valid: look up once, observe often.
class Metrics {
 public:
  // The metrics that are kept; empty bounds for any other name.
  static std::span<const double> BoundsOf(std::string_view metric);

  QuantileHistogram& At(std::string_view metric, const MetricLabels& labels);
  // The sum of all whose labels include `labels`; null if none of them has an observation.
  std::unique_ptr<QuantileHistogram> Sum(std::string_view metric, const MetricLabels& labels) const;
  // The combinations of values of these labels that occurred.
  std::vector<MetricLabels> Occurred(std::string_view metric, const std::vector<std::string>& labels) const;
  void Reset();

 private:
  struct Series {
    MetricLabels labels;
    std::unique_ptr<QuantileHistogram> histogram;
  };
  std::map<std::string, std::vector<Series>, std::less<>> series_;
};

}  // namespace berth::perf
