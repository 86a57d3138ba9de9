#include "plugins/score_columns.h"

#include <cstring>
#include <limits>

#include "base/vectorize.h"

namespace berth::plugins {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

BERTH_VECTORIZE ScoreSpan SpanOfAll(const int64_t* scores, size_t count) {
  int64_t lowest = kHighest;
  int64_t highest = kLowest;
  for (size_t i = 0; i < count; ++i) {
    lowest = scores[i] < lowest ? scores[i] : lowest;
    highest = scores[i] > highest ? scores[i] : highest;
  }
  return {lowest, highest};
}

BERTH_VECTORIZE ScoreSpan SpanOfMarked(const uint8_t* marks, const int64_t* scores, size_t count) {
  int64_t lowest = kHighest;
  int64_t highest = kLowest;
  for (size_t i = 0; i < count; ++i) {
    const int64_t low = marks[i] ? scores[i] : kHighest;
    const int64_t high = marks[i] ? scores[i] : kLowest;
    lowest = low < lowest ? low : lowest;
    highest = high > highest ? high : highest;
  }
  return {lowest, highest};
}

// Often all nodes are feasible, and checking the marks one by one is half of the work.
bool AllMarked(std::span<const uint8_t> marks) { return std::memchr(marks.data(), 0, marks.size()) == nullptr; }

}  // namespace

ScoreSpan SpanOf(std::span<const uint8_t> feasible, std::span<const int64_t> scores) {
  return AllMarked(feasible) ? SpanOfAll(scores.data(), scores.size())
                             : SpanOfMarked(feasible.data(), scores.data(), scores.size());
}

BERTH_VECTORIZE void AddByDomain(const int32_t* domains, const int64_t* sums, std::span<int64_t> scores) {
  int64_t* const out = scores.data();
  const size_t count = scores.size();
  for (size_t i = 0; i < count; ++i) out[i] += sums[domains[i] + 1];
}

void LookUpPoints(std::span<const uint8_t> feasible, int64_t lowest, std::span<const uint8_t> table,
                  std::span<const int64_t> scores, std::span<uint8_t> points) {
  if (AllMarked(feasible)) {
    for (size_t i = 0; i < scores.size(); ++i) points[i] = table[static_cast<size_t>(scores[i] - lowest)];
    return;
  }
  // No branch: infeasible nodes read the first entry too.
  for (size_t i = 0; i < scores.size(); ++i) {
    const uint8_t found = table[static_cast<size_t>(feasible[i] ? scores[i] - lowest : 0)];
    points[i] = feasible[i] ? found : 0;
  }
}

}  // namespace berth::plugins
