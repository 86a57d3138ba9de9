// TrialSums: the outcomes of trials, summed over blocks of 16 nodes, of 16 times 16 and so on, so that the cheapest of
// thousands of consecutive candidates is found without looking at each.
// A stale block is recomputed on demand. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "framework/node_info.h"
#include "preemption/cost.h"

namespace berth::preemption {

enum class TrialState : uint8_t {
  kNoNode,
  kUnknown,    // not tried yet
  kFailed,     // the pod does not fit whichever pods are evicted
  kHarmless,   // evicting pods makes room and violates no budget
  kViolating,  // evicting pods makes room but violates a budget
};

// The sum over some nodes.
struct TrialSum {
  uint32_t unknown = 0;
  uint32_t harmless = 0;
  uint32_t violating = 0;
  uint32_t ties = 0;  // harmless nodes that cost `lowest`
  Cost lowest;        // of the harmless nodes

  void Add(const TrialSum& other) {
    unknown += other.unknown;
    violating += other.violating;
    if (other.harmless != 0) AddHarmless(other.harmless, other.ties, other.lowest);
  }
  void AddHarmless(uint32_t count, uint32_t of_them_lowest, const Cost& cost) {
    if (harmless == 0 || cost < lowest) {
      lowest = cost;
      ties = of_them_lowest;
    } else if (cost == lowest) {
      ties += of_them_lowest;
    }
    harmless += count;
  }
};

class TrialSums {
 public:
  // Nodes per block of the lowest level; and blocks of a level per block of the next.
  static constexpr size_t kFan = 16;
  static constexpr size_t kLevels = 4;
  static constexpr size_t NodesOf(size_t level) { return size_t{1} << (4 * (level + 1)); }

  // Forgets everything.
  void Reset(size_t nodes) {
    states_.assign(nodes, TrialState::kNoNode);
    for (size_t level = 0; level < kLevels; ++level) {
      levels_[level].assign((nodes + NodesOf(level) - 1) / NodesOf(level), Stale());
    }
  }
  size_t nodes() const { return states_.size(); }

  TrialState state(framework::NodeIndex node) const { return states_[node]; }
  // The state or the cost of the node has changed.
  void Set(framework::NodeIndex node, TrialState state) {
    states_[node] = state;
    for (size_t level = 0; level < kLevels; ++level) {
      TrialSum& sum = levels_[level][node / NodesOf(level)];
      // Every block that contains a stale one is stale already.
      if (IsStale(sum)) return;
      sum = Stale();
    }
  }

  // The sum over the nodes [NodesOf(level) * block, NodesOf(level) * (block + 1)); calls `cost_of(node)` for harmless
  // ones.
  template <class CostOf>
  const TrialSum& Block(size_t level, size_t block, CostOf&& cost_of) {
    TrialSum& sum = levels_[level][block];
    if (!IsStale(sum)) return sum;
    sum = {};
    const size_t count = level == 0 ? states_.size() : levels_[level - 1].size();
    const size_t end = std::min(count, (block + 1) * kFan);
    for (size_t i = block * kFan; i < end; ++i) {
      if (level != 0) {
        sum.Add(Block(level - 1, i, cost_of));
      } else if (const TrialState state = states_[i]; state == TrialState::kHarmless) {
        sum.AddHarmless(1, 1, cost_of(static_cast<framework::NodeIndex>(i)));
      } else {
        sum.unknown += state == TrialState::kUnknown;
        sum.violating += state == TrialState::kViolating;
      }
    }
    return sum;
  }

 private:
  static constexpr uint32_t kStale = std::numeric_limits<uint32_t>::max();
  static bool IsStale(const TrialSum& sum) { return sum.unknown == kStale; }
  static TrialSum Stale() {
    TrialSum sum;
    sum.unknown = kStale;
    return sum;
  }

  std::vector<TrialState> states_;  // by node index
  std::vector<TrialSum> levels_[kLevels];
};

}  // namespace berth::preemption
