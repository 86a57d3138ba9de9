#include "api/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "base/go_text.h"

namespace berth::api {
namespace {

using std::chrono::seconds;

constexpr int64_t kNanosPerSecond = 1'000'000'000;

// Go's time package quotes more eagerly than %q: every byte outside ASCII becomes \xNN.
std::string QuoteAscii(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80 || c < ' ') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

// Reads one timestamp from left to right. The first error is kept; later reads do nothing.
class TimestampReader {
 public:
  TimestampReader(std::string_view text, bool micro) : text_(text), rest_(text), micro_(micro) {}

  Result<Time> Read() {
    const int year = Number(4, 4, "2006", 0, 9999, "year");
    Expect("-");
    const int month = Number(2, 2, "01", 1, 12, "month");
    Expect("-");
    // Checked below: its range depends on the month.
    const int day = Number(2, 2, "02", 0, 99, "day");
    Expect("T");
    const int hour = Number(1, 2, "15", 0, 23, "hour");
    Expect(":");
    const int minute = Number(2, 2, "04", 0, 59, "minute");
    Expect(":");
    const int second = Number(2, 2, "05", 0, 59, "second");
    const int64_t nanos = micro_ ? Microseconds() : AnyFraction();
    const int64_t offset = Zone();
    if (error_.empty() && !rest_.empty()) {
      error_ = fmt::format("parsing time {}: extra text: {}", QuoteAscii(text_), QuoteAscii(rest_));
    }
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (error_.empty() && !date.ok()) OutOfRange("day");
    if (!error_.empty()) return Error::InvalidArgument(std::move(error_));
    const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    return Clamp(days * 86400 + hour * 3600 + minute * 60 + second - offset, nanos);
  }

 private:
  static Time Clamp(int64_t unix_seconds, int64_t nanos) {
    constexpr int64_t kLimit = std::numeric_limits<int64_t>::max() / kNanosPerSecond;
    if (unix_seconds >= kLimit) return Time::max();
    if (unix_seconds <= -kLimit) return kEarliestTime;
    return Time(Duration(unix_seconds * kNanosPerSecond + nanos));
  }

  void CannotParse(std::string_view at, std::string_view element) {
    if (!error_.empty()) return;
    error_ = fmt::format("parsing time {} as \"2006-01-02T15:04:05{}Z07:00\": cannot parse {} as \"{}\"",
                         QuoteAscii(text_), micro_ ? ".000000" : "", QuoteAscii(at), element);
  }
  void OutOfRange(std::string_view what) {
    if (error_.empty()) error_ = fmt::format("parsing time {}: {} out of range", QuoteAscii(text_), what);
  }

  void Expect(std::string_view literal) {
    if (!error_.empty()) return;
    if (!rest_.starts_with(literal)) return CannotParse(rest_, literal);
    rest_.remove_prefix(literal.size());
  }

  int Number(size_t least_digits, size_t most_digits, std::string_view element, int low, int high,
             std::string_view what) {
    if (!error_.empty()) return 0;
    size_t digits = 0;
    int value = 0;
    while (digits < most_digits && digits < rest_.size() && base::IsDigit(rest_[digits])) {
      value = value * 10 + (rest_[digits++] - '0');
    }
    if (digits < least_digits) return CannotParse(rest_, element), 0;
    rest_.remove_prefix(digits);
    if (value < low || value > high) OutOfRange(what);
    return value;
  }

  // Digits past the ninth are dropped.
  int64_t TakeFraction(size_t digits) {
    int64_t nanos = 0;
    for (size_t i = 1; i <= 9; ++i) nanos = nanos * 10 + (i <= digits ? rest_[i] - '0' : 0);
    rest_.remove_prefix(1 + digits);
    return nanos;
  }
  size_t FractionDigits() const {
    if (rest_.empty() || (rest_[0] != '.' && rest_[0] != ',')) return 0;
    return std::min(rest_.find_first_not_of("0123456789", 1), rest_.size()) - 1;
  }
  int64_t AnyFraction() {
    const size_t digits = error_.empty() ? FractionDigits() : 0;
    return digits == 0 ? 0 : TakeFraction(digits);
  }
  int64_t Microseconds() {
    if (!error_.empty()) return 0;
    if (FractionDigits() < 6) return CannotParse(rest_, ".000000"), 0;
    return TakeFraction(6);
  }

  // Seconds east of UTC.
  int64_t Zone() {
    if (!error_.empty()) return 0;
    if (rest_.starts_with('Z')) return rest_.remove_prefix(1), 0;
    const std::string_view zone = rest_.substr(0, 6);
    const bool shaped = zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && base::IsDigit(zone[1]) &&
                        base::IsDigit(zone[2]) && zone[3] == ':' && base::IsDigit(zone[4]) && base::IsDigit(zone[5]);
    if (!shaped) return CannotParse(rest_, "Z07:00"), 0;
    rest_.remove_prefix(6);
    const int64_t hours = (zone[1] - '0') * 10 + (zone[2] - '0');
    const int64_t minutes = (zone[4] - '0') * 10 + (zone[5] - '0');
    if (hours > 24) OutOfRange("time zone offset hour");
    if (minutes > 60) OutOfRange("time zone offset minute");
    return (zone[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  }

  std::string_view text_;
  std::string_view rest_;
  const bool micro_;
  std::string error_;
};

std::string PrintToTheSecond(std::chrono::sys_seconds time) {
  const std::chrono::sys_days day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

struct Unit {
  std::string_view name;
  uint64_t nanos;
};
constexpr Unit kUnits[] = {{"ns", 1},          {"us", 1'000},        {"\u00b5s", 1'000},  // micro sign
                           {"\u03bcs", 1'000},                                            // Greek letter mu
                           {"ms", 1'000'000},  {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};
constexpr uint64_t kMaxMagnitude = uint64_t{1} << 63;

const Unit* FindUnit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// A whole number; unset when it exceeds 2^63.
std::optional<uint64_t> TakeWhole(std::string_view& text) {
  uint64_t value = 0;
  for (; !text.empty() && base::IsDigit(text[0]); text.remove_prefix(1)) {
    if (value > kMaxMagnitude / 10) return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(text[0] - '0');
    if (value > kMaxMagnitude) return std::nullopt;
  }
  return value;
}

// Digits after the dot as numerator and power of ten; digits that do not fit are dropped.
std::pair<uint64_t, double> TakeFraction(std::string_view& text) {
  uint64_t value = 0;
  double scale = 1;
  bool full = false;
  for (; !text.empty() && base::IsDigit(text[0]); text.remove_prefix(1)) {
    full = full || value > (kMaxMagnitude - 1) / 10;
    if (full) continue;
    const uint64_t next = value * 10 + static_cast<uint64_t>(text[0] - '0');
    full = next > kMaxMagnitude;
    if (full) continue;
    value = next;
    scale *= 10;
  }
  return {value, scale};
}

}  // namespace

Result<Time> ParseTime(std::string_view text) { return TimestampReader(text, /*micro=*/false).Read(); }

Result<MicroTime> ParseMicroTime(std::string_view text) {
  const Result<Time> time = TimestampReader(text, /*micro=*/true).Read();
  if (!time) return time.error();
  return MicroTime{*time};
}

std::string FormatTime(Time time) { return PrintToTheSecond(std::chrono::floor<seconds>(time)) + "Z"; }

std::string FormatMicroTime(MicroTime time) {
  const auto whole = std::chrono::floor<seconds>(time.time);
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time.time - whole).count();
  return fmt::format("{}.{:06}Z", PrintToTheSecond(whole), micros);
}

Result<Duration> ParseDuration(std::string_view text) {
  const auto invalid = [&] { return Error::InvalidArgument("time: invalid duration " + QuoteAscii(text)); };
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return Duration(0);
  if (rest.empty()) return invalid();

  uint64_t total = 0;
  while (!rest.empty()) {
    const bool whole_given = base::IsDigit(rest[0]);
    if (!whole_given && rest[0] != '.') return invalid();
    const std::optional<uint64_t> whole = TakeWhole(rest);
    if (!whole) return invalid();
    std::pair<uint64_t, double> fraction{0, 1};
    if (!rest.empty() && rest[0] == '.') {
      rest.remove_prefix(1);
      const bool fraction_given = !rest.empty() && base::IsDigit(rest[0]);
      if (!whole_given && !fraction_given) return invalid();
      fraction = TakeFraction(rest);
    }

    const std::string_view name = rest.substr(0, rest.find_first_of(".0123456789"));
    if (name.empty()) return Error::InvalidArgument("time: missing unit in duration " + QuoteAscii(text));
    rest.remove_prefix(name.size());
    const Unit* unit = FindUnit(name);
    if (!unit) {
      return Error::InvalidArgument(
          fmt::format("time: unknown unit {} in duration {}", QuoteAscii(name), QuoteAscii(text)));
    }
    if (*whole > kMaxMagnitude / unit->nanos) return invalid();
    uint64_t part = *whole * unit->nanos;
    if (fraction.first > 0) {
      // Floating point on purpose: the last nanosecond must be the same as in Go.
      part += static_cast<uint64_t>(static_cast<double>(fraction.first) *
                                    (static_cast<double>(unit->nanos) / fraction.second));
    }
    if (part > kMaxMagnitude || (total += part) > kMaxMagnitude) return invalid();
  }
  if (negative) return Duration(static_cast<int64_t>(uint64_t{0} - total));
  if (total > kMaxMagnitude - 1) return invalid();
  return Duration(static_cast<int64_t>(total));
}

std::string FormatDuration(Duration duration) {
  std::string text;
  base::AppendDuration(text, duration);
  return text;
}

}  // namespace berth::api
