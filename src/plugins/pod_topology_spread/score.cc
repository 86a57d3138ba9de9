// PodTopologySpread as a score: a node's score is the cost of its domains, and normalising turns few pods into many
// points.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/pod_topology_spread/spread_costs.h"
#include "plugins/score_columns.h"

namespace berth::plugins {

using framework::CycleState;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::NodeScore;
using framework::PodChange;
using framework::PodInfo;
using framework::ScoreResult;
using framework::Status;

struct PodTopologySpread::ScoreState final : framework::CopyableState<ScoreState> {
  explicit ScoreState(SpreadCosts all) : shared(std::make_shared<SpreadCosts>(std::move(all))) {}

  const SpreadCosts& costs() const { return *shared; }
  // Copies of the state share the costs until one of them changes.
  SpreadCosts& MutableCosts() {
    if (shared.use_count() > 1) shared = std::make_shared<SpreadCosts>(*shared);
    return *shared;
  }

 private:
  std::shared_ptr<SpreadCosts> shared;
};

namespace {

std::vector<uint8_t> MarksOf(std::span<const NodeInfo* const> nodes, const framework::ClusterView& cluster) {
  if (nodes.size() == cluster.nodes().size()) return cluster.columns().live;
  std::vector<uint8_t> marks(cluster.columns().size(), 0);
  for (const NodeInfo* node : nodes) marks[node->index()] = 1;
  return marks;
}

}  // namespace

Status PodTopologySpread::PreScore(CycleState& state, const PodInfo& pod,
                                   std::span<const NodeInfo* const> feasible) const {
  const framework::ClusterView& cluster = handle_.cluster();
  if (cluster.nodes().empty()) return Status::Skip();
  Result<std::vector<SpreadConstraint>> constraints = SoftConstraints(pod);
  if (!constraints) return Status::Error("calculating preScoreState: " + constraints.error().message);
  if (constraints->empty()) return Status::Skip();

  SpreadCosts costs(std::make_shared<const SpreadPlan>(pod, *std::move(constraints), cluster, gates_), cluster,
                    RequiresEveryKey(pod));
  costs.ChooseAmong(MarksOf(feasible, cluster));
  state.Put(score_key_, std::make_unique<ScoreState>(std::move(costs)));
  return Status::Success();
}

bool PodTopologySpread::ReadsFeasibleNodes(const PodInfo& pod) const {
  const Result<std::vector<SpreadConstraint>> constraints = SoftConstraints(pod);
  return !constraints || !constraints->empty();
}

// Whether there are constraints depends on no other pod: without costs, PreScore would skip again.
bool PodTopologySpread::CatchUpPreScore(CycleState& state, const PodInfo&, const PodChange& change) const {
  if (ScoreState* kept = state.FindMutable(score_key_)) kept->MutableCosts().Change(change);
  return true;
}

bool PodTopologySpread::ChooseAmongClasses(CycleState& state, const PodInfo&,
                                           std::span<const framework::NodeClass> feasible) const {
  if (ScoreState* kept = state.FindMutable(score_key_)) kept->MutableCosts().ChooseAmongClasses(feasible);
  return true;
}

bool PodTopologySpread::ScoreTraits(const CycleState& state, std::vector<framework::NodeTrait>& traits) const {
  state.Get(score_key_).costs().ListTraits(traits);
  return true;
}

bool PodTopologySpread::ChooseAmong(CycleState& state, const PodInfo&, std::span<const uint8_t> feasible) const {
  if (ScoreState* kept = state.FindMutable(score_key_)) kept->MutableCosts().ChooseAmong(feasible);
  return true;
}

ScoreResult PodTopologySpread::Score(const CycleState& state, const PodInfo&, const NodeInfo& node) const {
  return state.Get(score_key_).costs().ScoreOf(node.index());
}

bool PodTopologySpread::ScoreRange(const CycleState& state, const PodInfo&, const NodeColumns&, NodeIndex begin,
                                   std::span<int64_t> scores) const {
  state.Get(score_key_).costs().ScoreRange(begin, scores);
  return true;
}

bool PodTopologySpread::ScoreList(const CycleState& state, const PodInfo&, const NodeColumns&,
                                  std::span<const NodeIndex> nodes, std::span<int64_t> scores) const {
  const SpreadCosts& costs = state.Get(score_key_).costs();
  for (size_t k = 0; k < nodes.size(); ++k) scores[k] = costs.ScoreOf(nodes[k]);
  return true;
}

namespace {

int64_t PointsFor(int64_t score, int64_t lowest, int64_t highest) {
  if (highest == 0) return framework::kMaxNodeScore;
  return framework::kMaxNodeScore * (highest + lowest - score) / highest;
}

}  // namespace

Status PodTopologySpread::NormalizeScore(const CycleState& state, const PodInfo&, std::span<NodeScore> scores) const {
  const SpreadCosts& costs = state.Get(score_key_).costs();
  int64_t lowest = std::numeric_limits<int64_t>::max();
  int64_t highest = 0;
  for (const NodeScore& score : scores) {
    if (costs.Ignores(score.node->index())) continue;
    lowest = std::min(lowest, score.score);
    highest = std::max(highest, score.score);
  }
  for (NodeScore& score : scores) {
    const bool ignored = costs.Ignores(score.node->index());
    score.score = ignored ? framework::kMinNodeScore : PointsFor(score.score, lowest, highest);
  }
  return Status::Success();
}

bool PodTopologySpread::NormalizeRange(const CycleState& state, const PodInfo&, std::span<const uint8_t> feasible,
                                       std::span<const int64_t> scores, std::span<uint8_t> points) const {
  const SpreadCosts& costs = state.Get(score_key_).costs();
  // Ignored nodes do not affect the range, and get no points.
  std::vector<uint8_t> taking_part;
  if (costs.ignores_any()) {
    taking_part.assign(feasible.begin(), feasible.end());
    for (NodeIndex node = 0; node < taking_part.size(); ++node) taking_part[node] &= costs.Ignores(node) ? 0 : 1;
    feasible = taking_part;
  }
  const ScoreSpan span = SpanOf(feasible, scores);
  const int64_t highest = std::max<int64_t>(span.highest, 0);
  return PointsFromScores(feasible, span, scores, points,
                          [&](int64_t score) { return PointsFor(score, span.lowest, highest); });
}

bool PodTopologySpread::NormalizeClasses(const CycleState& state, const PodInfo&, std::span<const NodeIndex> nodes,
                                         std::span<const int64_t> scores, std::span<uint8_t> points) const {
  const SpreadCosts& costs = state.Get(score_key_).costs();
  int64_t lowest = std::numeric_limits<int64_t>::max();
  int64_t highest = 0;
  for (size_t k = 0; k < nodes.size(); ++k) {
    if (costs.Ignores(nodes[k])) continue;
    lowest = std::min(lowest, scores[k]);
    highest = std::max(highest, scores[k]);
  }
  bool in_range = true;
  for (size_t k = 0; k < nodes.size(); ++k) {
    const int64_t value = costs.Ignores(nodes[k]) ? framework::kMinNodeScore : PointsFor(scores[k], lowest, highest);
    in_range &= value >= framework::kMinNodeScore && value <= framework::kMaxNodeScore;
    points[k] = static_cast<uint8_t>(value);
  }
  return in_range;
}

}  // namespace berth::plugins
