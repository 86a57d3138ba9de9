// Which events may help a pod that PodTopologySpread rejected.
#include <algorithm>

#include "plugins/hints.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {

using framework::ActionType;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;

namespace {

using Constraints = std::vector<SpreadConstraint>;

// Only pods in the same namespace that are bound or nominated to a node are counted; or it is the pending pod itself.
bool TakesPart(const api::Pod& changed, const PodInfo& waiting) {
  if (changed.metadata.uid == waiting.uid()) return true;
  return !HoldsNoPlace(changed) && changed.metadata.namespace_ == waiting.namespace_();
}

bool SelectedByAny(const Constraints& constraints, const api::Labels& labels) {
  return std::any_of(constraints.begin(), constraints.end(),
                     [&](const SpreadConstraint& constraint) { return constraint.selector.Matches(labels); });
}

bool HasEveryKey(const Constraints& constraints, const api::Labels& labels) {
  return std::all_of(constraints.begin(), constraints.end(),
                     [&](const SpreadConstraint& constraint) { return labels.Contains(constraint.topology_key); });
}

bool PodUpdateHelps(const Constraints& constraints, const PodInfo& waiting, const api::Pod& before,
                    const api::Pod& after) {
  const bool gained_toleration =
      waiting.uid() == after.metadata.uid && before.spec.tolerations != after.spec.tolerations;
  if (gained_toleration && std::any_of(constraints.begin(), constraints.end(), [](const SpreadConstraint& constraint) {
        return constraint.honors_node_taints;
      })) {
    return true;
  }
  return std::any_of(constraints.begin(), constraints.end(), [&](const SpreadConstraint& constraint) {
    return constraint.selector.Matches(before.metadata.labels) != constraint.selector.Matches(after.metadata.labels);
  });
}

bool NodeUpdateHelps(const Constraints& constraints, const api::Node& before, const api::Node& after) {
  const bool counted_after = HasEveryKey(constraints, after.metadata.labels);
  if (HasEveryKey(constraints, before.metadata.labels) != counted_after) return true;
  if (!counted_after) return false;
  if (before.spec.taints != after.spec.taints) return true;
  return std::any_of(constraints.begin(), constraints.end(), [&](const SpreadConstraint& constraint) {
    return *before.metadata.labels.Find(constraint.topology_key) !=
           *after.metadata.labels.Find(constraint.topology_key);
  });
}

}  // namespace

std::vector<framework::ClusterEventWithHint> PodTopologySpread::EventsToRegister() const {
  ActionType pod_actions = ActionType::kAdd | ActionType::kUpdatePodLabel | ActionType::kDelete;
  // Without hints the queue retries every updated pod anyway.
  if (handle_.gates().Enabled("SchedulerQueueingHints")) pod_actions = pod_actions | ActionType::kUpdatePodToleration;
  const ActionType node_actions =
      ActionType::kAdd | ActionType::kDelete | ActionType::kUpdateNodeLabel | ActionType::kUpdateNodeTaint;
  return {
      {{EventResource::kPod, pod_actions}, HintOf(this, &PodTopologySpread::AfterPodChange)},
      {{EventResource::kNode, node_actions}, HintOf(this, &PodTopologySpread::AfterNodeChange)},
  };
}

QueueingHint PodTopologySpread::AfterPodChange(const PodInfo& pod, const api::Pod* before,
                                               const api::Pod* after) const {
  if (before == nullptr && after == nullptr) return QueueingHint::kQueue;
  if ((after != nullptr && !TakesPart(*after, pod)) || (before != nullptr && !TakesPart(*before, pod))) {
    return QueueingHint::kSkip;
  }
  const Result<Constraints> constraints = HardConstraints(pod);
  if (!constraints) return QueueingHint::kQueue;
  if (before != nullptr && after != nullptr) return QueueIf(PodUpdateHelps(*constraints, pod, *before, *after));
  // A new pod may fill the emptiest domain, a deleted one may relieve a full one.
  return QueueIf(SelectedByAny(*constraints, (after != nullptr ? after : before)->metadata.labels));
}

QueueingHint PodTopologySpread::AfterNodeChange(const PodInfo& pod, const api::Node* before,
                                                const api::Node* after) const {
  if (before == nullptr && after == nullptr) return QueueingHint::kQueue;
  const Result<Constraints> constraints = HardConstraints(pod);
  if (!constraints) return QueueingHint::kQueue;
  if (before != nullptr && after != nullptr) return QueueIf(NodeUpdateHelps(*constraints, *before, *after));
  return QueueIf(HasEveryKey(*constraints, (after != nullptr ? after : before)->metadata.labels));
}

}  // namespace berth::plugins
