#include "cel/time.h"

#include <fmt/format.h>

#include <cmath>

#include "cel/go_text.h"
#include "cel/time_zone.h"
#include "cel/value.h"

namespace berth::cel {
namespace {

constexpr uint64_t kDurationLimit = uint64_t{1} << 63;

bool ReadUnit(std::string_view& text, uint64_t* unit) {
  size_t length = 0;
  while (length < text.size() && text[length] != '.' && (text[length] < '0' || text[length] > '9')) ++length;
  const std::string_view name = text.substr(0, length);
  text.remove_prefix(length);
  if (name == "ns")
    *unit = 1;
  else if (name == "us" || name == "\u00B5s" || name == "\u03BCs")
    *unit = 1000;
  else if (name == "ms")
    *unit = 1000000;
  else if (name == "s")
    *unit = 1000000000;
  else if (name == "m")
    *unit = 60000000000;
  else if (name == "h")
    *unit = 3600000000000;
  else
    return false;
  return true;
}

// Whole digits of a number; false when they exceed 2^63.
bool ReadWhole(std::string_view& text, uint64_t* value) {
  *value = 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    if (*value > kDurationLimit / 10) return false;
    *value = *value * 10 + static_cast<uint64_t>(text[0] - '0');
    if (*value > kDurationLimit) return false;
    text.remove_prefix(1);
  }
  return true;
}

// Digits after the point; those that would overflow are dropped.
void ReadFraction(std::string_view& text, uint64_t* value, double* scale) {
  *value = 0;
  *scale = 1;
  bool overflow = false;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    const uint64_t digit = static_cast<uint64_t>(text[0] - '0');
    text.remove_prefix(1);
    if (overflow) continue;
    if (*value > (kDurationLimit - 1) / 10 || *value * 10 + digit > kDurationLimit) {
      overflow = true;
      continue;
    }
    *value = *value * 10 + digit;
    *scale *= 10;
  }
}

int DaysIn(int64_t year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// Two or four digits.
bool ReadDigits(std::string_view& text, size_t count, int* value) {
  if (text.size() < count) return false;
  *value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    *value = *value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool Skip(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

bool ReadOffset(std::string_view& text, int* offset) {
  if (Skip(text, 'Z')) {
    *offset = 0;
    return true;
  }
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  const int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0, minutes = 0;
  if (!ReadDigits(text, 2, &hours) || !Skip(text, ':') || !ReadDigits(text, 2, &minutes)) return false;
  if (hours > 24 || minutes > 60) return false;
  *offset = sign * (hours * 3600 + minutes * 60);
  return true;
}

}  // namespace

bool ParseDuration(std::string_view text, int64_t* nanos) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  *nanos = 0;
  if (text == "0") return true;
  if (text.empty()) return false;
  uint64_t total = 0;
  while (!text.empty()) {
    if (text[0] != '.' && (text[0] < '0' || text[0] > '9')) return false;
    const size_t before = text.size();
    uint64_t whole = 0, fraction = 0, unit = 0;
    double scale = 1;
    if (!ReadWhole(text, &whole)) return false;
    const bool has_whole = text.size() != before;
    bool has_fraction = false;
    if (Skip(text, '.')) {
      const size_t point = text.size();
      ReadFraction(text, &fraction, &scale);
      has_fraction = text.size() != point;
    }
    if (!has_whole && !has_fraction) return false;
    if (!ReadUnit(text, &unit)) return false;
    if (whole > kDurationLimit / unit) return false;
    whole *= unit;
    if (fraction > 0) {
      whole += static_cast<uint64_t>(static_cast<double>(fraction) * (static_cast<double>(unit) / scale));
      if (whole > kDurationLimit) return false;
    }
    total += whole;
    if (total > kDurationLimit) return false;
  }
  if (!negative && total > kDurationLimit - 1) return false;
  *nanos = static_cast<int64_t>(negative ? 0 - total : total);
  return true;
}

bool ParseRfc3339(std::string_view text, TimestampObject* time) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offset = 0;
  if (!ReadDigits(text, 4, &year) || !Skip(text, '-') || !ReadDigits(text, 2, &month) || !Skip(text, '-') ||
      !ReadDigits(text, 2, &day) || !Skip(text, 'T')) {
    return false;
  }
  // Go also accepts a single digit for the hour.
  if (!ReadDigits(text, 2, &hour) && !ReadDigits(text, 1, &hour)) return false;
  if (!Skip(text, ':') || !ReadDigits(text, 2, &minute) || !Skip(text, ':') || !ReadDigits(text, 2, &second)) {
    return false;
  }
  int64_t nanos = 0;
  if (!text.empty() && (text[0] == '.' || text[0] == ',')) {
    text.remove_prefix(1);
    if (text.empty() || text[0] < '0' || text[0] > '9') return false;
    int64_t unit = 100000000;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), unit /= 10) {
      nanos += (text[0] - '0') * unit;
    }
  }
  if (!ReadOffset(text, &offset) || !text.empty()) return false;
  if (month < 1 || month > 12 || day < 1 || day > DaysIn(year, month)) return false;
  if (hour > 23 || minute > 59 || second > 59) return false;
  time->seconds = FromCivil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset;
  time->nanos = static_cast<int32_t>(nanos);
  time->offset_seconds = offset;
  return true;
}

std::string FormatRfc3339(const TimestampObject& time) {
  const CivilTime civil = ToCivil(time.seconds + time.offset_seconds);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", civil.year, civil.month, civil.day, civil.hour,
                                 civil.minute, civil.second);
  if (time.nanos != 0) {
    std::string fraction = fmt::format(".{:09}", time.nanos);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += fraction;
  }
  if (time.offset_seconds == 0) return text + "Z";
  const int minutes = std::abs(time.offset_seconds) / 60;
  return text + fmt::format("{}{:02}:{:02}", time.offset_seconds < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

std::string FormatDurationSeconds(int64_t nanos) {
  // As Go's Seconds(): whole seconds plus the rest, in floating point.
  const double seconds = static_cast<double>(nanos / 1000000000) + static_cast<double>(nanos % 1000000000) / 1e9;
  return FormatDoubleF(seconds, -1) + "s";
}

int64_t FromCivil(int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

CivilTime ToCivil(int64_t seconds) {
  int64_t days = seconds / 86400;
  int64_t rest = seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  CivilTime civil{};
  const int64_t shifted = days + 719468;
  const int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const int64_t day_of_era = shifted - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month = (5 * day_of_year + 2) / 153;
  civil.day = static_cast<int>(day_of_year - (153 * month + 2) / 5 + 1);
  civil.month = static_cast<int>(month < 10 ? month + 3 : month - 9);
  civil.year = year_of_era + era * 400 + (civil.month <= 2 ? 1 : 0);
  civil.hour = static_cast<int>(rest / 3600);
  civil.minute = static_cast<int>(rest / 60 % 60);
  civil.second = static_cast<int>(rest % 60);
  civil.weekday = static_cast<int>(((days % 7) + 11) % 7);
  civil.year_day = static_cast<int>(days - FromCivil(civil.year, 1, 1));
  return civil;
}

namespace {

Error AtoiError(std::string_view text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789", text[0] == '-' || text[0] == '+' ? 1 : 0) ==
                                           std::string_view::npos;
  return Error::InvalidArgument(fmt::format("strconv.Atoi: parsing {}: {}", Quote(text),
                                            digits && text.size() > 1 ? "value out of range" : "invalid syntax"));
}

}  // namespace

Result<int64_t> ZoneOffset(std::string_view zone, int64_t seconds) {
  const size_t colon = zone.find(':');
  if (colon == std::string_view::npos) return NamedZoneOffset(zone, seconds);
  int64_t hours = 0, minutes = 0;
  if (!ParseGoInt(zone.substr(0, colon), &hours)) return AtoiError(zone.substr(0, colon));
  if (!ParseGoInt(zone.substr(colon + 1), &minutes)) return AtoiError(zone.substr(colon + 1));
  // Arithmetic wraps around as in Go; no real offset is that large.
  const uint64_t total = static_cast<uint64_t>(hours) * 60 +
                         (zone[0] == '-' ? 0 - static_cast<uint64_t>(minutes) : static_cast<uint64_t>(minutes));
  const int64_t offset = static_cast<int64_t>(total * 60);
  constexpr int64_t kFar = int64_t{1} << 40;
  return offset > kFar ? kFar : offset < -kFar ? -kFar : offset;
}

}  // namespace berth::cel
