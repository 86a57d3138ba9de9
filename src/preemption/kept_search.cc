// Finds the cheapest candidate from sums over many nodes.
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
    // Changed nodes are far apart in memory.
    for (const NodeIndex node : changed_) __builtin_prefetch(&outcomes_[node]);
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

// Takes the candidates in search order, whole blocks at a time, up to the one that ends the search.
class TrialShelf::Sweep {
 public:
  Sweep(TrialShelf& shelf, const DryRun& dry_run, const framework::ClusterView& cluster, size_t wanted)
      : shelf_(shelf), dry_run_(dry_run), cluster_(cluster), wanted_(wanted), cost_of_{shelf} {}

  // True when the search ends within [begin, end).
  bool Walk(size_t begin, size_t end) {
    for (size_t at = begin; at < end;) {
      if (const size_t taken = TakeBlock(at, end); taken != 0) {
        at += taken;
        continue;
      }
      TakeOne(static_cast<NodeIndex>(at++));
      if (Enough(sum_)) return true;
    }
    return false;
  }
  const TrialSum& sum() const { return sum_; }

  // One of the cheapest candidates, by position among them.
  NodeIndex Cheapest(size_t nth) {
    auto stretch = stretches_.begin();
    for (; nth >= stretch->ties; ++stretch) nth -= stretch->ties;
    if (stretch->level == kOneNode) return stretch->begin;
    size_t block = stretch->begin / TrialSums::NodesOf(stretch->level);
    // Descends level by level to the block of 16 that contains it.
    for (size_t level = stretch->level; level-- > 0;) {
      for (block *= TrialSums::kFan;; ++block) {
        const TrialSum& here = shelf_.sums_.Block(level, block, cost_of_);
        if (here.harmless == 0 || !(here.lowest == sum_.lowest)) continue;
        if (nth < here.ties) break;
        nth -= here.ties;
      }
    }
    for (auto node = static_cast<NodeIndex>(block * TrialSums::kFan);; ++node) {
      if (shelf_.sums_.state(node) != TrialState::kHarmless || !(cost_of_(node) == sum_.lowest)) continue;
      if (nth-- == 0) return node;
    }
  }

 private:
  struct CostOfKept {
    const TrialShelf& shelf;
    Cost operator()(NodeIndex node) const { return ComparableCost(shelf.outcomes_[node]); }
  };
  static constexpr size_t kOneNode = TrialSums::kLevels;
  // A block, or a single node, that contains some of the cheapest candidates so far.
  struct Stretch {
    NodeIndex begin;
    size_t level;
    size_t ties;
  };

  static size_t Candidates(const TrialSum& sum) { return sum.harmless + sum.violating; }
  bool Enough(const TrialSum& sum) const { return sum.harmless != 0 && Candidates(sum) >= wanted_; }

  // Takes the largest block that begins here and can be taken as a whole; returns its number of nodes, or 0 for none.
  size_t TakeBlock(size_t at, size_t end) {
    size_t level = 0;
    while (level < TrialSums::kLevels && Begins(level, at, end)) ++level;
    while (level-- > 0) {
      const size_t nodes = TrialSums::NodesOf(level);
      const TrialSum& sum = shelf_.sums_.Block(level, at / nodes, cost_of_);
      if (sum.unknown != 0 || (sum_.harmless + sum.harmless != 0 && Candidates(sum_) + Candidates(sum) >= wanted_)) {
        continue;
      }
      Take(static_cast<NodeIndex>(at), level, sum);
      return nodes;
    }
    return 0;
  }
  static bool Begins(size_t level, size_t at, size_t end) {
    return at % TrialSums::NodesOf(level) == 0 && at + TrialSums::NodesOf(level) <= end;
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
        // Not kept, but it takes part in comparisons.
        shelf_.some_start_now_ |= outcome->starts_now;
        if (!outcome->starts_now) shelf_.latest_start_ = std::max(shelf_.latest_start_, outcome->cost.earliest_start);
      }
    }
    if (state == TrialState::kHarmless) {
      TakeHarmless(node, kOneNode, 1, 1, ComparableCost(*outcome));
    } else {
      sum_.violating += state == TrialState::kViolating;
    }
  }
  void Take(NodeIndex begin, size_t level, const TrialSum& sum) {
    sum_.violating += sum.violating;
    if (sum.harmless != 0) TakeHarmless(begin, level, sum.harmless, sum.ties, sum.lowest);
  }
  void TakeHarmless(NodeIndex begin, size_t level, uint32_t count, uint32_t ties, const Cost& cost) {
    if (sum_.harmless == 0 || cost < sum_.lowest) stretches_.clear();
    sum_.AddHarmless(count, ties, cost);
    if (cost == sum_.lowest) stretches_.push_back({begin, level, ties});
  }

  TrialShelf& shelf_;
  const DryRun& dry_run_;
  const framework::ClusterView& cluster_;
  const size_t wanted_;
  const CostOfKept cost_of_;
  TrialSum sum_;
  std::vector<Stretch> stretches_;
};

std::optional<NodeIndex> TrialShelf::FindCheapest(const DryRun& dry_run, const framework::ClusterView& cluster,
                                                  NodeIndex start, size_t wanted, base::Random& random) {
  if (wanted == 0 || !CatchUp(cluster)) return std::nullopt;
  // The clock was set back, or pods that start in the future are compared with pods that have not started.
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
