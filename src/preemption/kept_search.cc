// Finding the cheapest candidate from sums over many nodes.
#include <algorithm>

#include "preemption/kept_trials.h"

namespace berth::preemption {

using framework::NodeIndex;

TrialState TrialShelf::StateOf(const Outcome& outcome) {
  if (outcome.failure != 0) return TrialState::kFailed;
  return outcome.cost.pdb_violations == 0 ? TrialState::kHarmless : TrialState::kViolating;
}

Cost TrialShelf::ComparableCost(const Outcome& outcome) {
  Cost cost = outcome.cost;
  if (outcome.starts_now) cost.earliest_start = base::Time::max();
  return cost;
}

void TrialShelf::SumUp(const framework::ClusterView& cluster, NodeIndex node) {
  const framework::NodeColumns& columns = cluster.columns();
  const bool known = outcomes_[node].generation == columns.generation[node];
  sums_.Set(node, !columns.live[node] ? TrialState::kNoNode : known ? StateOf(outcomes_[node]) : TrialState::kUnknown);
}

bool TrialShelf::CatchUp(const framework::ClusterView& cluster) {
  changed_.clear();
  const uint64_t now = cluster.change_count();
  if (summed_ && cluster.ListChangedNodes(sums_at_, changed_)) {
    for (const NodeIndex node : changed_) SumUp(cluster, node);
  } else {
    changed_.clear();
    if (!cluster.ListChangedNodes(now, changed_)) return false;
    sums_.Reset(outcomes_.size());
    for (NodeIndex node = 0; node < outcomes_.size(); ++node) SumUp(cluster, node);
    summed_ = true;
  }
  sums_at_ = now;
  return true;
}

// Takes the candidates in the order of a search, many at a time, up to the one that ends it.
class TrialShelf::Sweep {
 public:
  Sweep(TrialShelf& shelf, const DryRun& dry_run, const framework::ClusterView& cluster, size_t wanted)
      : shelf_(shelf), dry_run_(dry_run), cluster_(cluster), wanted_(wanted) {}

  // True when the search ends within [begin, end).
  bool Walk(size_t begin, size_t end) {
    const auto cost_of = [this](NodeIndex node) { return ComparableCost(shelf_.outcomes_[node]); };
    for (size_t at = begin; at < end;) {
      if (at % TrialSums::kRegion == 0 && at + TrialSums::kRegion <= end &&
          TakeMany(at, TrialSums::kRegion, shelf_.sums_.Region(at / TrialSums::kRegion, cost_of))) {
        at += TrialSums::kRegion;
      } else if (at % TrialSums::kBlock == 0 && at + TrialSums::kBlock <= end &&
                 TakeMany(at, TrialSums::kBlock, shelf_.sums_.Block(at / TrialSums::kBlock, cost_of))) {
        at += TrialSums::kBlock;
      } else {
        TakeOne(static_cast<NodeIndex>(at++));
        if (Enough(sum_)) return true;
      }
    }
    return false;
  }
  const TrialSum& sum() const { return sum_; }

  // Of the cheapest candidates, by position among them.
  NodeIndex Cheapest(size_t nth) {
    auto stretch = stretches_.begin();
    for (; nth >= stretch->ties; ++stretch) nth -= stretch->ties;
    if (stretch->nodes == 1) return stretch->begin;
    const auto cost_of = [this](NodeIndex node) { return ComparableCost(shelf_.outcomes_[node]); };
    const auto costs_lowest = [&](const TrialSum& sum) { return sum.harmless != 0 && sum.lowest == sum_.lowest; };
    size_t block = stretch->begin / TrialSums::kBlock;
    for (;; ++block) {
      const TrialSum& here = shelf_.sums_.Block(block, cost_of);
      if (!costs_lowest(here)) continue;
      if (nth < here.ties) break;
      nth -= here.ties;
    }
    for (auto node = static_cast<NodeIndex>(block * TrialSums::kBlock);; ++node) {
      if (shelf_.sums_.state(node) != TrialState::kHarmless || !(cost_of(node) == sum_.lowest)) continue;
      if (nth-- == 0) return node;
    }
  }

 private:
  // Nodes in a row with some of the cheapest candidates so far.
  struct Stretch {
    NodeIndex begin;
    size_t nodes;
    size_t ties;
  };

  bool Enough(const TrialSum& sum) const { return sum.harmless != 0 && sum.harmless + sum.violating >= wanted_; }

  // False, with nothing taken, when they have to be looked at one by one.
  bool TakeMany(size_t begin, size_t nodes, const TrialSum& sum) {
    if (sum.unknown != 0) return false;
    TrialSum with = sum_;
    with.Add(sum);
    if (Enough(with)) return false;
    Take(static_cast<NodeIndex>(begin), nodes, sum);
    return true;
  }
  void TakeOne(NodeIndex node) {
    TrialState state = shelf_.sums_.state(node);
    if (state == TrialState::kNoNode || state == TrialState::kFailed) return;
    const Outcome* outcome = &shelf_.outcomes_[node];
    if (state == TrialState::kUnknown) {
      outcome = &shelf_.OutcomeOn(dry_run_, cluster_, node);
      state = StateOf(*outcome);
      if (outcome == &shelf_.outcomes_[node]) {
        shelf_.sums_.Set(node, state);
      } else if (state != TrialState::kFailed) {
        // Not kept, but compared.
        shelf_.some_start_now_ |= outcome->starts_now;
        if (!outcome->starts_now) shelf_.latest_start_ = std::max(shelf_.latest_start_, outcome->cost.earliest_start);
      }
    }
    TrialSum sum;
    sum.Add(state, ComparableCost(*outcome));
    Take(node, 1, sum);
  }
  void Take(NodeIndex begin, size_t nodes, const TrialSum& sum) {
    if (sum.harmless != 0) {
      if (sum_.harmless != 0 && sum.lowest < sum_.lowest) stretches_.clear();
      if (sum_.harmless == 0 || !(sum_.lowest < sum.lowest)) stretches_.push_back({begin, nodes, sum.ties});
    }
    sum_.Add(sum);
  }

  TrialShelf& shelf_;
  const DryRun& dry_run_;
  const framework::ClusterView& cluster_;
  const size_t wanted_;
  TrialSum sum_;
  std::vector<Stretch> stretches_;
};

std::optional<NodeIndex> TrialShelf::FindCheapest(const DryRun& dry_run, const framework::ClusterView& cluster,
                                                  NodeIndex start, size_t wanted, base::Random& random) {
  if (wanted == 0 || !CatchUp(cluster)) return std::nullopt;
  // A clock that was set back, or pods that start in the future beside some that have not started.
  const auto order_may_change = [&] {
    return dry_run.now() <= all_hold_after_ || (some_start_now_ && dry_run.now() <= latest_start_);
  };
  if (order_may_change()) return std::nullopt;
  for (const NodeIndex node : held_) sums_.Set(node, TrialState::kUnknown);
  generations_ = &cluster.columns().generation;
  Sweep sweep(*this, dry_run, cluster, wanted);
  if (!sweep.Walk(start, sums_.nodes())) sweep.Walk(0, start);
  const TrialSum& sum = sweep.sum();
  if (sum.harmless == 0 || order_may_change()) return std::nullopt;
  return sweep.Cheapest(sum.ties == 1 ? 0 : random.Below(sum.ties));
}

}  // namespace berth::preemption
