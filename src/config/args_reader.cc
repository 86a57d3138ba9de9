#include "config/args_reader.h"

#include <algorithm>

#include "base/check.h"
#include "codec/json_writer.h"
#include "config/any_case.h"
#include "config/args_checks.h"
#include "config/file_args.h"

namespace berth::config {
namespace {

constexpr std::string_view kStrategyNames[] = {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"};

std::vector<FileResourceSpec> DefaultResources() { return {{"cpu", 1}, {"memory", 1}}; }

void DefaultWeights(std::vector<FileResourceSpec>& resources) {
  if (resources.empty()) resources = DefaultResources();
  for (FileResourceSpec& resource : resources) {
    if (resource.weight == 0) resource.weight = 1;
  }
}

template <class T, class V>
void SetIfAbsent(std::optional<T>& field, V value) {
  if (!field) field = value;
}

void Default(FileDefaultPreemptionArgs& args, const FeatureGates&) {
  SetIfAbsent(args.min_candidate_nodes_percentage, 10);
  SetIfAbsent(args.min_candidate_nodes_absolute, 100);
}

void Default(FileInterPodAffinityArgs& args, const FeatureGates&) { SetIfAbsent(args.hard_pod_affinity_weight, 1); }

void Default(FileNodeAffinityArgs&, const FeatureGates&) {}

void Default(FileNodeResourcesFitArgs& args, const FeatureGates&) {
  // Only a strategy that is entirely absent gets a type: half a strategy is a mistake to report.
  if (!args.scoring_strategy) args.scoring_strategy.emplace().type = "LeastAllocated";
  DefaultWeights(args.scoring_strategy->resources);
}

void Default(FileBalancedAllocationArgs& args, const FeatureGates&) { DefaultWeights(args.resources); }

void Default(FilePodTopologySpreadArgs& args, const FeatureGates&) {
  if (args.defaulting_type.empty()) args.defaulting_type = "System";
}

void Default(FileVolumeBindingArgs& args, const FeatureGates& gates) {
  SetIfAbsent(args.bind_timeout_seconds, 600);
  const bool no_shape = !args.shape || args.shape->empty();
  if (no_shape && gates.Enabled("StorageCapacityScoring")) args.shape = {{0, 10}, {100, 0}};
}

void Default(FileDynamicResourcesArgs& args, const FeatureGates& gates) {
  if (gates.Enabled("DRASchedulerFilterTimeout")) {
    SetIfAbsent(args.filter_timeout, FileDuration{std::chrono::seconds(10)});
  }
  if (gates.Enabled("DRADeviceBindingConditions") && gates.Enabled("DRAResourceClaimDeviceStatus")) {
    SetIfAbsent(args.binding_timeout, FileDuration{std::chrono::seconds(600)});
  }
}

void Default(FileServiceAffinityArgs&, const FeatureGates&) {}

void Default(FileNodeLabelArgs&, const FeatureGates&) {}

void Default(FileRequestedToCapacityRatioArgs& args, const FeatureGates&) { DefaultWeights(args.resources); }

void Default(FileLeastAllocatedArgs& args, const FeatureGates&) {
  if (args.resources.empty()) args.resources = DefaultResources();
}

void Default(FileMostAllocatedArgs& args, const FeatureGates&) {
  if (args.resources.empty()) args.resources = DefaultResources();
}

std::vector<ResourceSpec> FromFile(const std::vector<FileResourceSpec>& resources) {
  std::vector<ResourceSpec> out;
  for (const FileResourceSpec& resource : resources) out.push_back({Symbol(resource.name), resource.weight});
  return out;
}

std::vector<FileResourceSpec> ToFile(const std::vector<ResourceSpec>& resources) {
  std::vector<FileResourceSpec> out;
  for (const ResourceSpec& resource : resources) out.push_back({std::string(resource.name.str()), resource.weight});
  return out;
}

// FromFile takes defaulted arguments; where validation found problems, the result is never used.
DefaultPreemptionArgs FromFile(const FileDefaultPreemptionArgs& args) {
  return {*args.min_candidate_nodes_percentage, *args.min_candidate_nodes_absolute};
}

FileDefaultPreemptionArgs ToFile(const DefaultPreemptionArgs& args) {
  return {{}, args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute};
}

InterPodAffinityArgs FromFile(const FileInterPodAffinityArgs& args) {
  return {*args.hard_pod_affinity_weight, args.ignore_preferred_terms_of_existing_pods};
}

FileInterPodAffinityArgs ToFile(const InterPodAffinityArgs& args) {
  return {{}, args.hard_pod_affinity_weight, args.ignore_preferred_terms_of_existing_pods};
}

NodeAffinityArgs FromFile(const FileNodeAffinityArgs& args) { return {args.added_affinity}; }

FileNodeAffinityArgs ToFile(const NodeAffinityArgs& args) { return {{}, args.added_affinity}; }

NodeResourcesFitArgs FromFile(const FileNodeResourcesFitArgs& args) {
  const FileScoringStrategy& strategy = *args.scoring_strategy;
  NodeResourcesFitArgs out{args.ignored_resources, args.ignored_resource_groups, {}};
  const auto name = std::ranges::find(kStrategyNames, strategy.type);
  if (name != std::end(kStrategyNames)) {
    out.scoring_strategy.type = static_cast<ScoringStrategyType>(name - std::begin(kStrategyNames));
  }
  out.scoring_strategy.resources = FromFile(strategy.resources);
  if (strategy.requested_to_capacity_ratio) out.scoring_strategy.shape = strategy.requested_to_capacity_ratio->shape;
  return out;
}

FileNodeResourcesFitArgs ToFile(const NodeResourcesFitArgs& args) {
  const ScoringStrategy& strategy = args.scoring_strategy;
  FileScoringStrategy out;
  out.type = kStrategyNames[static_cast<size_t>(strategy.type)];
  out.resources = ToFile(strategy.resources);
  if (strategy.type == ScoringStrategyType::kRequestedToCapacityRatio) {
    out.requested_to_capacity_ratio = {strategy.shape};
  }
  return {{}, args.ignored_resources, args.ignored_resource_groups, std::move(out)};
}

NodeResourcesBalancedAllocationArgs FromFile(const FileBalancedAllocationArgs& args) {
  return {FromFile(args.resources)};
}

FileBalancedAllocationArgs ToFile(const NodeResourcesBalancedAllocationArgs& args) {
  return {{}, ToFile(args.resources)};
}

PodTopologySpreadArgs FromFile(const FilePodTopologySpreadArgs& args) {
  return {args.default_constraints,
          args.defaulting_type == "List" ? SpreadDefaulting::kList : SpreadDefaulting::kSystem};
}

FilePodTopologySpreadArgs ToFile(const PodTopologySpreadArgs& args) {
  return {{}, args.default_constraints, args.defaulting_type == SpreadDefaulting::kList ? "List" : "System"};
}

VolumeBindingArgs FromFile(const FileVolumeBindingArgs& args) {
  return {*args.bind_timeout_seconds, args.shape.value_or(std::vector<UtilizationShapePoint>())};
}

FileVolumeBindingArgs ToFile(const VolumeBindingArgs& args) {
  FileVolumeBindingArgs out{{}, args.bind_timeout_seconds, {}};
  if (!args.shape.empty()) out.shape = args.shape;
  return out;
}

DynamicResourcesArgs FromFile(const FileDynamicResourcesArgs& args) {
  return {args.filter_timeout.value_or(FileDuration{}).value, args.binding_timeout.value_or(FileDuration{}).value,
          args.filter_timeout.has_value(), args.binding_timeout.has_value()};
}

FileDynamicResourcesArgs ToFile(const DynamicResourcesArgs& args) {
  FileDynamicResourcesArgs out;
  if (args.has_filter_timeout) out.filter_timeout = {args.filter_timeout};
  if (args.has_binding_timeout) out.binding_timeout = {args.binding_timeout};
  return out;
}

ServiceAffinityArgs FromFile(const FileServiceAffinityArgs& args) {
  return {args.affinity_labels, args.anti_affinity_labels_preference};
}

FileServiceAffinityArgs ToFile(const ServiceAffinityArgs& args) {
  return {{}, args.affinity_labels, args.anti_affinity_labels_preference};
}

NodeLabelArgs FromFile(const FileNodeLabelArgs& args) {
  return {args.present_labels, args.absent_labels, args.present_labels_preference, args.absent_labels_preference};
}

FileNodeLabelArgs ToFile(const NodeLabelArgs& args) {
  return {{}, args.present_labels, args.absent_labels, args.present_labels_preference, args.absent_labels_preference};
}

RequestedToCapacityRatioArgs FromFile(const FileRequestedToCapacityRatioArgs& args) {
  return {args.shape, FromFile(args.resources)};
}

FileRequestedToCapacityRatioArgs ToFile(const RequestedToCapacityRatioArgs& args) {
  return {{}, args.shape, ToFile(args.resources)};
}

NodeResourcesLeastAllocatedArgs FromFile(const FileLeastAllocatedArgs& args) { return {FromFile(args.resources)}; }

FileLeastAllocatedArgs ToFile(const NodeResourcesLeastAllocatedArgs& args) { return {{}, ToFile(args.resources)}; }

NodeResourcesMostAllocatedArgs FromFile(const FileMostAllocatedArgs& args) { return {FromFile(args.resources)}; }

FileMostAllocatedArgs ToFile(const NodeResourcesMostAllocatedArgs& args) { return {{}, ToFile(args.resources)}; }

// `skipped` receives unknown fields that are no error; if null, they are errors.
template <class File>
ReadArgs Read(const codec::Value& value, std::string_view path, const FeatureGates& gates,
              std::vector<codec::Diagnostic>& diagnostics, std::vector<codec::Diagnostic>* skipped) {
  File file;
  if (skipped == nullptr) {
    codec::Decode(value, file, {.strict = true}, diagnostics);
  } else {
    DecodeAnyCase(value, file, diagnostics, *skipped);
  }
  Default(file, gates);
  return {FromFile(file), CheckArgs(file, path, gates)};
}

struct ArgsType {
  std::string_view plugin;
  bool legacy;
  ReadArgs (*read)(const codec::Value&, std::string_view, const FeatureGates&, std::vector<codec::Diagnostic>&,
                   std::vector<codec::Diagnostic>*);
};

constexpr ArgsType kArgsTypes[] = {
    {"DefaultPreemption", false, &Read<FileDefaultPreemptionArgs>},
    {"DynamicResources", false, &Read<FileDynamicResourcesArgs>},
    {"InterPodAffinity", false, &Read<FileInterPodAffinityArgs>},
    {"NodeAffinity", false, &Read<FileNodeAffinityArgs>},
    {"NodeResourcesBalancedAllocation", false, &Read<FileBalancedAllocationArgs>},
    {"NodeResourcesFit", false, &Read<FileNodeResourcesFitArgs>},
    {"NodeLabel", true, &Read<FileNodeLabelArgs>},
    {"NodeResourcesLeastAllocated", true, &Read<FileLeastAllocatedArgs>},
    {"NodeResourcesMostAllocated", true, &Read<FileMostAllocatedArgs>},
    {"PodTopologySpread", false, &Read<FilePodTopologySpreadArgs>},
    {"RequestedToCapacityRatio", true, &Read<FileRequestedToCapacityRatioArgs>},
    {"ServiceAffinity", true, &Read<FileServiceAffinityArgs>},
    {"VolumeBinding", false, &Read<FileVolumeBindingArgs>},
};

const ArgsType* FindType(std::string_view plugin) {
  const auto it = std::ranges::find(kArgsTypes, plugin, &ArgsType::plugin);
  return it == std::end(kArgsTypes) ? nullptr : it;
}

}  // namespace

bool HasArgsType(std::string_view plugin) { return FindType(plugin) != nullptr; }

bool HasLegacyArgs(std::string_view plugin) {
  const ArgsType* type = FindType(plugin);
  return type != nullptr && type->legacy;
}

ReadArgs ReadPluginArgs(std::string_view plugin, const codec::Value& value, std::string_view path,
                        const FeatureGates& gates, std::vector<codec::Diagnostic>& diagnostics) {
  const ArgsType* type = FindType(plugin);
  CHECK_WHY(type != nullptr, "plugin has no arguments type");
  return type->read(value, path, gates, diagnostics, nullptr);
}

ReadArgs ReadAlphaArgs(std::string_view plugin, const codec::Value& value, std::string_view path,
                       const FeatureGates& gates, std::vector<codec::Diagnostic>& diagnostics,
                       std::vector<codec::Diagnostic>& skipped) {
  const ArgsType* type = FindType(plugin);
  CHECK_WHY(type != nullptr, "plugin has no arguments type");
  return type->read(value, path, gates, diagnostics, &skipped);
}

std::string ArgsToJson(const PluginArgs& args) {
  return std::visit(
      [](const auto& typed) -> std::string {
        if constexpr (std::same_as<std::decay_t<decltype(typed)>, std::monostate>) {
          return "null";
        } else if constexpr (std::same_as<std::decay_t<decltype(typed)>, RawArgs>) {
          return typed.json;
        } else {
          auto file = ToFile(typed);
          file.type.api_version = kApiVersion;
          file.type.kind = codec::DescriptionOf<decltype(file)>().name();
          return codec::EncodeJson(file);
        }
      },
      args);
}

}  // namespace berth::config
