// InterPodAffinity as a score: weights of matching terms are summed per domain once per cycle, and a node's score is
// the sum over its domains.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity/topology_tallies.h"
#include "plugins/score_columns.h"

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

namespace {

// What does not change when pods are added and removed.
struct PreferringPod {
  std::vector<WeightedAffinityTerm> near;
  std::vector<WeightedAffinityTerm> away;
  std::shared_ptr<const api::Namespace> name_space;  // null when unknown

  const api::Labels* namespace_labels() const { return name_space ? &name_space->metadata.labels : nullptr; }
};

// The weights for and against domains, from placed pods' terms about the pod and the pod's terms about them.
class Preferences {
 public:
  Preferences(const framework::ClusterView& cluster, std::shared_ptr<const PreferringPod> incoming,
              int64_t hard_affinity_weight)
      : incoming_(std::move(incoming)), hard_affinity_weight_(hard_affinity_weight), tallies_(cluster) {}

  // `existing` is added to (+1) or removed from (-1) `node`.
  void Count(const PodInfo& existing, const PodInfo& pod, NodeIndex node, int64_t sign) {
    AddAll(incoming_->near, sign, sign, existing, nullptr, node);
    AddAll(incoming_->away, -sign, sign, existing, nullptr, node);
    const api::Labels* namespace_labels = incoming_->namespace_labels();
    if (hard_affinity_weight_ > 0) {
      for (const AffinityTerm& term : existing.required_affinity_terms()) {
        Add(term, sign * hard_affinity_weight_, sign, pod, namespace_labels, node);
      }
    }
    AddAll(existing.preferred_affinity_terms(), sign, sign, pod, namespace_labels, node);
    AddAll(existing.preferred_anti_affinity_terms(), -sign, sign, pod, namespace_labels, node);
  }

  // No term matches. Terms that cancel each other out do match.
  bool none() const { return voices_ == 0; }
  // The incoming pod has preferences of its own.
  bool prefers() const { return !incoming_->near.empty() || !incoming_->away.empty(); }
  std::span<const TopologyTallies::Table> tables() const { return tallies_.tables(); }

 private:
  void Add(const AffinityTerm& term, int64_t weight, int64_t sign, const PodInfo& target,
           const api::Labels* namespace_labels, NodeIndex node) {
    if (term.Matches(target, namespace_labels) && tallies_.Add(term.topology_key, node, weight)) voices_ += sign;
  }
  void AddAll(std::span<const WeightedAffinityTerm> terms, int64_t factor, int64_t sign, const PodInfo& target,
              const api::Labels* namespace_labels, NodeIndex node) {
    for (const WeightedAffinityTerm& weighted : terms) {
      Add(weighted.term, factor * weighted.weight, sign, target, namespace_labels, node);
    }
  }

  std::shared_ptr<const PreferringPod> incoming_;
  int64_t hard_affinity_weight_;
  TopologyTallies tallies_;
  int64_t voices_ = 0;  // terms of pods on nodes that were added to a tally
};

bool HasPreferredTerms(const std::optional<api::PodAffinity>& affinity) {
  return affinity && !affinity->preferred_during_scheduling_ignored_during_execution.empty();
}
bool Prefers(const PodInfo& pod) {
  const std::optional<api::Affinity>& affinity = pod.pod().spec.affinity;
  return affinity && (HasPreferredTerms(affinity->pod_affinity) || HasPreferredTerms(affinity->pod_anti_affinity));
}

}  // namespace

struct InterPodAffinity::ScoreState final : framework::CopyableState<ScoreState> {
  explicit ScoreState(Preferences all) : shared(std::make_shared<Preferences>(std::move(all))) {}

  const Preferences& preferences() const { return *shared; }
  // Copies of the state share the tallies until one of them changes.
  Preferences& MutablePreferences() {
    if (shared.use_count() > 1) shared = std::make_shared<Preferences>(*shared);
    return *shared;
  }

 private:
  std::shared_ptr<Preferences> shared;
};

bool InterPodAffinity::IsNeverScored(const PodInfo& pod) const {
  return args_.ignore_preferred_terms_of_existing_pods && !Prefers(pod);
}

Status InterPodAffinity::PreScore(CycleState& state, const PodInfo& pod, std::span<const NodeInfo* const>) const {
  if (IsNeverScored(pod)) return Status::Skip();
  if (!pod.parse_error().empty()) return Status::Error("failed to parse pod: " + pod.parse_error());

  auto incoming = std::make_shared<PreferringPod>();
  incoming->near = pod.preferred_affinity_terms();
  incoming->away = pod.preferred_anti_affinity_terms();
  for (WeightedAffinityTerm& weighted : incoming->near)
    weighted.term = WithNamespacesResolved(std::move(weighted.term));
  for (WeightedAffinityTerm& weighted : incoming->away)
    weighted.term = WithNamespacesResolved(std::move(weighted.term));
  incoming->name_space = NamespaceOf(pod);

  // A pod without preferences of its own is affected only by pods that have terms.
  const framework::ClusterView& cluster = handle_.cluster();
  const bool prefers = Prefers(pod);
  Preferences preferences(cluster, std::move(incoming), args_.hard_pod_affinity_weight);
  if (prefers) {
    // Rows are far apart in memory; many need not be read.
    const NodeColumns& columns = cluster.columns();
    for (NodeIndex node = 0; node < columns.size(); ++node) {
      if (columns.pod_count[node] == 0) continue;
      for (const framework::PodInfoPtr& existing : cluster.row(node).pods())
        preferences.Count(*existing, pod, node, +1);
    }
  } else {
    for (const NodeInfo* node : cluster.nodes_with_affinity_pods()) {
      for (const framework::PodInfoPtr& existing : node->pods_with_affinity()) {
        preferences.Count(*existing, pod, node->index(), +1);
      }
    }
  }
  const bool skips = preferences.none();
  state.Put(score_key_, std::make_unique<ScoreState>(std::move(preferences)));
  return skips ? Status::Skip() : Status::Success();
}

bool InterPodAffinity::CatchUpPreScore(CycleState& state, const PodInfo& pod,
                                       const framework::PodChange& change) const {
  if (IsNeverScored(pod)) return true;
  ScoreState* data = state.FindMutable(score_key_);
  if (data == nullptr) return false;
  if (!data->preferences().prefers() && !change.other.has_affinity_terms()) return true;
  Preferences& preferences = data->MutablePreferences();
  const bool skipped = preferences.none();
  preferences.Count(change.other, pod, change.node.index(), change.sign);
  return preferences.none() == skipped;
}

ScoreResult InterPodAffinity::Score(const CycleState& state, const PodInfo&, const NodeInfo& node) const {
  int64_t score = 0;
  for (const TopologyTallies::Table& table : state.Get(score_key_).preferences().tables()) {
    score += table.Get(node.index());
  }
  return score;
}

bool InterPodAffinity::ScoreRange(const CycleState& state, const PodInfo&, const NodeColumns&, NodeIndex begin,
                                  std::span<int64_t> scores) const {
  bool first = true;
  for (const TopologyTallies::Table& table : state.Get(score_key_).preferences().tables()) {
    if (table.all_zero()) continue;
    if (first) std::fill(scores.begin(), scores.end(), 0);
    AddByDomain(table.domains() + begin, table.by_place(), scores);
    first = false;
  }
  if (first) std::fill(scores.begin(), scores.end(), 0);
  return true;
}

bool InterPodAffinity::ScoreList(const CycleState& state, const PodInfo&, const NodeColumns&,
                                 std::span<const NodeIndex> nodes, std::span<int64_t> scores) const {
  std::fill(scores.begin(), scores.end(), 0);
  for (const TopologyTallies::Table& table : state.Get(score_key_).preferences().tables()) {
    for (size_t k = 0; k < nodes.size(); ++k) scores[k] += table.Get(nodes[k]);
  }
  return true;
}

bool InterPodAffinity::ScoreTraits(const CycleState& state, std::vector<framework::NodeTrait>& traits) const {
  for (const TopologyTallies::Table& table : state.Get(score_key_).preferences().tables()) {
    traits.push_back(table.SumTrait());
  }
  return true;
}

namespace {

int64_t PointsFor(int64_t score, int64_t lowest, int64_t highest) {
  const auto range = static_cast<double>(highest - lowest);
  return static_cast<int64_t>(static_cast<double>(framework::kMaxNodeScore) *
                              (static_cast<double>(score - lowest) / range));
}

}  // namespace

Status InterPodAffinity::NormalizeScore(const CycleState&, const PodInfo&, std::span<NodeScore> scores) const {
  int64_t lowest = std::numeric_limits<int64_t>::max();
  int64_t highest = std::numeric_limits<int64_t>::min();
  for (const NodeScore& score : scores) {
    lowest = std::min(lowest, score.score);
    highest = std::max(highest, score.score);
  }
  if (lowest >= highest) {
    // All equal: no node gets points.
    for (NodeScore& score : scores) score.score = 0;
    return Status::Success();
  }
  for (NodeScore& score : scores) score.score = PointsFor(score.score, lowest, highest);
  return Status::Success();
}

bool InterPodAffinity::NormalizeRange(const CycleState&, const PodInfo&, std::span<const uint8_t> feasible,
                                      std::span<const int64_t> scores, std::span<uint8_t> points) const {
  const ScoreSpan span = SpanOf(feasible, scores);
  return PointsFromScores(feasible, span, scores, points, [&](int64_t score) {
    return span.lowest >= span.highest ? 0 : PointsFor(score, span.lowest, span.highest);
  });
}

bool InterPodAffinity::NormalizeClasses(const CycleState&, const PodInfo&, std::span<const NodeIndex>,
                                        std::span<const int64_t> scores, std::span<uint8_t> points) const {
  const auto [lowest, highest] = std::ranges::minmax(scores);
  for (size_t k = 0; k < scores.size(); ++k) {
    points[k] = static_cast<uint8_t>(lowest >= highest ? 0 : PointsFor(scores[k], lowest, highest));
  }
  return true;
}

}  // namespace berth::plugins
