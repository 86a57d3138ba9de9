#include "engine/top_totals.h"

#include <algorithm>

#include "base/check.h"
#include "base/vectorize.h"

namespace berth::engine {

using framework::NodeIndex;

namespace {

constexpr size_t RoundUp(size_t count, size_t step) { return (count + step - 1) / step; }

}  // namespace

BERTH_VECTORIZE int32_t HighestOf(const int32_t* totals, size_t count) {
  int32_t highest = TopTotals::kNone;
  for (size_t i = 0; i < count; ++i) highest = totals[i] > highest ? totals[i] : highest;
  return highest;
}
BERTH_VECTORIZE size_t CountEqual(const int32_t* totals, size_t count, int32_t value) {
  uint32_t equal = 0;
  for (size_t i = 0; i < count; ++i) equal += totals[i] == value;
  return equal;
}

void TopTotals::Grow(size_t slots) {
  const size_t blocks = RoundUp(slots, kSpan);
  if (blocks <= blocks_.size()) return;
  totals_.resize(blocks * kSpan, kNone);
  blocks_.resize(blocks);
  regions_.resize(RoundUp(blocks, kSpan));
  stale_.assign(regions_.size(), 1);
}

void TopTotals::Recount(size_t block) {
  const int32_t* const totals = totals_.data() + block * kSpan;
  const int32_t highest = HighestOf(totals, kSpan);
  blocks_[block] = {highest, highest == kNone ? 0 : static_cast<uint32_t>(CountEqual(totals, kSpan, highest))};
}

void TopTotals::Refresh() {
  bool changed = false;
  for (size_t region = 0; region < regions_.size(); ++region) {
    if (!stale_[region]) continue;
    stale_[region] = 0;
    changed = true;
    Peak peak;
    const size_t end = std::min(blocks_.size(), (region + 1) * kSpan);
    for (size_t block = region * kSpan; block < end; ++block) {
      if (blocks_[block].ties == 0 && blocks_[block].highest != kNone) Recount(block);
      const Peak& here = blocks_[block];
      if (here.highest > peak.highest) {
        peak = here;
      } else if (here.highest == peak.highest) {
        peak.ties += here.ties;
      }
    }
    regions_[region] = peak;
  }
  if (!changed) return;
  top_ = {};
  for (const Peak& region : regions_) {
    if (region.highest > top_.highest) {
      top_ = region;
    } else if (region.highest == top_.highest) {
      top_.ties += region.ties;
    }
  }
}

NodeIndex TopTotals::Tie(size_t nth) {
  Refresh();
  CHECK(nth < top_.ties);
  const auto skip = [&](const std::vector<Peak>& peaks, size_t at) {
    for (;; ++at) {
      if (peaks[at].highest != top_.highest) continue;
      if (nth < peaks[at].ties) return at;
      nth -= peaks[at].ties;
    }
  };
  const size_t block = skip(blocks_, skip(regions_, 0) * kSpan);
  for (size_t node = block * kSpan;; ++node) {
    if (totals_[node] == top_.highest && nth-- == 0) return static_cast<NodeIndex>(node);
  }
}

}  // namespace berth::engine
