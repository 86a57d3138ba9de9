// TopTotals: the total score of each node, with the highest and the nodes that have it at hand.
//
// Catching up with a change writes one total and one entry of a small table, and both stay in the cache even when there
// are many lanes: that, and not the number of steps, is what it costs. Blocks of 64 nodes know their highest total and
// how many have it; so do regions of 64 blocks. What a change leaves in doubt is looked at again when somebody asks.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "framework/node_info.h"

namespace berth::engine {

// Over a plain array of totals; the lowest there is when it is empty.
int32_t HighestOf(const int32_t* totals, size_t count);
size_t CountEqual(const int32_t* totals, size_t count, int32_t value);

class TopTotals {
 public:
  // Nodes without a total are not in it.
  static constexpr int32_t kNone = std::numeric_limits<int32_t>::min();

  // Forgets everything.
  void Reset(size_t slots) {
    totals_.clear();
    blocks_.clear();
    regions_.clear();
    Grow(slots);
  }
  // Room for more nodes.
  void Grow(size_t slots);

  // Adds the node, or changes its total.
  void Set(framework::NodeIndex node, int32_t total) {
    int32_t& place = totals_[node];
    if (place == total) return;
    Peak& block = blocks_[node / kSpan];
    if (total > block.highest) {
      block = {total, 1};
    } else {
      if (place == block.highest) --block.ties;
      if (total == block.highest) ++block.ties;
    }
    place = total;
    stale_[node / (kSpan * kSpan)] = 1;
  }
  void Remove(framework::NodeIndex node) { Set(node, kNone); }
  void Prefetch(framework::NodeIndex node) const { __builtin_prefetch(&totals_[node]); }

  // kNone when there is no node.
  int32_t highest() {
    Refresh();
    return top_.highest;
  }
  // How many nodes have the highest total.
  size_t ties() {
    Refresh();
    return top_.ties;
  }
  // One of them, by position among them.
  framework::NodeIndex Tie(size_t nth);
  // Of one node; kNone when it is not in it.
  int32_t total(framework::NodeIndex node) const { return totals_[node]; }

 private:
  static constexpr size_t kSpan = 64;
  struct Peak {
    int32_t highest = kNone;
    uint32_t ties = 0;  // 0: to be counted again, unless nobody is here
  };

  void Refresh();
  void Recount(size_t block);

  std::vector<int32_t> totals_;  // by node index, up to a whole number of blocks
  std::vector<Peak> blocks_;
  std::vector<Peak> regions_;
  std::vector<uint8_t> stale_;  // by region
  Peak top_;
};

}  // namespace berth::engine
