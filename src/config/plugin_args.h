// Arguments of the in-tree plugins, after defaulting (kubescheduler.config.k8s.io/v1 *Args).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/node_selector.h"
#include "api/pod.h"
#include "base/clock.h"
#include "base/symbol.h"

namespace berth::config {

struct DefaultPreemptionArgs {
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;
};

struct InterPodAffinityArgs {
  int32_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;
};

struct NodeAffinityArgs {
  std::optional<api::NodeAffinity> added_affinity;
};

struct ResourceSpec {
  Symbol name;
  int64_t weight = 1;
};

struct UtilizationShapePoint {
  int32_t utilization = 0;
  int32_t score = 0;
};

enum class ScoringStrategyType { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

struct ScoringStrategy {
  ScoringStrategyType type = ScoringStrategyType::kLeastAllocated;
  std::vector<ResourceSpec> resources{{Symbol("cpu"), 1}, {Symbol("memory"), 1}};
  std::vector<UtilizationShapePoint> shape;  // RequestedToCapacityRatio only; scores 0..10
};

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  ScoringStrategy scoring_strategy;
};

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources{{Symbol("cpu"), 1}, {Symbol("memory"), 1}};
};

enum class SpreadDefaulting { kSystem, kList };

struct PodTopologySpreadArgs {
  std::vector<api::TopologySpreadConstraint> default_constraints;
  SpreadDefaulting defaulting_type = SpreadDefaulting::kSystem;
};

struct VolumeBindingArgs {
  int64_t bind_timeout_seconds = 600;
  std::vector<UtilizationShapePoint> shape;  // used with StorageCapacityScoring
};

struct DynamicResourcesArgs {
  base::Duration filter_timeout{};
  base::Duration binding_timeout{};
  // Absent (and the durations 0) when the feature gate is off.
  bool has_filter_timeout = false;
  bool has_binding_timeout = false;
};

// Arguments of plugins that only Kubernetes up to v1.22 had; no v1 kind describes them.

struct ServiceAffinityArgs {
  std::vector<std::string> affinity_labels;  // pods of one service share the values of these node labels
  std::vector<std::string> anti_affinity_labels_preference;  // and are preferably spread over the values of these
};

struct NodeLabelArgs {
  // Filter: a node must have all of the first and none of the second, whatever their values.
  std::vector<std::string> present_labels;
  std::vector<std::string> absent_labels;
  // Score: each label that is present, or absent, adds its share.
  std::vector<std::string> present_labels_preference;
  std::vector<std::string> absent_labels_preference;
};

struct RequestedToCapacityRatioArgs {
  std::vector<UtilizationShapePoint> shape;  // scores 0..10
  std::vector<ResourceSpec> resources{{Symbol("cpu"), 1}, {Symbol("memory"), 1}};
};

struct NodeResourcesLeastAllocatedArgs {
  std::vector<ResourceSpec> resources{{Symbol("cpu"), 1}, {Symbol("memory"), 1}};
};

struct NodeResourcesMostAllocatedArgs {
  std::vector<ResourceSpec> resources{{Symbol("cpu"), 1}, {Symbol("memory"), 1}};
};

// Arguments of a plugin that is not built in, as written in the file; "" when there are none.
struct RawArgs {
  std::string json;
};

using PluginArgs =
    std::variant<std::monostate, RawArgs, DefaultPreemptionArgs, InterPodAffinityArgs, NodeAffinityArgs,
                 NodeResourcesFitArgs, NodeResourcesBalancedAllocationArgs, PodTopologySpreadArgs, VolumeBindingArgs,
                 DynamicResourcesArgs, ServiceAffinityArgs, NodeLabelArgs, RequestedToCapacityRatioArgs,
                 NodeResourcesLeastAllocatedArgs, NodeResourcesMostAllocatedArgs>;

}  // namespace berth::config
