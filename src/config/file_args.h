// The arguments of in-tree plugins as a person writes them, nothing defaulted; beside file_format.h.
// Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/pod.h"
#include "config/file_format.h"
#include "config/plugin_args.h"

namespace berth::config {

// What every kind of arguments may carry: its type.
struct FileTypeMeta {
  std::string api_version, kind;
};

struct FileDefaultPreemptionArgs {
  FileTypeMeta type;
  std::optional<int32_t> min_candidate_nodes_percentage, min_candidate_nodes_absolute;
};

struct FileInterPodAffinityArgs {
  FileTypeMeta type;
  std::optional<int32_t> hard_pod_affinity_weight;
  bool ignore_preferred_terms_of_existing_pods = false;
};

struct FileNodeAffinityArgs {
  FileTypeMeta type;
  std::optional<api::NodeAffinity> added_affinity;
};

struct FileResourceSpec {
  std::string name;
  int64_t weight = 0;
};

struct FileRatioParam {
  std::vector<UtilizationShapePoint> shape;
};

struct FileScoringStrategy {
  std::string type;
  std::vector<FileResourceSpec> resources;
  std::optional<FileRatioParam> requested_to_capacity_ratio;
};

struct FileNodeResourcesFitArgs {
  FileTypeMeta type;
  std::vector<std::string> ignored_resources, ignored_resource_groups;
  std::optional<FileScoringStrategy> scoring_strategy;
};

struct FileBalancedAllocationArgs {
  FileTypeMeta type;
  std::vector<FileResourceSpec> resources;
};

struct FilePodTopologySpreadArgs {
  FileTypeMeta type;
  std::vector<api::TopologySpreadConstraint> default_constraints;
  std::string defaulting_type;
};

struct FileVolumeBindingArgs {
  FileTypeMeta type;
  std::optional<int64_t> bind_timeout_seconds;
  std::optional<std::vector<UtilizationShapePoint>> shape;  // an empty list is not the same as none
};

struct FileDynamicResourcesArgs {
  FileTypeMeta type;
  std::optional<FileDuration> filter_timeout, binding_timeout;
};

struct FileServiceAffinityArgs {
  FileTypeMeta type;
  std::vector<std::string> affinity_labels, anti_affinity_labels_preference;
};

struct FileNodeLabelArgs {
  FileTypeMeta type;
  std::vector<std::string> present_labels, absent_labels, present_labels_preference, absent_labels_preference;
};

struct FileRequestedToCapacityRatioArgs {
  FileTypeMeta type;
  std::vector<UtilizationShapePoint> shape;
  std::vector<FileResourceSpec> resources;
};

struct FileLeastAllocatedArgs {
  FileTypeMeta type;
  std::vector<FileResourceSpec> resources;
};

struct FileMostAllocatedArgs {
  FileTypeMeta type;
  std::vector<FileResourceSpec> resources;
};

const codec::Message& Describe(const FileTypeMeta*);
const codec::Message& Describe(const FileDefaultPreemptionArgs*);
const codec::Message& Describe(const FileInterPodAffinityArgs*);
const codec::Message& Describe(const FileNodeAffinityArgs*);
const codec::Message& Describe(const FileResourceSpec*);
const codec::Message& Describe(const UtilizationShapePoint*);
const codec::Message& Describe(const FileRatioParam*);
const codec::Message& Describe(const FileScoringStrategy*);
const codec::Message& Describe(const FileNodeResourcesFitArgs*);
const codec::Message& Describe(const FileBalancedAllocationArgs*);
const codec::Message& Describe(const FilePodTopologySpreadArgs*);
const codec::Message& Describe(const FileVolumeBindingArgs*);
const codec::Message& Describe(const FileDynamicResourcesArgs*);
const codec::Message& Describe(const FileServiceAffinityArgs*);
const codec::Message& Describe(const FileNodeLabelArgs*);
const codec::Message& Describe(const FileRequestedToCapacityRatioArgs*);
const codec::Message& Describe(const FileLeastAllocatedArgs*);
const codec::Message& Describe(const FileMostAllocatedArgs*);

}  // namespace berth::config
