// InterPodAffinity as a score: weights of matching terms are tallied per domain once per cycle, a node's score is the
// sum over its domains.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity/topology_tallies.h"

namespace berth::plugins {

using framework::AffinityTerm;
using framework::CycleState;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::NodeScore;
using framework::PodInfo;
using framework::ScoreResult;
using framework::Status;
using framework::WeightedAffinityTerm;

struct InterPodAffinity::ScoreState final : framework::CopyableState<ScoreState> {
  explicit ScoreState(TopologyTallies all) : tallies(std::move(all)) {}
  TopologyTallies tallies;
};

namespace {

// Tallies what terms say about the domain of one node.
class Preferences {
 public:
  explicit Preferences(const framework::ClusterView& cluster) : tallies_(cluster) {}

  void Add(const AffinityTerm& term, int64_t weight, const api::Pod& target, const api::Labels* namespace_labels,
           NodeIndex node) {
    if (term.Matches(target, namespace_labels) && tallies_.Add(term.topology_key, node, weight)) any_ = true;
  }
  void AddAll(std::span<const WeightedAffinityTerm> terms, int64_t sign, const api::Pod& target,
              const api::Labels* namespace_labels, NodeIndex node) {
    for (const WeightedAffinityTerm& weighted : terms) {
      Add(weighted.term, sign * weighted.weight, target, namespace_labels, node);
    }
  }

  // Some term said something, even if it all came to nothing in the end.
  bool any() const { return any_; }
  TopologyTallies Take() && { return std::move(tallies_); }

 private:
  TopologyTallies tallies_;
  bool any_ = false;
};

bool HasPreferredTerms(const std::optional<api::PodAffinity>& affinity) {
  return affinity && !affinity->preferred_during_scheduling_ignored_during_execution.empty();
}

}  // namespace

Status InterPodAffinity::PreScore(CycleState& state, const PodInfo& pod, std::span<const NodeInfo* const>) const {
  const std::optional<api::Affinity>& affinity = pod.pod().spec.affinity;
  const bool prefers =
      affinity && (HasPreferredTerms(affinity->pod_affinity) || HasPreferredTerms(affinity->pod_anti_affinity));
  if (args_.ignore_preferred_terms_of_existing_pods && !prefers) return Status::Skip();
  if (!pod.parse_error().empty()) return Status::Error("failed to parse pod: " + pod.parse_error());

  std::vector<WeightedAffinityTerm> near = pod.preferred_affinity_terms();
  std::vector<WeightedAffinityTerm> away = pod.preferred_anti_affinity_terms();
  for (WeightedAffinityTerm& weighted : near) weighted.term = WithNamespacesResolved(std::move(weighted.term));
  for (WeightedAffinityTerm& weighted : away) weighted.term = WithNamespacesResolved(std::move(weighted.term));
  const std::shared_ptr<const api::Namespace> name_space = NamespaceOf(pod);
  const api::Labels* namespace_labels = name_space ? &name_space->metadata.labels : nullptr;

  // A pod without preferences of its own can only be wanted or shunned by pods that have terms.
  const framework::ClusterView& cluster = handle_.cluster();
  Preferences preferences(cluster);
  for (const NodeInfo* node : prefers ? cluster.nodes() : cluster.nodes_with_affinity_pods()) {
    const NodeIndex at = node->index();
    for (const framework::PodInfoPtr& existing : prefers ? node->pods() : node->pods_with_affinity()) {
      preferences.AddAll(near, +1, existing->pod(), nullptr, at);
      preferences.AddAll(away, -1, existing->pod(), nullptr, at);
      if (args_.hard_pod_affinity_weight > 0) {
        for (const AffinityTerm& term : existing->required_affinity_terms()) {
          preferences.Add(term, args_.hard_pod_affinity_weight, pod.pod(), namespace_labels, at);
        }
      }
      preferences.AddAll(existing->preferred_affinity_terms(), +1, pod.pod(), namespace_labels, at);
      preferences.AddAll(existing->preferred_anti_affinity_terms(), -1, pod.pod(), namespace_labels, at);
    }
  }
  if (!preferences.any()) return Status::Skip();
  state.Put(score_key_, std::make_unique<ScoreState>(std::move(preferences).Take()));
  return Status::Success();
}

ScoreResult InterPodAffinity::Score(const CycleState& state, const PodInfo&, const NodeInfo& node) const {
  return state.Get(score_key_).tallies.SumOver(node.index());
}

bool InterPodAffinity::ScoreRange(const CycleState& state, const PodInfo&, const NodeColumns&, NodeIndex begin,
                                  std::span<int64_t> scores) const {
  const TopologyTallies& tallies = state.Get(score_key_).tallies;
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = tallies.SumOver(begin + static_cast<NodeIndex>(i));
  return true;
}

Status InterPodAffinity::NormalizeScore(const CycleState&, const PodInfo&, std::span<NodeScore> scores) const {
  if (scores.empty()) return Status::Success();
  const auto [lowest, highest] = std::minmax_element(
      scores.begin(), scores.end(), [](const NodeScore& a, const NodeScore& b) { return a.score < b.score; });
  const int64_t least = lowest->score;
  const int64_t range = highest->score - least;
  for (NodeScore& score : scores) {
    // All alike: nobody gets points.
    double normalized = 0;
    if (range > 0) {
      normalized = static_cast<double>(framework::kMaxNodeScore) *
                   (static_cast<double>(score.score - least) / static_cast<double>(range));
    }
    score.score = static_cast<int64_t>(normalized);
  }
  return Status::Success();
}

}  // namespace berth::plugins
