#include "plugins/normalize_score.h"

#include <algorithm>

namespace berth::plugins {

void NormalizeByHighest(std::span<framework::NodeScore> scores, ScoreOrder order, int64_t max) {
  int64_t highest = 0;
  for (const framework::NodeScore& entry : scores) highest = std::max(highest, entry.score);
  const bool reverse = order == ScoreOrder::kLowerIsBetter;
  if (highest == 0) {
    // Without a single point there is no proportion; "nobody has anything against it" is the best there is.
    if (reverse) {
      for (framework::NodeScore& entry : scores) entry.score = max;
    }
    return;
  }
  for (framework::NodeScore& entry : scores) {
    const int64_t scaled = max * entry.score / highest;
    entry.score = reverse ? max - scaled : scaled;
  }
}

}  // namespace berth::plugins
