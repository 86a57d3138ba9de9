// Durations, RFC 3339 times and time zones, read and printed as Go does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cel {

struct TimestampObject;

inline constexpr int64_t kMinUnixTime = -62135596800;
inline constexpr int64_t kMaxUnixTime = 253402300799;

// "1h30m", "-1.5s". False for anything else.
bool ParseDuration(std::string_view text, int64_t* nanos);
bool ParseRfc3339(std::string_view text, TimestampObject* time);
// With as many fractional digits as needed, in the zone the time was written in.
std::string FormatRfc3339(const TimestampObject& time);
// "3723.5s"
std::string FormatDurationSeconds(int64_t nanos);

struct CivilTime {
  int64_t year;
  int month;  // 1..12
  int day;    // 1..31
  int hour;
  int minute;
  int second;
  int weekday;   // 0 is Sunday
  int year_day;  // 0..365
};
CivilTime ToCivil(int64_t seconds);
int64_t FromCivil(int64_t year, int month, int day);  // days since 1970

// Offset east of UTC, in seconds, at an instant: "Europe/Berlin", "+02:00", "UTC", "".
Result<int64_t> ZoneOffset(std::string_view zone, int64_t seconds);

}  // namespace berth::cel
