// Times as they stand in messages: nanoseconds since 1970, as a varint.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace berth::replay {

inline uint64_t CountOf(base::Time time) { return static_cast<uint64_t>(time.time_since_epoch().count()); }
inline base::Time TimeOf(uint64_t count) { return base::Time(base::Duration(static_cast<int64_t>(count))); }

}  // namespace berth::replay
