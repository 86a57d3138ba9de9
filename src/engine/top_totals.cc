#include "engine/top_totals.h"

#include "base/check.h"
#include "base/vectorize.h"

namespace berth::engine {

using framework::NodeIndex;

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
  const size_t blocks = (slots + Peaks::kSpan - 1) / Peaks::kSpan;
  if (blocks * Peaks::kSpan > totals_.size()) totals_.resize(blocks * Peaks::kSpan, kNone);
  peaks_.Grow(blocks);
}

const Peaks::Peak& TopTotals::Top() {
  return peaks_.Top([this](size_t block) {
    const int32_t* const totals = totals_.data() + block * Peaks::kSpan;
    const int32_t highest = HighestOf(totals, Peaks::kSpan);
    const size_t ties = highest == kNone ? 0 : CountEqual(totals, Peaks::kSpan, highest);
    return Peaks::Peak{highest, static_cast<uint32_t>(ties)};
  });
}

NodeIndex TopTotals::Tie(size_t nth) {
  const Peaks::Peak top = Top();
  CHECK(nth < top.ties);
  const auto skip = [&](const std::vector<Peaks::Peak>& peaks, size_t at) {
    for (;; ++at) {
      if (peaks[at].highest != top.highest) continue;
      if (nth < peaks[at].ties) return at;
      nth -= peaks[at].ties;
    }
  };
  const size_t block = skip(peaks_.blocks(), skip(peaks_.regions(), 0) * Peaks::kSpan);
  for (size_t node = block * Peaks::kSpan;; ++node) {
    if (totals_[node] == top.highest && nth-- == 0) return static_cast<NodeIndex>(node);
  }
}

}  // namespace berth::engine
