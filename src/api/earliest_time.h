// What stands for every date that is too far back for a Time.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace berth::api {

// A whole second, unlike Time::min(), so that it can be rounded down to one: that is what printing does.
inline constexpr base::Time kEarliestTime{std::chrono::duration_cast<std::chrono::seconds>(base::Duration::min())};

}  // namespace berth::api
