// PodTopologySpread as a filter: pods per domain are counted once per cycle, then a node is judged by its domains.
#include <algorithm>
#include <memory>
#include <utility>

#include "plugins/pod_topology_spread/domain_counts.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {

using framework::CycleState;
using framework::LabelColumn;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::NodeTrait;
using framework::PodChange;
using framework::PodInfo;
using framework::PreFilterResult;
using framework::Status;

struct PodTopologySpread::FilterState final : framework::CopyableState<FilterState> {
  std::shared_ptr<const SpreadPlan> plan;
  std::vector<DomainCounts> counts;  // by constraint

  // How many matching pods a node's domain may have under constraint i for the pod to be accepted.
  int64_t LimitOf(size_t i) const {
    const SpreadConstraint& constraint = plan->constraint(i);
    // With fewer domains than required, the missing ones count as empty.
    const int64_t minimum = counts[i].domains() < constraint.min_domains ? 0 : counts[i].minimum();
    return constraint.max_skew + minimum - (plan->matches_self(i) ? 1 : 0);
  }
};

PreFilterResult PodTopologySpread::PreFilter(CycleState& state, const PodInfo& pod) const {
  Result<std::vector<SpreadConstraint>> constraints = HardConstraints(pod);
  if (!constraints) return Status::Error("get constraints from pod: " + constraints.error().message);
  if (constraints->empty()) return Status::Skip();

  auto plan = std::make_shared<const SpreadPlan>(pod, *std::move(constraints), handle_.cluster(), gates_);
  std::vector<DomainCounts> counts;
  counts.reserve(plan->size());
  for (size_t i = 0; i < plan->size(); ++i) counts.emplace_back(plan->column(i).values.size());

  const framework::ClusterView& cluster = handle_.cluster();
  const NodeColumns& columns = cluster.columns();
  for (NodeIndex node = 0; node < columns.size(); ++node) {
    if (!columns.live[node] || !plan->HasEveryKey(node)) continue;
    for (size_t i = 0; i < plan->size(); ++i) {
      if (!plan->IncludesAll(i) && !plan->Includes(i, cluster.row(node))) continue;
      // A domain without matching pods is still a domain. Rows are far apart in memory; many need not be read.
      const SpreadConstraint& constraint = plan->constraint(i);
      counts[i].Accumulate(plan->DomainOf(i, node),
                           columns.pod_count[node] == 0
                               ? 0
                               : CountSelectedPods(cluster.row(node), constraint.selector, plan->name_space()));
    }
  }
  for (DomainCounts& count : counts) count.FindMinimum();

  auto data = std::make_unique<FilterState>();
  data->plan = std::move(plan);
  data->counts = std::move(counts);
  state.Put(filter_key_, std::move(data));
  return {};
}

Status PodTopologySpread::AddPod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                 const NodeInfo& node) const {
  ChangePod(state, pod, other, node, +1);
  return Status::Success();
}

Status PodTopologySpread::RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                    const NodeInfo& node) const {
  ChangePod(state, pod, other, node, -1);
  return Status::Success();
}

// Unlike counting from scratch, this checks neither whether `other` is terminating nor whether the selector is empty;
// kube-scheduler's preemption depends on exactly that.
void PodTopologySpread::ChangePod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node,
                                  int64_t delta) const {
  FilterState* data = state.FindMutable(filter_key_);
  CHECK_WHY(data != nullptr, "a pod was added or removed before PreFilter ran");
  const SpreadPlan& plan = *data->plan;
  if (other.namespace_() != pod.namespace_() || !plan.HasEveryKey(node.index())) return;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (!plan.constraint(i).selector.Matches(other.labels()) || !plan.Includes(i, node)) continue;
    data->counts[i].Change(plan.DomainOf(i, node.index()), delta);
  }
}

// The same rule as counting from scratch. Only pods change, so that no domain appears or disappears and a pod without
// constraints still has none.
bool PodTopologySpread::CatchUpPreFilter(CycleState& state, const PodInfo&, const PodChange& change) const {
  FilterState* data = state.FindMutable(filter_key_);
  if (data == nullptr) return true;
  const SpreadPlan& plan = *data->plan;
  const NodeIndex node = change.node.index();
  for (size_t i = 0; i < plan.size(); ++i) {
    if (!CountsPod(change.other, plan.constraint(i).selector, plan.name_space())) continue;
    if (plan.HasEveryKey(node) && plan.Includes(i, change.node)) {
      data->counts[i].Change(plan.DomainOf(i, node), change.sign);
    }
  }
  return true;
}

PodTopologySpread::Verdict PodTopologySpread::Judge(const FilterState& state, NodeIndex node) {
  const SpreadPlan& plan = *state.plan;
  for (size_t i = 0; i < plan.size(); ++i) {
    const int32_t domain = plan.DomainOf(i, node);
    if (domain == LabelColumn::kAbsent) return Verdict::kMissingLabel;
    if (state.counts[i].Get(domain) > state.LimitOf(i)) return Verdict::kTooSkewed;
  }
  return Verdict::kFits;
}

Status PodTopologySpread::Filter(const CycleState& state, const PodInfo&, const NodeInfo& node) const {
  switch (Judge(state.Get(filter_key_), node.index())) {
    case Verdict::kFits:
      break;
    case Verdict::kMissingLabel:
      return missing_label_;
    case Verdict::kTooSkewed:
      return too_skewed_;
  }
  return Status::Success();
}

bool PodTopologySpread::FilterRange(const CycleState& state, const PodInfo&, const NodeColumns&, NodeIndex begin,
                                    std::span<uint8_t> verdicts) const {
  static_assert(static_cast<int>(Verdict::kMissingLabel) == 1 && static_cast<int>(Verdict::kTooSkewed) == 2);
  const FilterState& data = state.Get(filter_key_);
  for (size_t i = 0; i < data.plan->size(); ++i) {
    const int32_t* const domains = data.plan->column(i).value_id.data() + begin;
    const int64_t* const counts = data.counts[i].by_place().data();
    CHECK_WHY(data.plan->column(i).values.size() < data.counts[i].by_place().size(), "nodes changed since PreFilter");
    const int64_t limit = data.LimitOf(i);
    // One memory access per node and no branch: a node without the label finds a count beyond every limit.
    const auto judge = [domains, counts, limit](size_t k) {
      const int32_t place = domains[k] + 1;
      const int objection = place == 0 ? 1 : 2;
      return static_cast<uint8_t>(counts[place] > limit ? objection : 0);
    };
    if (i == 0) {
      for (size_t k = 0; k < verdicts.size(); ++k) verdicts[k] = judge(k);
    } else {
      // The first constraint that rejects the node decides.
      for (size_t k = 0; k < verdicts.size(); ++k) {
        const uint8_t verdict = judge(k);
        verdicts[k] = verdicts[k] != 0 ? verdicts[k] : verdict;
      }
    }
  }
  return true;
}

void PodTopologySpread::FilterList(const CycleState& state, const PodInfo&, const NodeColumns&,
                                   std::span<const NodeIndex> nodes, std::span<uint8_t> verdicts) const {
  const FilterState& data = state.Get(filter_key_);
  std::fill(verdicts.begin(), verdicts.end(), static_cast<uint8_t>(Verdict::kFits));
  for (size_t i = 0; i < data.plan->size(); ++i) {
    const int64_t limit = data.LimitOf(i);
    for (size_t k = 0; k < nodes.size(); ++k) {
      if (verdicts[k] != 0) continue;
      const int32_t domain = data.plan->DomainOf(i, nodes[k]);
      const Verdict verdict = domain == LabelColumn::kAbsent       ? Verdict::kMissingLabel
                              : data.counts[i].Get(domain) > limit ? Verdict::kTooSkewed
                                                                   : Verdict::kFits;
      verdicts[k] = static_cast<uint8_t>(verdict);
    }
  }
}

bool PodTopologySpread::FilterTraits(const CycleState& state, std::vector<NodeTrait>& traits) const {
  const FilterState& data = state.Get(filter_key_);
  for (size_t i = 0; i < data.plan->size(); ++i) {
    const LabelColumn& column = data.plan->column(i);
    const std::span<const int64_t> counts = data.counts[i].by_place();
    CHECK_WHY(column.values.size() < counts.size(), "nodes changed since PreFilter");
    traits.push_back(column.one_node_each ? NodeTrait::EntryOf(column, counts.data()) : NodeTrait::DomainOf(column));
  }
  return true;
}

}  // namespace berth::plugins
