// Passes over a column of scores, for plugins that answer by topology domain or have their own rule for scaling scores
// to 0..100.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::plugins {

struct ScoreSpan {
  int64_t lowest;   // very large when no node is feasible
  int64_t highest;  // very small when no node is feasible
};
// Over feasible nodes.
ScoreSpan SpanOf(std::span<const uint8_t> feasible, std::span<const int64_t> scores);

// scores[i] += sums[domains[i] + 1]
void AddByDomain(const int32_t* domains, const int64_t* sums, std::span<int64_t> scores);

// points[i] = table[scores[i] - lowest] for feasible nodes, 0 for the others.
void LookUpPoints(std::span<const uint8_t> feasible, int64_t lowest, std::span<const uint8_t> table,
                  std::span<const int64_t> scores, std::span<uint8_t> points);

// points[i] = rule(scores[i]) for feasible nodes, whose scores have that span, and 0 for the others. False when one is
// out of 0..100. Usually there are few raw scores, close together: each is then computed once.
template <class Rule>
bool PointsFromScores(std::span<const uint8_t> feasible, const ScoreSpan& span, std::span<const int64_t> scores,
                      std::span<uint8_t> points, Rule&& rule) {
  bool in_range = true;
  const auto checked = [&](int64_t score) {
    const int64_t value = rule(score);
    in_range &= value >= 0 && value <= 100;
    return static_cast<uint8_t>(value);
  };
  if (span.lowest <= span.highest && static_cast<uint64_t>(span.highest - span.lowest) < scores.size()) {
    std::vector<uint8_t> table;
    table.reserve(static_cast<size_t>(span.highest - span.lowest) + 1);
    for (int64_t score = span.lowest; score <= span.highest; ++score) table.push_back(checked(score));
    LookUpPoints(feasible, span.lowest, table, scores, points);
  } else {
    for (size_t i = 0; i < scores.size(); ++i) points[i] = feasible[i] ? checked(scores[i]) : 0;
  }
  return in_range;
}

}  // namespace berth::plugins
