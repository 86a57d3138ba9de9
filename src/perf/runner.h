// Runner: selects workloads of a suite and runs them, each on its own cluster.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/registry.h"
#include "perf/collector.h"
#include "perf/config.h"
#include "perf/in_memory_cluster.h"

namespace berth::perf {

struct RunOptions {
  // Test cases, or TestCase/Workload; empty: all.
  std::vector<std::string> workloads;
  // Labels that a workload or its test case must have (plain or +) or must not have (-), separated by commas.
  std::string labels;
  std::string topic;  // selects among thresholds by topic
  base::Duration timeout = std::chrono::minutes(10);
  uint64_t seed = 1;
  bool verify_incremental = false;
};

struct WorkloadResult {
  std::string name;  // TestCase/Workload
  std::vector<Collection> collections;
  WayCounts ways;
  std::vector<std::string> notes;  // deviations from upstream
  std::optional<Error> error;      // set if it did not finish
};

// As upstream's own label filter.
bool LabelsMatch(std::string_view filter, const std::vector<std::string>& labels);

struct Chosen {
  const TestCase* test_case;
  const Workload* workload;
};
// In the order of the file. Fails if a name in `workloads` is not in the suite, or nothing is left.
Result<std::vector<Chosen>> Choose(const Suite& suite, const RunOptions& options);

// Uses the plugins of `registry` for the configuration that the test case names.
WorkloadResult RunWorkload(const Suite& suite, const Chosen& chosen, const framework::Registry& registry,
                           const RunOptions& options);

// The topic of a file, from its folder: "event_handling/performance-config.yaml" is "eventhandling".
std::string TopicOf(const std::string& file);

}  // namespace berth::perf
