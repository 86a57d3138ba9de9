#include "api/int_or_string.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "api/field_error.h"

namespace berth::api {
namespace {

Result<int64_t> ParsePercentage(std::string_view digits, std::string_view whole) {
  std::string_view number = digits;
  if (number.size() > 1 && number[0] == '+' && number[1] != '-') number.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool complete = end == number.data() + number.size();
  if (error == std::errc() && complete) return value;
  const bool out_of_range = error == std::errc::result_out_of_range && complete;
  return Error::InvalidArgument(
      fmt::format("invalid value for IntOrString: invalid value {}: strconv.Atoi: parsing {}: {}", Quote(whole),
                  Quote(digits), out_of_range ? "value out of range" : "invalid syntax"));
}

}  // namespace

std::string IntOrString::ToString() const { return is_string ? string_value : std::to_string(int_value); }

Result<int> IntOrString::ScaledValue(int total, bool round_up) const {
  if (!is_string) return int_value;
  std::string_view digits = string_value;
  if (!digits.ends_with('%')) {
    return Error::InvalidArgument("invalid value for IntOrString: invalid type: string is not a percentage");
  }
  digits.remove_suffix(1);
  const Result<int64_t> percentage = ParsePercentage(digits, string_value);
  if (!percentage) return percentage.error();
  const double exact = static_cast<double>(*percentage) * total / 100;
  const double rounded = round_up ? std::ceil(exact) : std::floor(exact);
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<double>(rounded, Limits::min(), Limits::max()));
}

}  // namespace berth::api
