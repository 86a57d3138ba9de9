// Peaks: the highest of many totals and how many nodes have it, by block of 64 nodes and by region of 64 blocks, so
// that a change updates one entry of a small table. A block that has lost its last best node, or a stale region, is
// recomputed on demand. The totals themselves belong to the owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "framework/node_info.h"

namespace berth::engine {

class Peaks {
 public:
  static constexpr size_t kSpan = 64;
  // The total of a node that does not take part.
  static constexpr int32_t kNone = std::numeric_limits<int32_t>::min();

  struct Peak {
    int32_t highest = kNone;
    uint32_t ties = 0;  // of a block: 0 means that it must be recounted, unless it has no nodes

    void Join(const Peak& other) {
      if (other.highest > highest) {
        *this = other;
      } else if (other.highest == highest) {
        ties += other.ties;
      }
    }
  };

  // Makes room for more blocks; new ones have no nodes.
  void Grow(size_t blocks) {
    if (blocks <= blocks_.size()) return;
    blocks_.resize(blocks);
    regions_.resize((blocks + kSpan - 1) / kSpan);
    stale_.assign(regions_.size(), 1);
    any_stale_ = true;
  }
  void Clear() { *this = Peaks(); }

  // The node's total was `before` and is `now`.
  void Change(framework::NodeIndex node, int32_t before, int32_t now) {
    Peak& block = blocks_[node / kSpan];
    if (now > block.highest) {
      block = {now, 1};
    } else {
      if (before == block.highest) --block.ties;
      if (now == block.highest) ++block.ties;
    }
    stale_[node / (kSpan * kSpan)] = 1;
    any_stale_ = true;
  }

  // The peak over all nodes. `recount(block)` computes the peak of a block from its totals.
  template <class Recount>
  const Peak& Top(Recount&& recount) {
    if (any_stale_) Refresh(recount);
    return top_;
  }
  // As Top left them.
  const std::vector<Peak>& blocks() const { return blocks_; }
  const std::vector<Peak>& regions() const { return regions_; }

 private:
  template <class Recount>
  void Refresh(Recount&& recount) {
    any_stale_ = false;
    for (size_t region = 0; region < regions_.size(); ++region) {
      if (!stale_[region]) continue;
      stale_[region] = 0;
      Peak peak;
      const size_t end = std::min(blocks_.size(), (region + 1) * kSpan);
      for (size_t block = region * kSpan; block < end; ++block) {
        if (blocks_[block].ties == 0 && blocks_[block].highest != kNone) blocks_[block] = recount(block);
        peak.Join(blocks_[block]);
      }
      regions_[region] = peak;
    }
    top_ = {};
    for (const Peak& region : regions_) top_.Join(region);
  }

  std::vector<Peak> blocks_;
  std::vector<Peak> regions_;
  std::vector<uint8_t> stale_;  // by region
  bool any_stale_ = false;
  Peak top_;
};

}  // namespace berth::engine
