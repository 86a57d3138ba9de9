#include "config/args_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/field_error.h"
#include "api/label_syntax.h"
#include "api/node_selector.h"

namespace berth::config {
namespace {

using api::DuplicateField;
using api::FieldChild;
using api::FieldIndex;
using api::ForbiddenField;
using api::InvalidDuration;
using api::InvalidJson;
using api::InvalidNumber;
using api::RequiredField;

constexpr int32_t kMaxShapeScore = 10;

void CheckLabelName(const std::string& path, std::string_view name, Problems& problems) {
  for (const std::string& problem : api::LabelKeyProblems(name)) {
    problems.push_back(api::InvalidField(path, name, problem));
  }
}

void CheckShape(const std::vector<UtilizationShapePoint>& shape, const std::string& path, Problems& problems) {
  if (shape.empty()) {
    problems.push_back(RequiredField(path, "at least one point must be specified"));
    return;
  }
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    problems.push_back(InvalidNumber(FieldChild(FieldIndex(path, i), "utilization"), shape[i].utilization,
                                     "values must be sorted in increasing order"));
    break;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::string point = FieldIndex(path, i);
    if (shape[i].utilization < 0 || shape[i].utilization > 100) {
      problems.push_back(
          InvalidNumber(FieldChild(point, "utilization"), shape[i].utilization, "not in valid range [0, 100]"));
    }
    if (shape[i].score < 0 || shape[i].score > kMaxShapeScore) {
      problems.push_back(InvalidNumber(FieldChild(point, "score"), shape[i].score,
                                       fmt::format("not in valid range [0, {}]", kMaxShapeScore)));
    }
  }
}

std::string ShapeJson(const std::vector<UtilizationShapePoint>& shape) {
  std::string json;
  for (const UtilizationShapePoint& point : shape) {
    json +=
        fmt::format(R"({}{{"Utilization":{},"Score":{}}})", json.empty() ? "" : ",", point.utilization, point.score);
  }
  return "[" + json + "]";
}

void CheckWeights(const std::vector<FileResourceSpec>& resources, const std::string& path, Problems& problems) {
  for (size_t i = 0; i < resources.size(); ++i) {
    const FileResourceSpec& resource = resources[i];
    if (resource.weight > 0 && resource.weight <= 100) continue;
    problems.push_back(InvalidNumber(FieldChild(FieldIndex(path, i), "weight"), resource.weight,
                                     fmt::format("resource weight of {} not in valid range (0, 100]", resource.name)));
  }
}

// A label cannot be both required and forbidden.
void CheckDisjoint(const std::vector<std::string>& present, const std::vector<std::string>& absent,
                   const std::string& present_path, const std::string& absent_path, Problems& problems) {
  for (size_t i = 0; i < absent.size(); ++i) {
    const auto last = std::find(present.rbegin(), present.rend(), absent[i]);
    if (last == present.rend()) continue;
    const auto index = static_cast<size_t>(present.rend() - last) - 1;
    problems.push_back(
        api::InvalidField(FieldIndex(present_path, index), absent[i], "conflict with " + FieldIndex(absent_path, i)));
  }
}

void CheckStrategy(const FileScoringStrategy& strategy, const std::string& path, Problems& problems) {
  constexpr std::string_view kRatio = "RequestedToCapacityRatio";
  constexpr std::string_view kTypes[] = {"LeastAllocated", "MostAllocated", kRatio};
  if (std::ranges::find(kTypes, strategy.type) == std::end(kTypes)) {
    problems.push_back(api::UnsupportedField(FieldChild(path, "type"), strategy.type, kTypes));
  }
  CheckWeights(strategy.resources, FieldChild(path, "resources"), problems);
  const std::string ratio_path = FieldChild(path, "requestedToCapacityRatio");
  const auto& ratio = strategy.requested_to_capacity_ratio;
  if (strategy.type != kRatio) {
    if (ratio) problems.push_back(ForbiddenField(ratio_path, "must be nil when type is not RequestedToCapacityRatio"));
  } else if (!ratio) {
    problems.push_back(RequiredField(ratio_path, "must be specified when type is RequestedToCapacityRatio"));
  } else {
    CheckShape(ratio->shape, FieldChild(ratio_path, "shape"), problems);
  }
}

void CheckDefaultingType(const FilePodTopologySpreadArgs& args, const std::string& path, Problems& problems) {
  constexpr std::string_view kTypes[] = {"System", "List"};
  if (std::ranges::find(kTypes, args.defaulting_type) == std::end(kTypes)) {
    problems.push_back(api::UnsupportedField(path, args.defaulting_type, kTypes));
  } else if (args.defaulting_type == "System" && !args.default_constraints.empty()) {
    problems.push_back(api::InvalidField(path, args.defaulting_type, "when .defaultConstraints are not empty"));
  }
}

void CheckConstraint(const api::TopologySpreadConstraint& constraint, const std::string& path, Problems& problems) {
  constexpr std::string_view kActions[] = {"DoNotSchedule", "ScheduleAnyway"};
  if (constraint.max_skew <= 0) {
    problems.push_back(InvalidNumber(FieldChild(path, "maxSkew"), constraint.max_skew, "not in valid range (0, inf)"));
  }
  const std::string key_path = FieldChild(path, "topologyKey");
  if (constraint.topology_key.empty()) {
    problems.push_back(RequiredField(key_path, "can not be empty"));
  } else {
    CheckLabelName(key_path, constraint.topology_key.str(), problems);
  }
  const std::string action_path = FieldChild(path, "whenUnsatisfiable");
  if (constraint.when_unsatisfiable.empty()) {
    problems.push_back(RequiredField(action_path, "can not be empty"));
  } else if (std::ranges::find(kActions, constraint.when_unsatisfiable) == std::end(kActions)) {
    problems.push_back(api::UnsupportedField(action_path, constraint.when_unsatisfiable, kActions));
  }
  if (constraint.label_selector) {
    problems.push_back(ForbiddenField(FieldChild(path, "labelSelector"),
                                      "constraint must not define a selector, as they deduced for each pod"));
  }
}

}  // namespace

Problems CheckArgs(const FileDefaultPreemptionArgs& args, std::string_view path, const FeatureGates&) {
  Problems problems;
  const int32_t percentage = *args.min_candidate_nodes_percentage;
  const int32_t absolute = *args.min_candidate_nodes_absolute;
  const std::string percentage_path = FieldChild(path, "minCandidateNodesPercentage");
  const std::string absolute_path = FieldChild(path, "minCandidateNodesAbsolute");
  if (percentage < 0 || percentage > 100) {
    problems.push_back(InvalidNumber(percentage_path, percentage, "not in valid range [0, 100]"));
  }
  if (absolute < 0) problems.push_back(InvalidNumber(absolute_path, absolute, "not in valid range [0, inf)"));
  if (percentage == 0 && absolute == 0) {
    problems.push_back(
        InvalidNumber(percentage_path, percentage, "cannot be zero at the same time as minCandidateNodesAbsolute"));
    problems.push_back(
        InvalidNumber(absolute_path, absolute, "cannot be zero at the same time as minCandidateNodesPercentage"));
  }
  return problems;
}

Problems CheckArgs(const FileInterPodAffinityArgs& args, std::string_view path, const FeatureGates&) {
  const int32_t weight = *args.hard_pod_affinity_weight;
  if (weight >= 0 && weight <= 100) return {};
  return {InvalidNumber(FieldChild(path, "hardPodAffinityWeight"), weight, "not in valid range [0, 100]")};
}

Problems CheckArgs(const FileNodeAffinityArgs& args, std::string_view path, const FeatureGates&) {
  if (!args.added_affinity) return {};
  Problems problems;
  const std::string affinity = FieldChild(path, "addedAffinity");
  if (const auto& required = args.added_affinity->required_during_scheduling_ignored_during_execution) {
    const std::string at = FieldChild(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    for (size_t i = 0; i < required->node_selector_terms.size(); ++i) {
      const api::NodeSelectorTerm& term = required->node_selector_terms[i];
      if (term.empty()) continue;
      const std::string term_path = FieldIndex(FieldChild(at, "nodeSelectorTerms"), i);
      const auto compiled = api::CompiledNodeSelectorTerm::Compile(term, term_path);
      std::ranges::copy(compiled.problems(), std::back_inserter(problems));
    }
  }
  const auto& preferred = args.added_affinity->preferred_during_scheduling_ignored_during_execution;
  const std::string at = FieldChild(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  for (size_t i = 0; i < preferred.size(); ++i) {
    if (preferred[i].weight == 0 || preferred[i].preference.empty()) continue;
    const auto compiled = api::CompiledNodeSelectorTerm::Compile(preferred[i].preference, FieldIndex(at, i));
    std::ranges::copy(compiled.problems(), std::back_inserter(problems));
  }
  return problems;
}

Problems CheckArgs(const FileNodeResourcesFitArgs& args, std::string_view path, const FeatureGates&) {
  Problems problems;
  for (size_t i = 0; i < args.ignored_resources.size(); ++i) {
    CheckLabelName(FieldIndex(FieldChild(path, "ignoredResources"), i), args.ignored_resources[i], problems);
  }
  for (size_t i = 0; i < args.ignored_resource_groups.size(); ++i) {
    const std::string at = FieldIndex(FieldChild(path, "ignoredResourceGroups"), i);
    const std::string& group = args.ignored_resource_groups[i];
    if (group.find('/') != std::string::npos) {
      problems.push_back(api::InvalidField(at, group, "resource group name can't contain '/'"));
    }
    CheckLabelName(at, group, problems);
  }
  CheckStrategy(*args.scoring_strategy, FieldChild(path, "scoringStrategy"), problems);
  return problems;
}

Problems CheckArgs(const FileBalancedAllocationArgs& args, std::string_view path, const FeatureGates&) {
  Problems problems;
  for (size_t i = 0; i < args.resources.size(); ++i) {
    const FileResourceSpec& resource = args.resources[i];
    const std::string at = FieldIndex(FieldChild(path, "resources"), i);
    const auto seen = args.resources.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(args.resources.begin(), seen, [&](const auto& other) { return other.name == resource.name; })) {
      problems.push_back(DuplicateField(FieldChild(at, "name"), resource.name));
    }
    if (resource.weight != 1) problems.push_back(InvalidNumber(FieldChild(at, "weight"), resource.weight, "must be 1"));
  }
  return problems;
}

Problems CheckArgs(const FilePodTopologySpreadArgs& args, std::string_view path, const FeatureGates&) {
  Problems problems;
  CheckDefaultingType(args, FieldChild(path, "defaultingType"), problems);
  const auto& constraints = args.default_constraints;
  for (size_t i = 0; i < constraints.size(); ++i) {
    const std::string at = FieldIndex(FieldChild(path, "defaultConstraints"), i);
    CheckConstraint(constraints[i], at, problems);
    const auto same = [&](const api::TopologySpreadConstraint& other) {
      return other.topology_key == constraints[i].topology_key &&
             other.when_unsatisfiable == constraints[i].when_unsatisfiable;
    };
    if (std::any_of(constraints.begin(), constraints.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      problems.push_back(DuplicateField(
          at, fmt::format("{{{}, {}}}", constraints[i].topology_key.str(), constraints[i].when_unsatisfiable)));
    }
  }
  return problems;
}

Problems CheckArgs(const FileVolumeBindingArgs& args, std::string_view path, const FeatureGates& gates) {
  Problems problems;
  if (*args.bind_timeout_seconds < 0) {
    problems.push_back(InvalidNumber(FieldChild(path, "bindTimeoutSeconds"), *args.bind_timeout_seconds,
                                     "invalid BindTimeoutSeconds, should not be a negative value"));
  }
  const std::string shape_path = FieldChild(path, "shape");
  if (gates.Enabled("StorageCapacityScoring")) {
    CheckShape(*args.shape, shape_path, problems);
  } else if (args.shape) {
    problems.push_back(
        InvalidJson(shape_path, ShapeJson(*args.shape),
                    "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"));
  }
  return problems;
}

Problems CheckArgs(const FileDynamicResourcesArgs& args, std::string_view path, const FeatureGates& gates) {
  Problems problems;
  const std::string filter_path = FieldChild(path, "filterTimeout");
  if (args.filter_timeout && !gates.Enabled("DRASchedulerFilterTimeout")) {
    problems.push_back(ForbiddenField(filter_path, "DRASchedulingFilterTimeout feature gate is disabled"));
  } else if (args.filter_timeout && args.filter_timeout->value < base::Duration::zero()) {
    problems.push_back(InvalidDuration(filter_path, args.filter_timeout->value, "must be zero or positive"));
  }
  const std::string binding_path = FieldChild(path, "bindingTimeout");
  const bool binding = gates.Enabled("DRADeviceBindingConditions") && gates.Enabled("DRAResourceClaimDeviceStatus");
  if (args.binding_timeout && !binding) {
    problems.push_back(ForbiddenField(
        binding_path, "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"));
  } else if (args.binding_timeout && args.binding_timeout->value < std::chrono::seconds(1)) {
    problems.push_back(InvalidDuration(binding_path, args.binding_timeout->value, "must be at least 1 second"));
  }
  return problems;
}

Problems CheckArgs(const FileServiceAffinityArgs&, std::string_view, const FeatureGates&) { return {}; }

Problems CheckArgs(const FileNodeLabelArgs& args, std::string_view path, const FeatureGates&) {
  Problems problems;
  CheckDisjoint(args.present_labels, args.absent_labels, FieldChild(path, "presentLabels"),
                FieldChild(path, "absentLabels"), problems);
  CheckDisjoint(args.present_labels_preference, args.absent_labels_preference,
                FieldChild(path, "presentLabelsPreference"), FieldChild(path, "absentLabelsPreference"), problems);
  return problems;
}

Problems CheckArgs(const FileRequestedToCapacityRatioArgs& args, std::string_view path, const FeatureGates&) {
  Problems problems;
  CheckShape(args.shape, FieldChild(path, "shape"), problems);
  // Unlike the others, this plugin has always accepted any positive weight.
  for (size_t i = 0; i < args.resources.size(); ++i) {
    const FileResourceSpec& resource = args.resources[i];
    if (resource.weight >= 1) continue;
    problems.push_back(InvalidNumber(FieldChild(FieldIndex(FieldChild(path, "resources"), i), "weight"),
                                     resource.weight,
                                     fmt::format("resource weight of {} not in valid range [1, inf)", resource.name)));
  }
  return problems;
}

Problems CheckArgs(const FileLeastAllocatedArgs& args, std::string_view path, const FeatureGates&) {
  Problems problems;
  CheckWeights(args.resources, FieldChild(path, "resources"), problems);
  return problems;
}

Problems CheckArgs(const FileMostAllocatedArgs& args, std::string_view path, const FeatureGates&) {
  Problems problems;
  CheckWeights(args.resources, FieldChild(path, "resources"), problems);
  return problems;
}

}  // namespace berth::config
