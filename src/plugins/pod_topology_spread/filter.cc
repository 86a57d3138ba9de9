// PodTopologySpread as a filter: pods per domain are counted once per cycle, then a node is judged by its domains.
#include <memory>
#include <utility>

#include "plugins/pod_topology_spread/domain_counts.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {

using framework::CycleState;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PreFilterResult;
using framework::Status;

struct PodTopologySpread::FilterState final : framework::CopyableState<FilterState> {
  std::shared_ptr<const SpreadPlan> plan;
  std::vector<DomainCounts> counts;  // by constraint
};

PreFilterResult PodTopologySpread::PreFilter(CycleState& state, const PodInfo& pod) const {
  Result<std::vector<SpreadConstraint>> constraints = HardConstraints(pod);
  if (!constraints) return Status::Error("get constraints from pod: " + constraints.error().message);
  if (constraints->empty()) return Status::Skip();

  auto plan = std::make_shared<const SpreadPlan>(pod, *std::move(constraints), handle_.cluster(), gates_);
  std::vector<DomainCounts> counts;
  counts.reserve(plan->size());
  for (size_t i = 0; i < plan->size(); ++i) counts.emplace_back(plan->column(i).values.size());

  for (const NodeInfo* node : handle_.cluster().nodes()) {
    if (!plan->HasEveryKey(node->index())) continue;
    for (size_t i = 0; i < plan->size(); ++i) {
      if (!plan->Includes(i, *node)) continue;
      // A domain without matching pods is a domain nonetheless.
      counts[i].Accumulate(plan->DomainOf(i, node->index()),
                           CountSelectedPods(*node, plan->constraint(i).selector, plan->name_space()));
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

// Unlike counting from scratch this looks neither at whether `other` is terminating nor at whether the selector is
// empty; kube-scheduler's preemption depends on exactly that.
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

PodTopologySpread::Verdict PodTopologySpread::Judge(const FilterState& state, NodeIndex node) {
  const SpreadPlan& plan = *state.plan;
  for (size_t i = 0; i < plan.size(); ++i) {
    const int32_t domain = plan.DomainOf(i, node);
    if (domain == framework::LabelColumn::kAbsent) return Verdict::kMissingLabel;
    const DomainCounts& counts = state.counts[i];
    // With fewer domains than wanted, the missing ones count as empty.
    const int64_t minimum = counts.domains() < plan.constraint(i).min_domains ? 0 : counts.minimum();
    const int64_t skew = counts.Get(domain) + (plan.matches_self(i) ? 1 : 0) - minimum;
    if (skew > plan.constraint(i).max_skew) return Verdict::kTooSkewed;
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
  const FilterState& data = state.Get(filter_key_);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    verdicts[i] = static_cast<uint8_t>(Judge(data, begin + static_cast<NodeIndex>(i)));
  }
  return true;
}

}  // namespace berth::plugins
