// The shared rules for scaling raw scores to 0..100, in proportion to the highest.
#pragma once

#include <cstdint>

#include "framework/plugin.h"

namespace berth::framework {

// One score, when `highest` is the highest raw score of all feasible nodes (not below 0). Not for kOwn.
int64_t Normalize(Normalization rule, int64_t raw, int64_t highest);

}  // namespace berth::framework
