// Quantity as in CEL's kubernetes.Quantity: exact, and with two forms that are visible to expressions. A short amount
// is an integer times a power of ten; a long one (too many digits, or a binary suffix after a fraction) is a count of
// nano-units of any size, which isInteger and asInteger reject whatever its value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cel/arena.h"

namespace berth::cel {

class Quantity {
 public:
  Quantity() = default;
  static Quantity FromInt(int64_t value) { return Quantity(value, 0); }
  // Digits of a long amount are stored in the arena.
  static Result<Quantity> Parse(std::string_view text, Arena& arena);

  int Sign() const;
  // False where upstream reports "cannot convert value to integer".
  bool AsInt(int64_t* value) const;
  double AsApproximateDouble() const;
  int Compare(const Quantity& other) const;
  Quantity Add(const Quantity& other, Arena& arena) const { return Combine(other, false, arena); }
  Quantity Sub(const Quantity& other, Arena& arena) const { return Combine(other, true, arena); }
  // Canonical spelling.
  std::string ToString() const;

 private:
  enum class Format : uint8_t { kDecimal, kBinary, kExponent };

  Quantity(int64_t value, int32_t scale) : scale_(scale), value_(value) {}
  // Sign and decimal digits of the amount in units of 10^-scale, scale >= 0.
  struct Digits {
    bool negative = false;
    std::string digits;  // no leading zeros; empty for zero
    int scale = 0;
  };
  Digits ToDigits() const;
  static Quantity FromDigits(const Digits& digits, Arena& arena);
  static Result<Quantity> ParseLong(bool negative, std::string_view whole, std::string_view fraction, int base,
                                    int exponent, Format format, Arena& arena);
  Quantity Combine(const Quantity& other, bool subtract, Arena& arena) const;

  bool long_ = false;
  bool negative_ = false;  // of a long amount
  Format format_ = Format::kDecimal;
  int32_t scale_ = 0;  // short: times 10^scale; long: digits are units of 10^-scale
  int64_t value_ = 0;
  std::string_view digits_;
};

}  // namespace berth::cel
