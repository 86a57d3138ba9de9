// Which events may help a pod that PodTopologySpread rejected.
#include <algorithm>

#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {

using framework::ActionType;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;

namespace {

using Constraints = std::vector<SpreadConstraint>;

// Only pods that have, or are promised, a node in the same namespace are counted; or it is the waiting pod itself.
bool TakesPart(const api::Pod& changed, const PodInfo& waiting) {
  if (changed.metadata.uid == waiting.uid()) return true;
  if (changed.spec.node_name.empty() && changed.status.nominated_node_name.empty()) return false;
  return changed.metadata.namespace_ == waiting.namespace_();
}

bool SelectedByAny(const Constraints& constraints, const api::Labels& labels) {
  return std::any_of(constraints.begin(), constraints.end(),
                     [&](const SpreadConstraint& constraint) { return constraint.selector.Matches(labels); });
}

bool HasEveryKey(const Constraints& constraints, const api::Labels& labels) {
  return std::all_of(constraints.begin(), constraints.end(),
                     [&](const SpreadConstraint& constraint) { return labels.Contains(constraint.topology_key); });
}

QueueingHint QueueIf(bool helps) { return helps ? QueueingHint::kQueue : QueueingHint::kSkip; }

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
      {{EventResource::kPod, pod_actions},
       [this](const PodInfo& pod, const EventObject& before, const EventObject& after) {
         return AfterPodChange(pod, before, after);
       }},
      {{EventResource::kNode, node_actions},
       [this](const PodInfo& pod, const EventObject& before, const EventObject& after) {
         return AfterNodeChange(pod, before, after);
       }},
  };
}

QueueingHint PodTopologySpread::AfterPodChange(const PodInfo& pod, const EventObject& before,
                                               const EventObject& after) const {
  const api::Pod* old_pod = before.As<api::Pod>();
  const api::Pod* new_pod = after.As<api::Pod>();
  if (old_pod == nullptr && new_pod == nullptr) return QueueingHint::kQueue;
  if ((new_pod != nullptr && !TakesPart(*new_pod, pod)) || (old_pod != nullptr && !TakesPart(*old_pod, pod))) {
    return QueueingHint::kSkip;
  }
  const Result<Constraints> constraints = HardConstraints(pod);
  if (!constraints) return QueueingHint::kQueue;
  if (old_pod != nullptr && new_pod != nullptr) return QueueIf(PodUpdateHelps(*constraints, pod, *old_pod, *new_pod));
  // A new pod may raise the emptiest domain, a deleted one lower a full one.
  return QueueIf(SelectedByAny(*constraints, (new_pod != nullptr ? new_pod : old_pod)->metadata.labels));
}

QueueingHint PodTopologySpread::AfterNodeChange(const PodInfo& pod, const EventObject& before,
                                                const EventObject& after) const {
  const api::Node* old_node = before.As<api::Node>();
  const api::Node* new_node = after.As<api::Node>();
  if (old_node == nullptr && new_node == nullptr) return QueueingHint::kQueue;
  const Result<Constraints> constraints = HardConstraints(pod);
  if (!constraints) return QueueingHint::kQueue;
  if (old_node != nullptr && new_node != nullptr) return QueueIf(NodeUpdateHelps(*constraints, *old_node, *new_node));
  return QueueIf(HasEveryKey(*constraints, (new_node != nullptr ? new_node : old_node)->metadata.labels));
}

}  // namespace berth::plugins
