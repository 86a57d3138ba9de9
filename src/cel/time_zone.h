// Named time zones, read from the system's zone database on demand.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace berth::cel {

// Offset east of UTC in seconds at an instant. Thread-safe; a zone is read once.
Result<int64_t> NamedZoneOffset(std::string_view name, int64_t seconds);

}  // namespace berth::cel
