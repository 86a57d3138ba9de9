#include "base/spelling.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ascii.h"

namespace berth::base {

namespace {

// The work grows with the product of the lengths, and words come from outside.
constexpr size_t kLongestWord = 64;

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  const auto same = [&](size_t i, size_t j) { return LowerCase(a[i]) == LowerCase(b[j]); };
  // Three rows of the table at a time: a swap looks two rows back.
  std::vector<size_t> older(b.size() + 1), old(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(older, old);
    std::swap(old, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({old[j - 1] + (same(i - 1, j - 1) ? 0 : 1), old[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) row[j] = std::min(row[j], older[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string_view nearest;
  // With more than a third of the letters wrong it is a different word.
  size_t distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    const size_t here = EditDistance(word, candidate);
    // A candidate that shares no letter with a short word is no misspelling of it.
    if (here >= distance || here >= std::max(word.size(), candidate.size())) continue;
    nearest = candidate;
    distance = here;
  }
  return nearest;
}

}  // namespace berth::base
