// scheduler_perf's performance-config.yaml: test cases, each a list of operations and the workloads that parametrize
// them. Read as upstream reads it: strictly, and with every problem reported by file, line and field.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/storage.h"
#include "base/clock.h"
#include "base/flat_map.h"
#include "base/result.h"
#include "codec/file_values.h"
#include "codec/value.h"

namespace berth::perf {

enum class Opcode {
  kCreateAny,
  kCreateNamespaces,
  kCreateNodes,
  kCreatePodSets,
  kCreatePods,
  kDeletePods,
  kUpdateAny,
  kChurn,
  kBarrier,
  kSleep,
  kStartCollectingMetrics,
  kStopCollectingMetrics,
  kCreateResourceClaims,
  kCreateResourceDriver,
  kAllocResourceClaims,
};

struct FileDuration {
  base::Duration value{};
  friend bool operator==(const FileDuration&, const FileDuration&) = default;
};

// A number, or numbers by topic.
struct Threshold {
  double value = 0;
  base::FlatMap<std::string, double> by_topic;

  double For(const std::string& topic) const {
    const double* found = by_topic.Find(topic);
    return found ? *found : value;
  }
  friend bool operator==(const Threshold&, const Threshold&) = default;
};

struct NodeAllocatableStrategy {
  base::FlatMap<std::string, std::string> node_allocatable;
  base::FlatMap<std::string, api::VolumeNodeResources> csi_node_allocatable;
  std::vector<std::string> migrated_plugins;
};

// The values are assigned in turn.
struct LabelNodePrepareStrategy {
  std::string label_key;
  std::vector<std::string> label_values;
};

struct UniqueNodeLabelStrategy {
  std::string label_key;
};

// One step of a test case. config_schema.cc has the fields of each opcode; the others stay empty.
struct Operation {
  Opcode code = Opcode::kSleep;
  std::string opcode;  // as written in the file
  codec::Mark where;

  std::optional<int64_t> count;
  std::string count_param;
  std::optional<std::string> name_space;
  std::vector<std::string> namespaces;
  std::string namespace_prefix;
  std::string prefix;
  std::optional<std::string> namespace_template_path;
  base::FlatMap<std::string, std::string> label_selector;

  std::optional<std::string> node_template_path;
  std::optional<NodeAllocatableStrategy> node_allocatable_strategy;
  std::optional<LabelNodePrepareStrategy> label_node_prepare_strategy;
  std::optional<UniqueNodeLabelStrategy> unique_node_label_strategy;

  std::optional<std::string> pod_template_path;
  std::optional<std::string> persistent_volume_template_path;
  std::optional<std::string> persistent_volume_claim_template_path;
  bool collect_metrics = false;
  bool skip_wait_to_completion = false;
  bool steady_state = false;
  std::string steady_state_param;
  FileDuration duration;
  std::string duration_param;
  codec::FileRaw create_pods_op;          // of createPodSets
  std::shared_ptr<const Operation> each;  // the same, decoded

  std::string template_path;
  std::vector<std::string> template_paths;
  std::vector<std::string> subresources;
  int64_t update_per_second = 0;
  int64_t delete_pods_per_second = 0;
  std::string mode;  // of churn: create or recreate
  int64_t number = 0;
  int64_t interval_milliseconds = 0;
  std::string stage_requirement;  // of barrier: Scheduled or Attempted
  std::string name;               // of startCollectingMetrics

  std::string driver_name;  // of createResourceDriver, like the rest
  std::optional<int64_t> max_claims_per_node;
  std::string max_claims_per_node_param;
  std::string nodes;  // a pattern for their names
};

struct LabelValues {
  std::string label;
  std::vector<std::string> values;
};

struct MetricsCollectorConfig {
  base::FlatMap<std::string, std::vector<LabelValues>> metrics;
};

// The metric that a threshold applies to.
struct ThresholdMetricSelector {
  std::string name;
  base::FlatMap<std::string, std::string> labels;
  std::string data_bucket;
  bool expect_lower = false;
};

struct Workload {
  std::string name;
  base::FlatMap<std::string, codec::FileRaw> params;
  std::vector<std::string> labels;
  Threshold threshold;
  std::optional<ThresholdMetricSelector> threshold_metric_selector;
  base::FlatMap<std::string, bool> feature_gates;
  codec::Mark where;
};

struct TestCase {
  std::string name;
  base::FlatMap<std::string, bool> feature_gates;
  std::optional<MetricsCollectorConfig> metrics_collector_config;
  std::vector<codec::FileRaw> workload_template;
  std::vector<Operation> operations;  // the same, decoded
  std::vector<codec::FileRaw> workload_values;
  std::vector<Workload> workloads;  // the same, decoded
  std::string scheduler_config_path;
  std::optional<std::string> default_pod_template_path;
  std::vector<std::string> labels;
  std::optional<ThresholdMetricSelector> default_threshold_metric_selector;
};

struct Suite {
  std::string file;
  codec::Document document;  // the raw values point into it
  std::vector<TestCase> cases;

  // Paths in the file are relative to its folder.
  std::string PathOf(const std::string& path) const;
};

Result<Suite> ReadSuite(const std::string& file);
Result<Suite> ParseSuite(std::string_view text, std::string file);

// The workload's own selector, that of its test case, or the average SchedulingThroughput.
ThresholdMetricSelector SelectorOf(const TestCase& test_case, const Workload& workload);

// The operations of a workload: parameters substituted, pod sets unrolled. A parameter that is missing, of the wrong
// type or never used is an error.
Result<std::vector<Operation>> ResolveOperations(const Suite& suite, const TestCase& test_case,
                                                 const Workload& workload);

}  // namespace berth::perf
