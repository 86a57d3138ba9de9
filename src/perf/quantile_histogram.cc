#include "perf/quantile_histogram.h"

#include <algorithm>
#include <set>

#include "base/buckets.h"
#include "base/check.h"

namespace berth::perf {

void QuantileHistogram::Observe(double value) {
  ++counts_[static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin())];
  ++count_;
  sum_ += value;
}

void QuantileHistogram::Add(const QuantileHistogram& other) {
  CHECK(counts_.size() == other.counts_.size());
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
}

void QuantileHistogram::Reset() {
  std::fill(counts_.begin(), counts_.end(), 0);
  count_ = 0;
  sum_ = 0;
}

double QuantileHistogram::Quantile(double q) const {
  CHECK(count_ > 0 && !bounds_.empty());
  const double rank = q * static_cast<double>(count_);
  double below = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    const auto here = static_cast<double>(counts_[i]);
    if (below + here >= rank) {
      const double lower = i == 0 ? 0 : bounds_[i - 1];
      return here == 0 ? lower : lower + (bounds_[i] - lower) * ((rank - below) / here);
    }
    below += here;
  }
  return bounds_.back();
}

std::span<const double> Metrics::BoundsOf(std::string_view metric) {
  static const auto* const kBounds = new std::map<std::string_view, std::vector<double>>{
      {"scheduler_event_handling_duration_seconds", base::ExponentialBuckets(0.0001, 2, 12)},
      {"scheduler_framework_extension_point_duration_seconds", base::ExponentialBuckets(0.0001, 2, 12)},
      {"scheduler_plugin_execution_duration_seconds", base::ExponentialBuckets(0.00001, 1.5, 20)},
      {"scheduler_pod_scheduling_sli_duration_seconds", base::ExponentialBuckets(0.01, 2, 20)},
      {"scheduler_queueing_hint_execution_duration_seconds", base::ExponentialBuckets(0.00001, 1.5, 20)},
      {"scheduler_scheduling_attempt_duration_seconds", base::ExponentialBuckets(0.001, 2, 15)},
  };
  const auto it = kBounds->find(metric);
  return it == kBounds->end() ? std::span<const double>() : std::span<const double>(it->second);
}

QuantileHistogram& Metrics::At(std::string_view metric, const MetricLabels& labels) {
  auto it = series_.find(metric);
  if (it == series_.end()) it = series_.emplace(std::string(metric), std::vector<Series>()).first;
  for (const Series& series : it->second) {
    if (series.labels == labels) return *series.histogram;
  }
  const std::span<const double> bounds = BoundsOf(metric);
  CHECK_WHY(!bounds.empty(), "a metric that is not in the table");
  return *it->second.emplace_back(Series{labels, std::make_unique<QuantileHistogram>(bounds)}).histogram;
}

std::unique_ptr<QuantileHistogram> Metrics::Sum(std::string_view metric, const MetricLabels& labels) const {
  const auto it = series_.find(metric);
  if (it == series_.end()) return nullptr;
  auto sum = std::make_unique<QuantileHistogram>(BoundsOf(metric));
  for (const Series& series : it->second) {
    const bool matches = std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
      const auto found = series.labels.find(label.first);
      return found != series.labels.end() && found->second == label.second;
    });
    if (matches) sum->Add(*series.histogram);
  }
  return sum->count() > 0 ? std::move(sum) : nullptr;
}

std::vector<MetricLabels> Metrics::Occurred(std::string_view metric, const std::vector<std::string>& labels) const {
  std::set<MetricLabels> combinations;
  const auto it = series_.find(metric);
  if (it == series_.end()) return {};
  for (const Series& series : it->second) {
    MetricLabels combination;
    for (const std::string& label : labels) {
      if (const auto found = series.labels.find(label); found != series.labels.end()) combination.insert(*found);
    }
    combinations.insert(std::move(combination));
  }
  return {combinations.begin(), combinations.end()};
}

void Metrics::Reset() {
  for (auto& [metric, all] : series_) {
    for (Series& series : all) series.histogram->Reset();
  }
}

}  // namespace berth::perf
