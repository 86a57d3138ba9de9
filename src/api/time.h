// Points in time and durations in the spellings the API and its configuration use: RFC 3339 and Go's "1h2m3.5s".
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace berth::api {

using base::Duration;
using base::Time;

// A time the API prints with microseconds (leases, events); elsewhere it prints whole seconds.
struct MicroTime {
  Time time;

  friend auto operator<=>(const MicroTime&, const MicroTime&) = default;
};

// Represents every date that is too early for a Time. A whole second, unlike Time::min(), so that printing can round it
// down to one.
inline constexpr Time kEarliestTime{std::chrono::duration_cast<std::chrono::seconds>(Duration::min())};

// RFC 3339 with any zone and any number of fractional digits (kept to nanoseconds). A well-formed date outside the
// years 1678..2261 becomes the earliest or latest Time instead of an error: an object must not be unreadable because of
// a remote date that is never used.
Result<Time> ParseTime(std::string_view text);
Result<MicroTime> ParseMicroTime(std::string_view text);

std::string FormatTime(Time time);            // 2024-01-01T00:00:00Z
std::string FormatMicroTime(MicroTime time);  // 2024-01-01T00:00:00.000000Z

// Go's time.ParseDuration and time.Duration.String().
Result<Duration> ParseDuration(std::string_view text);
std::string FormatDuration(Duration duration);

}  // namespace berth::api
