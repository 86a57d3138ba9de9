#include "api/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/ascii.h"

namespace berth::api {
namespace {

using Nanos = Quantity::Nanos;
using Format = Quantity::Format;
__extension__ using Unsigned128 = unsigned __int128;

constexpr Nanos kMaxNanos = static_cast<Nanos>(~Unsigned128{0} >> 1);
constexpr Nanos kNanosPerUnit = 1'000'000'000;
constexpr Nanos kMaxBinary = std::numeric_limits<int64_t>::max() * kNanosPerUnit;
// As many digits as leave room for a factor of 2^60 in 128 bits.
constexpr size_t kShortDigits = 18;

constexpr std::string_view kDecimalSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

Error BadFormat() {
  return Error::InvalidArgument(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

struct Suffix {
  Format format;
  int binary_exponent;       // of 2
  int32_t decimal_exponent;  // of 10
};

struct Parts {
  bool negative = false;
  bool has_digits = false;
  std::string digits;  // whole and fraction without the dot and without leading zeros
  size_t fraction_digits = 0;
  std::string_view suffix;
};

std::string_view TakeDigits(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

// More lenient than the pattern in the error: a missing number is accepted here, see MissingNumberIsZero.
std::optional<Parts> Split(std::string_view text) {
  Parts parts;
  if (text.front() == '-' || text.front() == '+') {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  parts.digits = TakeDigits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const std::string_view fraction = TakeDigits(text);
    parts.digits += fraction;
    parts.fraction_digits = fraction.size();
  }
  parts.has_digits = !parts.digits.empty();
  parts.digits.erase(0, std::min(parts.digits.find_first_not_of('0'), parts.digits.size()));

  parts.suffix = text;
  text.remove_prefix(std::min(text.find_first_not_of("eEinumkKMGTP"), text.size()));
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (!std::all_of(text.begin(), text.end(), base::IsDigit)) return std::nullopt;
  return parts;
}

std::optional<Suffix> Interpret(std::string_view suffix) {
  for (int i = 0; i < static_cast<int>(std::size(kDecimalSuffixes)); ++i) {
    if (suffix == kDecimalSuffixes[i]) return Suffix{Format::kDecimalSI, 0, 3 * i - 9};
  }
  for (int i = 1; i < static_cast<int>(std::size(kBinarySuffixes)); ++i) {
    if (suffix == kBinarySuffixes[i]) return Suffix{Format::kBinarySI, 10 * i, 0};
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.size() > 1 && suffix[0] == '+' && base::IsDigit(suffix[1])) suffix.remove_prefix(1);
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (error != std::errc() || end != suffix.data() + suffix.size()) return std::nullopt;
  // The upper half is dropped unchecked, so that exponents beyond 32 bits mean what they mean in Kubernetes.
  return Suffix{Format::kDecimalExponent, 0, static_cast<int32_t>(exponent)};
}

// "." and "Ki" read as zero, "Pi" and "e-12" do not: Kubernetes reads small scales without looking for digits, and
// clusters may hold what it has accepted.
bool MissingNumberIsZero(const Suffix& suffix) { return suffix.binary_exponent < 50 && suffix.decimal_exponent >= -9; }

Nanos SaturatingMultiply(Nanos value, Nanos factor) {
  Nanos product = 0;
  return __builtin_mul_overflow(value, factor, &product) ? kMaxNanos : product;
}

Nanos ReadDigits(std::string_view digits) {
  Nanos value = 0;
  for (char c : digits) {
    if (__builtin_mul_overflow(value, Nanos{10}, &value) || __builtin_add_overflow(value, Nanos{c - '0'}, &value)) {
      return kMaxNanos;
    }
  }
  return value;
}

constexpr int kMostDigits = 18;  // digits of a power of ten that fits a signed 64-bit integer

constexpr std::array<int64_t, kMostDigits + 1> PowersOfTen() {
  std::array<int64_t, kMostDigits + 1> powers{1};
  for (int i = 1; i <= kMostDigits; ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}

// value * 10^exponent, rounded up; value is not negative. Nearly always one multiplication or one division.
Nanos ScaleByTen(Nanos value, int64_t exponent) {
  static constexpr std::array<int64_t, kMostDigits + 1> kPowers = PowersOfTen();
  while (exponent > 0 && value != 0 && value != kMaxNanos) {
    const auto digits = std::min<int64_t>(exponent, kMostDigits);
    value = SaturatingMultiply(value, kPowers[digits]);
    exponent -= digits;
  }
  bool inexact = false;
  while (exponent < 0 && value != 0) {
    const auto digits = std::min<int64_t>(-exponent, kMostDigits);
    const int64_t power = kPowers[digits];
    // Dividing 128 bits is a function call.
    const bool narrow = value <= std::numeric_limits<int64_t>::max();
    const Nanos quotient = narrow ? static_cast<int64_t>(value) / power : value / power;
    inexact |= quotient * power != value;
    value = quotient;
    exponent += digits;
  }
  return value + (inexact ? 1 : 0);
}

void DoubleDigits(std::string& digits) {
  int carry = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    const int doubled = 2 * (digits[i] - '0') + carry;
    digits[i] = static_cast<char>('0' + doubled % 10);
    carry = doubled / 10;
  }
  if (carry != 0) digits.insert(digits.begin(), '1');
}

// |amount| in nano-units: digits * 2^binary * 10^(decimal + 9), rounded up, capped.
Nanos Magnitude(std::string digits, const Suffix& suffix, size_t fraction_digits) {
  if (digits.empty()) return 0;
  const int64_t exponent = int64_t{suffix.decimal_exponent} - static_cast<int64_t>(fraction_digits) + 9;
  if (digits.size() <= kShortDigits) {
    return ScaleByTen(ReadDigits(digits) << suffix.binary_exponent, exponent);
  }
  // Too long for 128 bits, though the part that is kept may fit: drop what is below a nano-unit in decimal.
  for (int i = 0; i < suffix.binary_exponent; ++i) DoubleDigits(digits);
  if (exponent >= 0) return ScaleByTen(ReadDigits(digits), exponent);
  const size_t kept = digits.size() - std::min<size_t>(digits.size(), static_cast<size_t>(-exponent));
  const Nanos value = ReadDigits(std::string_view(digits).substr(0, kept));
  const bool inexact = digits.find_first_not_of('0', kept) != digits.npos;
  return inexact && value != kMaxNanos ? value + 1 : value;
}

std::string PrintDigits(Nanos value) { return fmt::format("{}", value); }

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  if (text.empty()) return BadFormat();
  std::optional<Parts> parts = Split(text);
  if (!parts) return BadFormat();
  const std::optional<Suffix> suffix = Interpret(parts->suffix);
  if (!suffix) return Error::InvalidArgument("unable to parse quantity's suffix");
  if (!parts->has_digits && !MissingNumberIsZero(*suffix)) {
    return Error::InvalidArgument("unable to parse numeric part of quantity");
  }

  Format format = suffix->format;
  Nanos nanos = Magnitude(std::move(parts->digits), *suffix, parts->fraction_digits);
  if (format == Format::kBinarySI) {
    nanos = std::min(nanos, kMaxBinary);
    if (nanos > 0 && nanos < kNanosPerUnit) format = Format::kDecimalSI;
  }
  return Quantity(parts->negative ? -nanos : nanos, format);
}

Quantity Quantity::FromScaled(int64_t value, int scale, Format format) {
  const Nanos nanos = ScaleByTen(value < 0 ? -Nanos{value} : Nanos{value}, int64_t{scale} + 9);
  return Quantity(value < 0 ? -nanos : nanos, format);
}

int64_t Quantity::ScaledValue(int scale) const {
  const Nanos magnitude = ScaleByTen(nanos_ < 0 ? -nanos_ : nanos_, -9 - int64_t{scale});
  const Nanos scaled = nanos_ < 0 ? -magnitude : magnitude;
  return static_cast<int64_t>(
      std::clamp<Nanos>(scaled, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
}

double Quantity::AsDouble() const { return static_cast<double>(static_cast<long double>(nanos_) / 1e9L); }

std::string Quantity::ToString() const {
  if (nanos_ == 0) return "0";
  Format format = format_;
  if (format == Format::kBinarySI) {
    const Nanos magnitude = nanos_ < 0 ? -nanos_ : nanos_;
    if (magnitude < 1024 * kNanosPerUnit || magnitude % kNanosPerUnit != 0) format = Format::kDecimalSI;
  }
  if (format == Format::kBinarySI) {
    Nanos value = nanos_ / kNanosPerUnit;
    size_t power = 0;
    for (; power + 1 < std::size(kBinarySuffixes) && value % 1024 == 0; ++power) value /= 1024;
    return PrintDigits(value).append(kBinarySuffixes[power]);
  }
  Nanos value = nanos_;
  // Above nano; each suffix stands for three zeros. Suffixes end at E, exponents do not.
  int thousands = 0;
  const int most = format == Format::kDecimalSI ? static_cast<int>(std::size(kDecimalSuffixes)) - 1 : 13;
  for (; thousands < most && value % 1000 == 0; ++thousands) value /= 1000;
  std::string text = PrintDigits(value);
  if (format == Format::kDecimalSI) return text.append(kDecimalSuffixes[thousands]);
  const int exponent = 3 * thousands - 9;
  return exponent == 0 ? text : fmt::format("{}e{}", text, exponent);
}

void Quantity::Add(const Quantity& other) {
  if (nanos_ == 0) format_ = other.format_;
  Nanos sum = 0;
  if (__builtin_add_overflow(nanos_, other.nanos_, &sum)) sum = other.nanos_ < 0 ? -kMaxNanos : kMaxNanos;
  nanos_ = std::max(sum, -kMaxNanos);
}

void Quantity::Sub(const Quantity& other) {
  Quantity negated = other;
  negated.Negate();
  Add(negated);
}

void Quantity::Multiply(const Quantity& factor) {
  constexpr Nanos kUnit = 1'000'000'000;
  Nanos product = 0;
  if (__builtin_mul_overflow(nanos_, factor.nanos_, &product)) {
    // The exact product is too large, the amount is not: at that size whole units are exact enough.
    const bool negative = (nanos_ < 0) != (factor.nanos_ < 0);
    const Nanos large = std::max(nanos_ < 0 ? -nanos_ : nanos_, factor.nanos_ < 0 ? -factor.nanos_ : factor.nanos_);
    const Nanos small = std::min(nanos_ < 0 ? -nanos_ : nanos_, factor.nanos_ < 0 ? -factor.nanos_ : factor.nanos_);
    const Nanos amount = SaturatingMultiply(large / kUnit, small);
    nanos_ = negative ? -amount : amount;
    return;
  }
  const Nanos rest = product % kUnit;
  nanos_ = product / kUnit + (rest > 0 ? 1 : rest < 0 ? -1 : 0);
}

}  // namespace berth::api
