#include "plugins/score_columns.h"

#include <limits>

#include "base/vectorize.h"

namespace berth::plugins {
namespace {

BERTH_VECTORIZE ScoreSpan FindSpan(const uint8_t* feasible, const int64_t* scores, size_t count) {
  int64_t lowest = std::numeric_limits<int64_t>::max();
  int64_t highest = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < count; ++i) {
    const int64_t low = feasible[i] ? scores[i] : std::numeric_limits<int64_t>::max();
    const int64_t high = feasible[i] ? scores[i] : std::numeric_limits<int64_t>::min();
    lowest = low < lowest ? low : lowest;
    highest = high > highest ? high : highest;
  }
  return {lowest, highest};
}

}  // namespace

ScoreSpan SpanOf(std::span<const uint8_t> feasible, std::span<const int64_t> scores) {
  return FindSpan(feasible.data(), scores.data(), scores.size());
}

BERTH_VECTORIZE void AddByDomain(const int32_t* domains, const int64_t* sums, std::span<int64_t> scores) {
  int64_t* const out = scores.data();
  const size_t count = scores.size();
  for (size_t i = 0; i < count; ++i) out[i] += sums[domains[i] + 1];
}

void LookUpPoints(std::span<const uint8_t> feasible, int64_t lowest, std::span<const uint8_t> table,
                  std::span<const int64_t> scores, std::span<uint8_t> points) {
  // No jump: infeasible nodes look at the first entry too.
  for (size_t i = 0; i < scores.size(); ++i) {
    const uint8_t found = table[static_cast<size_t>(feasible[i] ? scores[i] - lowest : 0)];
    points[i] = feasible[i] ? found : 0;
  }
}

}  // namespace berth::plugins
