#include "perf/collector.h"

#include <algorithm>
#include <set>

#include "perf/process_memory.h"

namespace berth::perf {

namespace {

constexpr base::Duration kMemoryInterval = std::chrono::milliseconds(500);

// Upstream's default metrics and the labels that distinguish their series. pod_scheduling_sli_duration replaces
// pod_scheduling_duration, which upstream still lists although no scheduler has it any more.
struct DefaultMetric {
  const char* name;
  std::vector<std::string> labels;
};
const std::vector<DefaultMetric>& DefaultMetrics() {
  static const auto* const kMetrics = new std::vector<DefaultMetric>{
      {"scheduler_framework_extension_point_duration_seconds", {"extension_point"}},
      {"scheduler_scheduling_attempt_duration_seconds", {"result"}},
      {"scheduler_pod_scheduling_sli_duration_seconds", {}},
      {"scheduler_plugin_execution_duration_seconds", {"plugin", "extension_point"}},
      {"scheduler_queueing_hint_execution_duration_seconds", {"plugin", "event"}},
      {"scheduler_event_handling_duration_seconds", {"event"}},
  };
  return *kMetrics;
}

// Every combination of the label values.
std::vector<MetricLabels> Combinations(const std::vector<LabelValues>& labels) {
  std::vector<MetricLabels> combinations = {{}};
  for (const LabelValues& label : labels) {
    std::vector<MetricLabels> longer;
    for (const MetricLabels& combination : combinations) {
      for (const std::string& value : label.values) {
        longer.push_back(combination);
        longer.back()[label.label] = value;
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

}  // namespace

PodFilter::PodFilter(std::vector<std::string> namespaces, base::FlatMap<std::string, std::string> labels) {
  for (const std::string& name : namespaces) namespaces_.emplace_back(name);
  for (const auto& [key, value] : labels) labels_.emplace_back(Symbol(key), Symbol(value));
}

bool PodFilter::Matches(const api::Pod& pod) const {
  if (!namespaces_.empty() &&
      std::find(namespaces_.begin(), namespaces_.end(), pod.metadata.namespace_) == namespaces_.end()) {
    return false;
  }
  return std::all_of(labels_.begin(), labels_.end(), [&](const auto& label) {
    const Symbol* value = pod.metadata.labels.Find(label.first);
    return value && *value == label.second;
  });
}

Collector::Collector(InMemoryCluster& cluster, std::string name, PodFilter filter)
    : cluster_(cluster), name_(std::move(name)), filter_(std::move(filter)), start_(cluster.clock().Now()) {
  cluster_.metrics().Start();
  cluster_.AddObserver(*this);
  SampleMemory();
}

Collector::~Collector() {
  cluster_.metrics().Stop();
  cluster_.RemoveObserver(*this);
}

void Collector::OnPod(const api::Pod*, PodStage stage_before, const api::Pod* after, PodStage stage_after) {
  const bool created = stage_before == PodStage::kAbsent && !first_pod_;
  const bool scheduled = stage_after == PodStage::kScheduled && stage_before != PodStage::kScheduled;
  if ((!created && !scheduled) || !filter_.Matches(*after)) return;
  const base::Time now = cluster_.clock().Now();
  // If it existed before, the time has run since the start.
  if (!first_pod_) first_pod_ = created ? now : start_;
  if (scheduled) moments_.push_back(now);
}

void Collector::Tick() {
  if (cluster_.clock().Now() - start_ - memory_.back().first >= kMemoryInterval) SampleMemory();
}

void Collector::SampleMemory() { memory_.emplace_back(cluster_.clock().Now() - start_, ResidentBytes() / kMegabyte); }

Collection Collector::Finish(const MetricsCollectorConfig* config) {
  cluster_.metrics().Stop();
  SampleMemory();
  Collection collection;
  collection.name = name_;
  collection.duration = cluster_.clock().Now() - start_;
  AddThroughput(collection);
  AddHistograms(config, collection);
  AddMemory(collection);
  DataItem duration = Item("SchedulingDuration", "s");
  duration.data["Duration"] = std::chrono::duration<double>(collection.duration).count();
  collection.items.push_back(std::move(duration));
  return collection;
}

DataItem Collector::Item(std::string_view metric, std::string unit) const {
  return {{}, std::move(unit), {{"Name", name_}, {"Metric", std::string(metric)}}};
}

void Collector::AddThroughput(Collection& collection) const {
  std::vector<base::Duration> moments;
  for (const base::Time moment : moments_) moments.push_back(moment - *first_pod_);
  const ThroughputSummary summary = SummarizeThroughput(moments);
  collection.throughput = summary;
  DataItem item = Item("SchedulingThroughput", "pods/s");
  item.data = {{"Average", summary.average},
               {"Perc50", summary.perc50},
               {"Perc90", summary.perc90},
               {"Perc95", summary.perc95},
               {"Perc99", summary.perc99}};
  collection.items.push_back(std::move(item));
}

void Collector::AddHistograms(const MetricsCollectorConfig* config, Collection& collection) const {
  const Metrics& metrics = cluster_.metrics().metrics();
  const auto add = [&](const std::string& metric, const std::vector<MetricLabels>& combinations) {
    for (const MetricLabels& labels : combinations) {
      const std::unique_ptr<QuantileHistogram> sum = metrics.Sum(metric, labels);
      if (!sum) continue;
      DataItem item = Item(metric, "ms");
      item.labels.insert(labels.begin(), labels.end());
      item.data = {{"Average", sum->Average() * 1000},
                   {"Perc50", sum->Quantile(0.50) * 1000},
                   {"Perc90", sum->Quantile(0.90) * 1000},
                   {"Perc95", sum->Quantile(0.95) * 1000},
                   {"Perc99", sum->Quantile(0.99) * 1000}};
      collection.items.push_back(std::move(item));
    }
  };
  if (config) {
    for (const auto& [metric, labels] : config->metrics) add(metric, Combinations(labels));
    return;
  }
  for (const DefaultMetric& metric : DefaultMetrics()) add(metric.name, metrics.Occurred(metric.name, metric.labels));
}

void Collector::AddMemory(Collection& collection) const {
  std::vector<double> values;
  double sum = 0;
  for (const auto& [when, megabytes] : memory_) {
    values.push_back(megabytes);
    sum += megabytes;
  }
  std::sort(values.begin(), values.end());
  const auto percentile = [&](size_t percent) { return values[(values.size() * percent + 99) / 100 - 1]; };
  DataItem usage = Item("heap_memory_usage", "MB");
  usage.data = {{"Average", sum / static_cast<double>(values.size())},
                {"Perc50", percentile(50)},
                {"Perc90", percentile(90)},
                {"Perc95", percentile(95)},
                {"Perc99", percentile(99)},
                {"Max", values.back()}};
  collection.items.push_back(std::move(usage));

  const double minutes =
      std::chrono::duration<double, std::ratio<60>>(memory_.back().first - memory_.front().first).count();
  DataItem growth = Item("memory_growth_rate", "MB/min");
  growth.data["GrowthRate"] = minutes > 0 ? (memory_.back().second - memory_.front().second) / minutes : 0;
  collection.items.push_back(std::move(growth));
}

}  // namespace berth::perf
