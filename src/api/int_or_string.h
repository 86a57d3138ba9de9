// IntOrString: a field that takes a number or a text, such as 3 or "30%".
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace berth::api {

struct IntOrString {
  bool is_string = false;
  int32_t int_value = 0;
  std::string string_value;

  static IntOrString FromInt(int32_t value) { return {false, value, {}}; }
  static IntOrString FromString(std::string value) { return {true, 0, std::move(value)}; }

  std::string ToString() const;

  // The number itself, or the percentage of `total`. A text without '%' is an error, even when it is a number.
  Result<int> ScaledValue(int total, bool round_up) const;

  friend bool operator==(const IntOrString&, const IntOrString&) = default;
};

}  // namespace berth::api
