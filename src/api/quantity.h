// Quantity: a resource amount ("500m", "1.5Gi", "1e3") with the rounding, bounds and spelling of Kubernetes'
// resource.Quantity.
//
// The value is an exact count of nano-units: the finest amount the API knows; anything finer is rounded away from zero.
// The format is only a preference for printing; amounts of different format compare by value.
//
// Binary suffixes are capped at 2^63-1 units, as in Kubernetes. Two differences, both beyond any real resource:
//  1. Decimal amounts are capped at 2^127-1 nano-units, about 1.7e29 units; Kubernetes does not cap them.
//  2. An accessor whose result exceeds int64 saturates, where Kubernetes returns 0 or a wrapped number.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::api {

class Quantity {
 public:
  enum class Format : uint8_t {
    kDecimalSI,        // 12M
    kBinarySI,         // 12Mi
    kDecimalExponent,  // 12e6
  };
  __extension__ using Nanos = __int128;

  // Powers of ten for ScaledValue and FromScaled.
  static constexpr int kNano = -9;
  static constexpr int kMilli = -3;

  constexpr Quantity() = default;

  static Result<Quantity> Parse(std::string_view text);
  static Quantity FromInt(int64_t value, Format format = Format::kDecimalSI) { return FromScaled(value, 0, format); }
  static Quantity FromMilli(int64_t value, Format format = Format::kDecimalSI) {
    return FromScaled(value, kMilli, format);
  }
  // value * 10^scale; below nano rounds away from zero.
  static Quantity FromScaled(int64_t value, int scale, Format format = Format::kDecimalSI);

  // Whole units, thousandths, or units of 10^scale. Fractions round away from zero ("0.1" is 1), amounts beyond int64
  // saturate.
  int64_t Value() const { return ScaledValue(0); }
  int64_t MilliValue() const { return ScaledValue(kMilli); }
  int64_t ScaledValue(int scale) const;
  double AsDouble() const;

  // Canonical form: no fraction, the largest suffix that loses nothing. Binary amounts that are under 1024 or not whole
  // print with decimal suffixes.
  std::string ToString() const;

  bool IsZero() const { return nanos_ == 0; }
  int Sign() const { return nanos_ > 0 ? 1 : nanos_ < 0 ? -1 : 0; }
  Format format() const { return format_; }
  Nanos nanos() const { return nanos_; }

  // A zero takes the format of what is added or subtracted, since an empty sum has none of its own.
  void Add(const Quantity& other);
  void Sub(const Quantity& other);
  // Keeps its format; anything finer than nano-units rounds away from zero.
  void Multiply(const Quantity& factor);
  void Negate() { nanos_ = -nanos_; }

  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nanos_ == b.nanos_; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos_ < b.nanos_   ? std::strong_ordering::less
           : a.nanos_ > b.nanos_ ? std::strong_ordering::greater
                                 : std::strong_ordering::equal;
  }

 private:
  constexpr Quantity(Nanos nanos, Format format) : nanos_(nanos), format_(format) {}

  Nanos nanos_ = 0;
  Format format_ = Format::kDecimalSI;
};

}  // namespace berth::api
