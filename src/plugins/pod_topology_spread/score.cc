// PodTopologySpread as a score: a node's score is what its domains cost, and normalising turns few pods into many
// points.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/pod_topology_spread/spread_costs.h"

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

Status PodTopologySpread::PreScore(CycleState& state, const PodInfo& pod,
                                   std::span<const NodeInfo* const> feasible) const {
  const framework::ClusterView& cluster = handle_.cluster();
  if (ScoreState* kept = state.FindMutable(score_key_); kept != nullptr && !kept->is_old) {
    SpreadCosts& costs = kept->MutableCosts();
    costs.Refresh(cluster);
    costs.ChooseAmong(feasible);
    return Status::Success();
  }
  if (cluster.nodes().empty()) return Status::Skip();
  Result<std::vector<SpreadConstraint>> constraints = SoftConstraints(pod);
  if (!constraints) return Status::Error("calculating preScoreState: " + constraints.error().message);
  if (constraints->empty()) return Status::Skip();

  SpreadCosts costs(std::make_shared<const SpreadPlan>(pod, *std::move(constraints), cluster, gates_), cluster,
                    RequiresEveryKey(pod));
  costs.ChooseAmong(feasible);
  state.Put(score_key_, std::make_unique<ScoreState>(std::move(costs)));
  return Status::Success();
}

// Whether there are constraints depends on no other pod: without costs PreScore would skip again.
bool PodTopologySpread::CatchUpPreScore(CycleState& state, const PodInfo&, const PodChange& change) const {
  if (ScoreState* kept = state.FindMutable(score_key_)) kept->MutableCosts().Change(change);
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

// The points a raw score is worth. Raw scores are few and close together as a rule: each is divided for once.
class Points {
 public:
  Points(int64_t lowest, int64_t highest, size_t nodes) : lowest_(lowest), highest_(highest) {
    if (lowest > highest || static_cast<uint64_t>(highest - lowest) >= nodes) return;
    table_.reserve(static_cast<size_t>(highest - lowest) + 1);
    for (int64_t score = lowest; score <= highest; ++score) table_.push_back(Of(score));
  }
  int64_t operator()(int64_t score) const {
    return table_.empty() ? Of(score) : table_[static_cast<size_t>(score - lowest_)];
  }

 private:
  int64_t Of(int64_t score) const {
    if (highest_ == 0) return framework::kMaxNodeScore;
    return framework::kMaxNodeScore * (highest_ + lowest_ - score) / highest_;
  }

  int64_t lowest_;
  int64_t highest_;
  std::vector<int64_t> table_;  // by score - lowest_; empty when it would be longer than the list of nodes
};

}  // namespace

Status PodTopologySpread::NormalizeScore(const CycleState& state, const PodInfo&, std::span<NodeScore> scores) const {
  const SpreadCosts& costs = state.Get(score_key_).costs();
  // Looking at the node itself is what costs most here; it is rarely needed.
  const bool ignores_any = costs.ignores_any();
  const auto is_ignored = [&](const NodeScore& score) { return ignores_any && costs.Ignores(score.node->index()); };
  int64_t lowest = std::numeric_limits<int64_t>::max();
  int64_t highest = 0;
  for (const NodeScore& score : scores) {
    if (is_ignored(score)) continue;
    lowest = std::min(lowest, score.score);
    highest = std::max(highest, score.score);
  }
  const Points points(lowest, highest, scores.size());
  for (NodeScore& score : scores) {
    score.score = is_ignored(score) ? framework::kMinNodeScore : points(score.score);
  }
  return Status::Success();
}

}  // namespace berth::plugins
