// Hold: a Permit plugin that makes some pods wait. What becomes of them is said by their label (plan.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/loop.h"
#include "framework/registry.h"

namespace berth::storm {

inline constexpr std::string_view kHoldName = "Hold";

// The plugins of `berth scheduler`, and Hold. `answers` is the thread that allows and rejects; without one nobody does,
// as in a replay, which is told the answers. It outlives the plugins.
framework::Registry PluginsWithHold(base::Loop* answers, uint64_t seed);

}  // namespace berth::storm
