// TopTotals: the total score of each node, and the highest total with the nodes that have it.
//
// Catching up with a change writes one total and one entry of a small table (see Peaks), and both stay in the cache
// even with many lanes: cache misses, not the number of steps, dominate the cost.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/peaks.h"
#include "framework/node_info.h"

namespace berth::engine {

// Over a plain array of totals; the lowest int32_t when it is empty.
int32_t HighestOf(const int32_t* totals, size_t count);
size_t CountEqual(const int32_t* totals, size_t count, int32_t value);

class TopTotals {
 public:
  // The total of a node that has none.
  static constexpr int32_t kNone = Peaks::kNone;

  // Drops everything.
  void Reset(size_t slots) {
    totals_.clear();
    peaks_.Clear();
    Grow(slots);
  }
  // Makes room for more nodes.
  void Grow(size_t slots);

  // Adds the node, or changes its total.
  void Set(framework::NodeIndex node, int32_t total) {
    int32_t& place = totals_[node];
    if (place == total) return;
    peaks_.Change(node, place, total);
    place = total;
  }
  void Remove(framework::NodeIndex node) { Set(node, kNone); }
  void Prefetch(framework::NodeIndex node) const { __builtin_prefetch(&totals_[node]); }

  // kNone when there is no node.
  int32_t highest() { return Top().highest; }
  // How many nodes have the highest total.
  size_t ties() { return Top().ties; }
  // The nth of them.
  framework::NodeIndex Tie(size_t nth);
  // The total of one node; kNone when it has none.
  int32_t total(framework::NodeIndex node) const { return totals_[node]; }

 private:
  const Peaks::Peak& Top();

  std::vector<int32_t> totals_;  // by node index, up to a whole number of blocks
  Peaks peaks_;
};

}  // namespace berth::engine
