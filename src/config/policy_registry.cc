#include "config/policy_registry.h"

#include <algorithm>

namespace berth::config {
namespace {

using enum ExtensionPoint;

std::vector<PluginAt> Filtering(std::string_view plugin) { return {{kPreFilter, plugin}, {kFilter, plugin}}; }
std::vector<PluginAt> FilterOnly(std::string_view plugin) { return {{kFilter, plugin}}; }
std::vector<PluginAt> Scoring(std::string_view plugin) { return {{kPreScore, plugin}, {kScore, plugin}}; }
std::vector<PluginAt> ScoreOnly(std::string_view plugin) { return {{kScore, plugin}}; }

const PolicyRule* Find(std::span<const PolicyRule> rules, std::string_view name) {
  const auto it = std::ranges::find(rules, name, &PolicyRule::name);
  return it == rules.end() ? nullptr : &*it;
}

}  // namespace

std::span<const PolicyRule> KnownPredicates() {
  static const std::vector<PolicyRule> rules = {
      {"CheckNodeUnschedulable", FilterOnly("NodeUnschedulable")},
      {"GeneralPredicates",
       {{kFilter, "NodeResourcesFit"},
        {kPreFilter, "NodeResourcesFit"},
        {kFilter, "NodeName"},
        {kFilter, "NodePorts"},
        {kPreFilter, "NodePorts"},
        {kFilter, "NodeAffinity"},
        {kPreFilter, "NodeAffinity"}}},
      {"HostName", FilterOnly("NodeName")},
      {"PodFitsHostPorts", Filtering("NodePorts")},
      {"MatchNodeSelector", Filtering("NodeAffinity")},
      {"PodFitsResources", Filtering("NodeResourcesFit")},
      {"NoDiskConflict", Filtering("VolumeRestrictions")},
      {"PodToleratesNodeTaints", FilterOnly("TaintToleration")},
      {"CheckNodeLabelPresence", FilterOnly("NodeLabel")},
      {"CheckServiceAffinity", Filtering("ServiceAffinity")},
      {"MaxEBSVolumeCount", FilterOnly("EBSLimits")},
      {"MaxGCEPDVolumeCount", FilterOnly("GCEPDLimits")},
      {"MaxCSIVolumeCountPred", Filtering("NodeVolumeLimits")},
      {"MaxAzureDiskVolumeCount", FilterOnly("AzureDiskLimits")},
      {"MaxCinderVolumeCount", FilterOnly("CinderLimits")},
      {"CheckVolumeBinding",
       {{kPreFilter, "VolumeBinding"},
        {kFilter, "VolumeBinding"},
        {kReserve, "VolumeBinding"},
        {kPreBind, "VolumeBinding"}}},
      {"NoVolumeZoneConflict", Filtering("VolumeZone")},
      {"EvenPodsSpread", Filtering("PodTopologySpread")},
      {"MatchInterPodAffinity", Filtering("InterPodAffinity")},
  };
  return rules;
}

std::span<const PolicyRule> KnownPriorities() {
  // NodeLabel, ServiceAffinity and RequestedToCapacityRatio are selected by an argument, under any name.
  static const std::vector<PolicyRule> rules = {
      {"BalancedResourceAllocation", Scoring("NodeResourcesBalancedAllocation")},
      {"EvenPodsSpreadPriority", Scoring("PodTopologySpread")},
      {"ImageLocalityPriority", ScoreOnly("ImageLocality")},
      {"InterPodAffinityPriority", Scoring("InterPodAffinity")},
      {"LeastRequestedPriority", ScoreOnly("NodeResourcesLeastAllocated")},
      {"MostRequestedPriority", ScoreOnly("NodeResourcesMostAllocated")},
      {"NodeAffinityPriority", Scoring("NodeAffinity")},
      {"NodeLabel", ScoreOnly("NodeLabel")},
      {"NodePreferAvoidPodsPriority", ScoreOnly("NodePreferAvoidPods")},
      {"RequestedToCapacityRatio", ScoreOnly("RequestedToCapacityRatio")},
      // In Kubernetes 1.14 to 1.18, behind a feature gate there.
      {"ResourceLimitsPriority", ScoreOnly("NodeResourceLimits")},
      // Spreading a service's pods became a default of topology spreading.
      {"SelectorSpreadPriority", Scoring("PodTopologySpread")},
      {"ServiceAffinity", ScoreOnly("ServiceAffinity")},
      {"TaintTolerationPriority", Scoring("TaintToleration")},
  };
  return rules;
}

const PolicyRule* FindPredicate(std::string_view name) {
  return Find(KnownPredicates(), name == "PodFitsPorts" ? "PodFitsHostPorts" : name);
}

const PolicyRule* FindPriority(std::string_view name) {
  return Find(KnownPriorities(), name == "ServiceSpreadingPriority" ? "SelectorSpreadPriority" : name);
}

bool IsMandatoryPredicate(std::string_view name) {
  return name == "PodToleratesNodeTaints" || name == "CheckNodeUnschedulable";
}

std::span<const std::string_view> DefaultPredicates() {
  static constexpr std::string_view kNames[] = {
      "NoVolumeZoneConflict",   "MaxEBSVolumeCount",     "MaxGCEPDVolumeCount",    "MaxAzureDiskVolumeCount",
      "MaxCSIVolumeCountPred",  "MatchInterPodAffinity", "NoDiskConflict",         "GeneralPredicates",
      "PodToleratesNodeTaints", "CheckVolumeBinding",    "CheckNodeUnschedulable", "EvenPodsSpread",
  };
  return kNames;
}

std::span<const WeightedPriority> DefaultPriorities() {
  static constexpr WeightedPriority kPriorities[] = {
      {"SelectorSpreadPriority", 1},          {"InterPodAffinityPriority", 1}, {"LeastRequestedPriority", 1},
      {"BalancedResourceAllocation", 1},      {"NodeAffinityPriority", 1},     {"TaintTolerationPriority", 1},
      {"NodePreferAvoidPodsPriority", 10000}, {"ImageLocalityPriority", 1},    {"EvenPodsSpreadPriority", 2},
  };
  return kPriorities;
}

}  // namespace berth::config
