// Runner: chooses workloads of a suite and runs them, each on a cluster of its own.
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
  // Test cases, or TestCase/Workload; none: all.
  std::vector<std::string> workloads;
  // Labels that a workload or its test case must have (plain or +) or must not have (-), with commas between.
  std::string labels;
  std::string topic;  // chooses among thresholds by topic
  base::Duration timeout = std::chrono::minutes(10);
  uint64_t seed = 1;
  bool verify_incremental = false;
};

struct WorkloadResult {
  std::string name;  // TestCase/Workload
  std::vector<Collection> collections;
  WayCounts ways;
  std::vector<std::string> notes;  // what is not as upstream has it
  std::optional<Error> error;      // it did not run to its end
};

// What upstream's own label filter makes of it.
bool LabelsMatch(std::string_view filter, const std::vector<std::string>& labels);

struct Chosen {
  const TestCase* test_case;
  const Workload* workload;
};
// In the order of the file. Fails when a name of `workloads` is not in the suite, or nothing is left.
Result<std::vector<Chosen>> Choose(const Suite& suite, const RunOptions& options);

// With the plugins of `registry` for the configuration that the test case names.
WorkloadResult RunWorkload(const Suite& suite, const Chosen& chosen, const framework::Registry& registry,
                           const RunOptions& options);

// The topic a file is about, by the folder it is in: "event_handling/performance-config.yaml" is "eventhandling".
std::string TopicOf(const std::string& file);

}  // namespace berth::perf
