// TrialSums: what is known about trials of nodes, summed up by blocks of 64 nodes and by regions of 64 blocks, so that
// the cheapest of thousands of candidates in a row is found without looking at each.
// Sums are worked out again when somebody asks. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "framework/node_info.h"
#include "preemption/cost.h"

namespace berth::preemption {

enum class TrialState : uint8_t {
  kNoNode,
  kUnknown,    // to be tried
  kFailed,     // whoever goes, the pod does not fit
  kHarmless,   // evicting pods makes room and violates no budget
  kViolating,  // it does
};

// Of a number of nodes.
struct TrialSum {
  uint32_t unknown = 0;
  uint32_t harmless = 0;
  uint32_t violating = 0;
  uint32_t ties = 0;  // harmless ones that cost `lowest`
  Cost lowest;        // of the harmless ones

  void Add(const TrialSum& other) {
    unknown += other.unknown;
    violating += other.violating;
    if (other.harmless != 0) {
      if (harmless == 0 || other.lowest < lowest) {
        lowest = other.lowest;
        ties = other.ties;
      } else if (other.lowest == lowest) {
        ties += other.ties;
      }
    }
    harmless += other.harmless;
  }
  void Add(TrialState state, const Cost& cost) {
    if (state == TrialState::kHarmless) return Add(TrialSum{0, 1, 0, 1, cost});
    unknown += state == TrialState::kUnknown;
    violating += state == TrialState::kViolating;
  }
};

class TrialSums {
 public:
  static constexpr size_t kBlock = 64;
  static constexpr size_t kRegion = 64 * kBlock;

  // Forgets everything.
  void Reset(size_t nodes) {
    states_.assign(nodes, TrialState::kNoNode);
    blocks_.assign((nodes + kBlock - 1) / kBlock, {});
    regions_.assign((nodes + kRegion - 1) / kRegion, {});
  }
  size_t nodes() const { return states_.size(); }

  TrialState state(framework::NodeIndex node) const { return states_[node]; }
  // The state, or the cost, of the node has changed.
  void Set(framework::NodeIndex node, TrialState state) {
    states_[node] = state;
    blocks_[node / kBlock].current = false;
    regions_[node / kRegion].current = false;
  }

  // Of the nodes [64 * block, 64 * block + 64); `cost_of(node)` is asked for harmless ones.
  template <class CostOf>
  const TrialSum& Block(size_t block, CostOf&& cost_of) {
    Kept& kept = blocks_[block];
    if (kept.current) return kept.sum;
    kept = {true, {}};
    const size_t end = std::min(states_.size(), (block + 1) * kBlock);
    for (size_t node = block * kBlock; node < end; ++node) {
      const TrialState state = states_[node];
      kept.sum.Add(state, state == TrialState::kHarmless ? cost_of(static_cast<framework::NodeIndex>(node)) : Cost());
    }
    return kept.sum;
  }
  template <class CostOf>
  const TrialSum& Region(size_t region, CostOf&& cost_of) {
    Kept& kept = regions_[region];
    if (kept.current) return kept.sum;
    kept = {true, {}};
    const size_t end = std::min(blocks_.size(), (region + 1) * (kRegion / kBlock));
    for (size_t block = region * (kRegion / kBlock); block < end; ++block) kept.sum.Add(Block(block, cost_of));
    return kept.sum;
  }

 private:
  struct Kept {
    bool current = false;
    TrialSum sum;
  };

  std::vector<TrialState> states_;  // by node index
  std::vector<Kept> blocks_;
  std::vector<Kept> regions_;
};

}  // namespace berth::preemption
