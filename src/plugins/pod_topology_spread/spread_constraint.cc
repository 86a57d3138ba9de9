#include "plugins/pod_topology_spread/spread_constraint.h"

#include <algorithm>
#include <utility>

#include "api/taint.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kHonor = "Honor";

// Narrows `selector` to pods that agree with the incoming pod on each of `keys` that it has. A selector that matches
// nothing stays one.
void AddMatchLabelKeys(std::span<const Symbol> keys, const api::Labels& pod_labels, api::Selector& selector) {
  for (const Symbol& key : keys) {
    if (const Symbol* value = pod_labels.Find(key)) selector.Add(api::Requirement::Unchecked(key, *value));
  }
}

}  // namespace

SpreadGates SpreadGates::From(const config::FeatureGates& gates) {
  return {.node_inclusion_policies = gates.Enabled("NodeInclusionPolicyInPodTopologySpread"),
          .match_label_keys = gates.Enabled("MatchLabelKeysInPodTopologySpread"),
          .taint_comparison_operators = gates.Enabled("TaintTolerationComparisonOperators")};
}

Result<std::vector<SpreadConstraint>> CompileSpreadConstraints(
    std::span<const api::TopologySpreadConstraint> constraints, std::string_view when_unsatisfiable,
    const api::Labels& pod_labels, const SpreadGates& gates) {
  std::vector<SpreadConstraint> compiled;
  for (const api::TopologySpreadConstraint& constraint : constraints) {
    if (constraint.when_unsatisfiable != when_unsatisfiable) continue;
    Result<api::Selector> selector =
        api::Selector::Compile(constraint.label_selector ? &*constraint.label_selector : nullptr);
    if (!selector) return std::move(selector).error();
    // The API server may have merged these keys into the selector already; adding them twice is harmless.
    if (gates.match_label_keys) AddMatchLabelKeys(constraint.match_label_keys, pod_labels, *selector);

    SpreadConstraint& added = compiled.emplace_back();
    added.max_skew = constraint.max_skew;
    added.min_domains = constraint.min_domains.value_or(1);
    added.topology_key = constraint.topology_key;
    added.selector = *std::move(selector);
    if (!gates.node_inclusion_policies) continue;
    if (constraint.node_affinity_policy) added.honors_node_affinity = *constraint.node_affinity_policy == kHonor;
    if (constraint.node_taints_policy) added.honors_node_taints = *constraint.node_taints_policy == kHonor;
  }
  return compiled;
}

int64_t CountSelectedPods(const framework::NodeInfo& node, const api::Selector& selector, const Symbol& name_space) {
  if (selector.empty()) return 0;
  return std::count_if(node.pods().begin(), node.pods().end(),
                       [&](const framework::PodInfoPtr& pod) { return CountsPod(*pod, selector, name_space); });
}

bool CountsPod(const framework::PodInfo& pod, const api::Selector& selector, const Symbol& name_space) {
  return pod.namespace_() == name_space && !pod.is_terminating() && !selector.empty() && selector.Matches(pod.labels());
}

const api::NodeSelector* RequiredNodeSelector(const api::Pod& pod) {
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return nullptr;
  const auto& required = pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  return required ? &*required : nullptr;
}

SpreadPlan::SpreadPlan(const framework::PodInfo& pod, std::vector<SpreadConstraint> constraints,
                       const framework::ClusterView& cluster, const SpreadGates& gates)
    : pod_(pod.shared_pod()),
      constraints_(std::move(constraints)),
      required_node_affinity_(pod_->spec.node_selector, RequiredNodeSelector(*pod_)),
      taint_comparison_operators_(gates.taint_comparison_operators) {
  columns_.reserve(constraints_.size());
  matches_self_.reserve(constraints_.size());
  for (const SpreadConstraint& constraint : constraints_) {
    columns_.push_back(&cluster.label_column(constraint.topology_key));
    matches_self_.push_back(constraint.selector.Matches(pod.labels()));
  }
}

bool SpreadPlan::HasEveryKey(framework::NodeIndex node) const {
  return std::all_of(columns_.begin(), columns_.end(), [node](const framework::LabelColumn* column) {
    return column->value_id[node] != framework::LabelColumn::kAbsent;
  });
}

bool SpreadPlan::Includes(size_t i, const framework::NodeInfo& node) const {
  const SpreadConstraint& constraint = constraints_[i];
  // An invalid affinity matches no node here; NodeAffinity reports it.
  if (constraint.honors_node_affinity && !required_node_affinity_.empty() &&
      required_node_affinity_.Match(node.labels(), node.name()) != api::NodeMatch::kMatch) {
    return false;
  }
  return !constraint.honors_node_taints ||
         api::FindUntolerated(node.taints(), pod_->spec.tolerations, api::ForbidsScheduling,
                              taint_comparison_operators_) == nullptr;
}

}  // namespace berth::plugins
