// The usual way of bringing raw scores into 0..100: in proportion to the highest one.
#pragma once

#include <span>

#include "framework/plugin.h"

namespace berth::plugins {

enum class ScoreOrder {
  kHigherIsBetter,
  kLowerIsBetter,  // the highest raw score gets 0; if all are zero, all get `max`
};

void NormalizeByHighest(std::span<framework::NodeScore> scores, ScoreOrder order,
                        int64_t max = framework::kMaxNodeScore);

}  // namespace berth::plugins
