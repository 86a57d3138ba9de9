// Suggestions for misspelt words ("did you mean").
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace berth::base {

// Edit distance, case-insensitive: letters changed, added, dropped, or swapped with their neighbour.
// Zero for equal words.
size_t EditDistance(std::string_view a, std::string_view b);

// The nearest candidate, the first among equals; empty when none is near enough to suggest.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace berth::base
