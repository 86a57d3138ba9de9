#include "framework/normalize_score.h"

#include <algorithm>

#include "base/check.h"

namespace berth::framework {

int64_t Normalize(Normalization rule, int64_t raw, int64_t highest) {
  if (rule == Normalization::kNone) return raw;
  CHECK_WHY(rule != Normalization::kOwn, "a plugin with a rule of its own must bring it");
  const bool reversed = rule == Normalization::kByMaximumReversed;
  // When every raw score is 0 there is no proportion to compute; reversed, "no objection" is the best score.
  if (highest == 0) return reversed ? kMaxNodeScore : raw;
  const int64_t scaled = kMaxNodeScore * raw / highest;
  return reversed ? kMaxNodeScore - scaled : scaled;
}

Status ScorePlugin::NormalizeScore(const CycleState&, const PodInfo&, std::span<NodeScore> scores) const {
  int64_t highest = 0;
  for (const NodeScore& entry : scores) highest = std::max(highest, entry.score);
  for (NodeScore& entry : scores) entry.score = Normalize(normalization(), entry.score, highest);
  return Status::Success();
}

bool ScorePlugin::NormalizeRange(const CycleState&, const PodInfo&, std::span<const uint8_t> feasible,
                                 std::span<const int64_t> scores, std::span<uint8_t> points) const {
  const Normalization rule = normalization();
  if (rule == Normalization::kOwn) return false;
  int64_t highest = 0;
  for (size_t i = 0; i < scores.size(); ++i) highest = std::max(highest, feasible[i] ? scores[i] : 0);
  bool in_range = true;
  for (size_t i = 0; i < scores.size(); ++i) {
    const int64_t score = feasible[i] ? Normalize(rule, scores[i], highest) : 0;
    in_range &= score >= kMinNodeScore && score <= kMaxNodeScore;
    points[i] = static_cast<uint8_t>(score);
  }
  return in_range;
}

}  // namespace berth::framework
