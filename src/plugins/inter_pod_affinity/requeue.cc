// Which events may help a pod that InterPodAffinity rejected.
#include <algorithm>
#include <memory>

#include "framework/pod_resources.h"
#include "plugins/hints.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

namespace berth::plugins {

using framework::ActionType;
using framework::AffinityTerm;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;

namespace {

bool UpdateHelps(const PodInfo& waiting, const api::Pod& before, const api::Pod& after) {
  const auto& near = waiting.required_affinity_terms();
  const auto& away = waiting.required_anti_affinity_terms();
  return (!MatchesAllTerms(near, before) && MatchesAllTerms(near, after)) ||
         (MatchesAllTerms(away, before) && !MatchesAllTerms(away, after));
}

bool DeletionHelps(const PodInfo& waiting, const api::Pod& gone, const config::FeatureGates& gates) {
  if (MatchesAllTerms(waiting.required_anti_affinity_terms(), gone)) return true;
  if (!gone.spec.affinity || !gone.spec.affinity->pod_anti_affinity) return false;
  // Non-owning: the event outlives this call.
  const std::shared_ptr<const api::Pod> borrowed(std::shared_ptr<const api::Pod>(), &gone);
  const framework::PodInfoPtr info = PodInfo::Make(borrowed, framework::RunningPodOptions(gates));
  return !info->parse_error().empty() || MatchesAllTerms(info->required_anti_affinity_terms(), waiting);
}

// The node enters a domain, new to it, that may have matching pods.
bool NodeHelpsAffinity(const AffinityTerm& term, const api::Node* before, const api::Node& after) {
  const Symbol* new_value = after.metadata.labels.Find(term.topology_key);
  const Symbol* old_value = before != nullptr ? before->metadata.labels.Find(term.topology_key) : nullptr;
  return new_value != nullptr && (old_value == nullptr || *old_value != *new_value);
}

// The node is new, or leaves a domain that may have pods to avoid. Entering one does not help.
bool NodeHelpsAntiAffinity(const AffinityTerm& term, const api::Node* before, const api::Node& after) {
  if (before == nullptr) return true;
  const Symbol* old_value = before->metadata.labels.Find(term.topology_key);
  const Symbol* new_value = after.metadata.labels.Find(term.topology_key);
  return old_value != nullptr && (new_value == nullptr || *old_value != *new_value);
}

}  // namespace

std::vector<framework::ClusterEventWithHint> InterPodAffinity::EventsToRegister() const {
  const ActionType pod_actions = ActionType::kAdd | ActionType::kUpdatePodLabel | ActionType::kDelete;
  ActionType node_actions = ActionType::kAdd | ActionType::kUpdateNodeLabel;
  // Without hints a new node may be noticed only by the update that removes its first taints.
  if (!handle_.gates().Enabled("SchedulerQueueingHints")) node_actions = node_actions | ActionType::kUpdateNodeTaint;
  return {
      {{EventResource::kPod, pod_actions}, HintOf(this, &InterPodAffinity::AfterPodChange)},
      {{EventResource::kNode, node_actions}, HintOf(this, &InterPodAffinity::AfterNodeChange)},
  };
}

QueueingHint InterPodAffinity::AfterPodChange(const PodInfo& pod, const api::Pod* before, const api::Pod* after) const {
  if (before == nullptr && after == nullptr) return QueueingHint::kQueue;
  const bool updated = before != nullptr && after != nullptr;
  // Its own labels changed: terms of placed pods may no longer match it.
  if (updated && after->metadata.uid == pod.uid()) return QueueingHint::kQueue;
  if ((after != nullptr && HoldsNoPlace(*after)) || (before != nullptr && HoldsNoPlace(*before))) {
    return QueueingHint::kSkip;
  }
  if (!pod.parse_error().empty()) return QueueingHint::kQueue;
  if (updated) return QueueIf(UpdateHelps(pod, *before, *after));
  if (after != nullptr) return QueueIf(MatchesAllTerms(pod.required_affinity_terms(), *after));
  return QueueIf(DeletionHelps(pod, *before, handle_.gates()));
}

QueueingHint InterPodAffinity::AfterNodeChange(const PodInfo& pod, const api::Node* before,
                                               const api::Node* after) const {
  if (after == nullptr || !pod.parse_error().empty()) return QueueingHint::kQueue;
  const auto& near = pod.required_affinity_terms();
  const auto& away = pod.required_anti_affinity_terms();
  return QueueIf(std::any_of(near.begin(), near.end(),
                             [&](const AffinityTerm& term) { return NodeHelpsAffinity(term, before, *after); }) ||
                 std::any_of(away.begin(), away.end(),
                             [&](const AffinityTerm& term) { return NodeHelpsAntiAffinity(term, before, *after); }));
}

}  // namespace berth::plugins
