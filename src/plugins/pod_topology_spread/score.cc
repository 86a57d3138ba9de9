// PodTopologySpread as a score: a node's score is what its domains cost, and normalising turns few pods into many
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

  // PreFilter has run since, perhaps because nodes changed: scores stand, but PreScore must not build on them.
  bool is_old = false;

 private:
  std::shared_ptr<SpreadCosts> shared;
};

namespace {

std::vector<uint8_t> MarksOf(std::span<const NodeInfo* const> nodes, size_t slots) {
  std::vector<uint8_t> marks(slots, 0);
  for (const NodeInfo* node : nodes) marks[node->index()] = 1;
  return marks;
}

}  // namespace

Status PodTopologySpread::PreScore(CycleState& state, const PodInfo& pod,
                                   std::span<const NodeInfo* const> feasible) const {
  const framework::ClusterView& cluster = handle_.cluster();
  if (ScoreState* kept = state.FindMutable(score_key_); kept != nullptr && !kept->is_old) {
    SpreadCosts& costs = kept->MutableCosts();
    costs.Refresh(cluster);
    costs.ChooseAmong(MarksOf(feasible, costs.nodes()));
    return Status::Success();
  }
  if (cluster.nodes().empty()) return Status::Skip();
  Result<std::vector<SpreadConstraint>> constraints = SoftConstraints(pod);
  if (!constraints) return Status::Error("calculating preScoreState: " + constraints.error().message);
  if (constraints->empty()) return Status::Skip();

  SpreadCosts costs(std::make_shared<const SpreadPlan>(pod, *std::move(constraints), cluster, gates_), cluster,
                    RequiresEveryKey(pod));
  costs.ChooseAmong(MarksOf(feasible, costs.nodes()));
  state.Put(score_key_, std::make_unique<ScoreState>(std::move(costs)));
  return Status::Success();
}

// Whether there are constraints depends on no other pod: without costs PreScore would skip again.
bool PodTopologySpread::CatchUpPreScore(CycleState& state, const PodInfo&, const PodChange& change) const {
  if (ScoreState* kept = state.FindMutable(score_key_)) kept->MutableCosts().Change(change);
  return true;
}

bool PodTopologySpread::ChooseAmong(CycleState& state, const PodInfo&, std::span<const uint8_t> feasible) const {
  if (ScoreState* kept = state.FindMutable(score_key_)) kept->MutableCosts().ChooseAmong(feasible);
  return true;
}

void PodTopologySpread::MarkScoresOld(CycleState& state) const {
  if (ScoreState* kept = state.FindMutable(score_key_)) kept->is_old = true;
}

ScoreResult PodTopologySpread::Score(const CycleState& state, const PodInfo&, const NodeInfo& node) const {
  return state.Get(score_key_).costs().ScoreOf(node.index());
}

bool PodTopologySpread::ScoreRange(const CycleState& state, const PodInfo&, const NodeColumns&, NodeIndex begin,
                                   std::span<int64_t> scores) const {
  state.Get(score_key_).costs().ScoreRange(begin, scores);
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
  // Who takes no part does not set the range, and gets no points.
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

}  // namespace berth::plugins
