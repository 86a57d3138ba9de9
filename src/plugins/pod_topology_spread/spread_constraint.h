// Topology spread constraints in a form suited to counting, and which nodes and pods they count.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "api/node_selector.h"
#include "api/pod.h"
#include "api/selector.h"
#include "base/result.h"
#include "base/symbol.h"
#include "config/feature_gates.h"
#include "framework/cluster_view.h"
#include "framework/node_info.h"
#include "framework/pod_info.h"

namespace berth::plugins {

// whenUnsatisfiable: a hard constraint filters, a soft one scores.
inline constexpr std::string_view kDoNotSchedule = "DoNotSchedule";
inline constexpr std::string_view kScheduleAnyway = "ScheduleAnyway";

struct SpreadConstraint {
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  Symbol topology_key;
  api::Selector selector;
  bool honors_node_affinity = true;
  bool honors_node_taints = false;
};

struct SpreadGates {
  bool node_inclusion_policies = true;
  bool match_label_keys = true;
  bool taint_comparison_operators = false;

  static SpreadGates From(const config::FeatureGates& gates);
};

// Those of `constraints` with this whenUnsatisfiable, in order. `pod_labels` supply the values of matchLabelKeys.
Result<std::vector<SpreadConstraint>> CompileSpreadConstraints(
    std::span<const api::TopologySpreadConstraint> constraints, std::string_view when_unsatisfiable,
    const api::Labels& pod_labels, const SpreadGates& gates);

// Counts the pods of the namespace that are selected and not terminating. An empty selector counts no pod at all,
// although it matches every pod when tested on a single one.
int64_t CountSelectedPods(const framework::NodeInfo& node, const api::Selector& selector, const Symbol& name_space);
// Whether `pod` would be counted.
bool CountsPod(const framework::PodInfo& pod, const api::Selector& selector, const Symbol& name_space);

// The constraints of one kind of one pod, with what is needed to apply them to nodes. Constant once made; valid for the
// cycle it was made in, because it points into the label columns of the cluster.
class SpreadPlan {
 public:
  SpreadPlan(const framework::PodInfo& pod, std::vector<SpreadConstraint> constraints,
             const framework::ClusterView& cluster, const SpreadGates& gates);

  size_t size() const { return constraints_.size(); }
  const SpreadConstraint& constraint(size_t i) const { return constraints_[i]; }
  const framework::LabelColumn& column(size_t i) const { return *columns_[i]; }
  // Whether constraint i counts the pod itself, once placed.
  bool matches_self(size_t i) const { return matches_self_[i]; }
  const Symbol& name_space() const { return pod_->metadata.namespace_; }

  // The node's domain under constraint i, or LabelColumn::kAbsent.
  int32_t DomainOf(size_t i, framework::NodeIndex node) const { return columns_[i]->value_id[node]; }
  bool HasEveryKey(framework::NodeIndex node) const;
  // Whether the inclusion policies of constraint i let the node's domain and pods count.
  bool Includes(size_t i, const framework::NodeInfo& node) const;
  // Whether they do so for every node.
  bool IncludesAll(size_t i) const {
    return !(constraints_[i].honors_node_affinity && !required_node_affinity_.empty()) &&
           !constraints_[i].honors_node_taints;
  }

 private:
  std::shared_ptr<const api::Pod> pod_;
  std::vector<SpreadConstraint> constraints_;
  std::vector<const framework::LabelColumn*> columns_;  // by constraint
  std::vector<bool> matches_self_;                      // by constraint
  api::RequiredNodeAffinity required_node_affinity_;
  bool taint_comparison_operators_;
};

// The pod's required node affinity; null when it has none.
const api::NodeSelector* RequiredNodeSelector(const api::Pod& pod);

}  // namespace berth::plugins
