// Collector: measures between startCollectingMetrics and stopCollectingMetrics (or around one createPods), and returns
// data items.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf/config.h"
#include "perf/data_items.h"
#include "perf/in_memory_cluster.h"
#include "perf/throughput.h"

namespace berth::perf {

// Selects pods: of some namespaces (all, if there are none), with some labels.
class PodFilter {
 public:
  PodFilter(std::vector<std::string> namespaces, base::FlatMap<std::string, std::string> labels);
  bool Matches(const api::Pod& pod) const;

 private:
  std::vector<Symbol> namespaces_;
  std::vector<std::pair<Symbol, Symbol>> labels_;
};

// The result of one collection.
struct Collection {
  std::string name;  // TestCase/Workload/namespace
  ThroughputSummary throughput;
  base::Duration duration{};
  std::vector<DataItem> items;
  std::vector<std::string> missed;  // thresholds
};

class Collector final : public PodObserver {
 public:
  // Starts collecting. The cluster must outlive it.
  Collector(InMemoryCluster& cluster, std::string name, PodFilter filter);
  ~Collector() override;

  void OnPod(const api::Pod* before, PodStage stage_before, const api::Pod* after, PodStage stage_after) override;
  // Samples the memory in use when it is due.
  void Tick();
  // Stops collecting. Without a configuration, upstream's default metrics with every label value that occurred.
  Collection Finish(const MetricsCollectorConfig* config);

 private:
  void SampleMemory();
  DataItem Item(std::string_view metric, std::string unit) const;
  void AddThroughput(Collection& collection) const;
  void AddHistograms(const MetricsCollectorConfig* config, Collection& collection) const;
  void AddMemory(Collection& collection) const;

  InMemoryCluster& cluster_;
  const std::string name_;
  const PodFilter filter_;
  const base::Time start_;
  std::optional<base::Time> first_pod_;                    // created since the start
  std::vector<base::Time> moments_;                        // when pods were scheduled
  std::vector<std::pair<base::Duration, double>> memory_;  // megabytes
};

}  // namespace berth::perf
