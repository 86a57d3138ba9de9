// Passes over a column of scores, for plugins with a rule of their own for bringing them into 0..100.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::plugins {

struct ScoreSpan {
  int64_t lowest;   // very large when no node is feasible
  int64_t highest;  // very small then
};
// Over feasible nodes.
ScoreSpan SpanOf(std::span<const uint8_t> feasible, std::span<const int64_t> scores);

// scores[i] = table[scores[i] - lowest] for feasible nodes, 0 for the others.
void LookUpScores(std::span<const uint8_t> feasible, int64_t lowest, std::span<const int64_t> table,
                  std::span<int64_t> scores);

// rule(score) in the place of every score; `span` is theirs. Raw scores are few and close together as a rule: each is
// worked out once then.
template <class Rule>
void ReplaceScores(std::span<const uint8_t> feasible, const ScoreSpan& span, std::span<int64_t> scores, Rule&& rule) {
  if (span.lowest <= span.highest && static_cast<uint64_t>(span.highest - span.lowest) < scores.size()) {
    std::vector<int64_t> table;
    table.reserve(static_cast<size_t>(span.highest - span.lowest) + 1);
    for (int64_t score = span.lowest; score <= span.highest; ++score) table.push_back(rule(score));
    LookUpScores(feasible, span.lowest, table, scores);
    return;
  }
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = feasible[i] ? rule(scores[i]) : 0;
}

}  // namespace berth::plugins
