// What somebody may have meant by a word that is not known.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace berth::base {

// How many letters must be changed, added, dropped or swapped with their neighbour to get from one to the other; case
// does not count.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate that is nearest, the first of several; empty when all are so far off that naming one would mislead.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace berth::base
