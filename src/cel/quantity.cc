#include "cel/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "cel/go_text.h"

namespace berth::cel {
namespace {

constexpr char kWrongFormat[] =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
// Upstream has no limit and would try to write such a number out.
constexpr int kMaxExponent = 4096;

void Trim(std::string& digits) { digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size())); }

int CompareMagnitudes(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  const int order = a.compare(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

std::string AddMagnitudes(const std::string& a, const std::string& b) {
  std::string sum;
  int carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
    int digit = carry;
    if (i < a.size()) digit += a[a.size() - 1 - i] - '0';
    if (i < b.size()) digit += b[b.size() - 1 - i] - '0';
    sum += static_cast<char>('0' + digit % 10);
    carry = digit / 10;
  }
  std::reverse(sum.begin(), sum.end());
  Trim(sum);
  return sum;
}

// a >= b.
std::string SubtractMagnitudes(const std::string& a, const std::string& b) {
  std::string difference;
  int borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    int digit = a[a.size() - 1 - i] - '0' - borrow;
    if (i < b.size()) digit -= b[b.size() - 1 - i] - '0';
    borrow = digit < 0 ? 1 : 0;
    difference += static_cast<char>('0' + digit + 10 * borrow);
  }
  std::reverse(difference.begin(), difference.end());
  Trim(difference);
  return difference;
}

std::string MultiplyMagnitude(const std::string& a, uint32_t factor) {
  std::string product;
  uint64_t carry = 0;
  for (size_t i = 0; i < a.size() || carry != 0; ++i) {
    if (i < a.size()) carry += static_cast<uint64_t>(a[a.size() - 1 - i] - '0') * factor;
    product += static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  std::reverse(product.begin(), product.end());
  Trim(product);
  return product;
}

bool ScaleUp(int64_t value, int64_t power, int64_t* result) {
  *result = value;
  if (value == 0) return true;
  if (power > 18) return false;
  for (; power > 0; --power) {
    if (__builtin_mul_overflow(*result, int64_t{10}, result)) return false;
  }
  return true;
}

struct Suffix {
  int base;
  int exponent;
  char form;  // d, b or e
};

bool ReadSuffix(std::string_view text, Suffix* suffix) {
  struct Known {
    std::string_view text;
    Suffix suffix;
  };
  static constexpr Known kKnown[] = {
      {"", {10, 0, 'd'}},   {"n", {10, -9, 'd'}}, {"u", {10, -6, 'd'}}, {"m", {10, -3, 'd'}},
      {"k", {10, 3, 'd'}},  {"M", {10, 6, 'd'}},  {"G", {10, 9, 'd'}},  {"T", {10, 12, 'd'}},
      {"P", {10, 15, 'd'}}, {"E", {10, 18, 'd'}}, {"Ki", {2, 10, 'b'}}, {"Mi", {2, 20, 'b'}},
      {"Gi", {2, 30, 'b'}}, {"Ti", {2, 40, 'b'}}, {"Pi", {2, 50, 'b'}}, {"Ei", {2, 60, 'b'}},
  };
  for (const Known& known : kKnown) {
    if (known.text == text) {
      *suffix = known.suffix;
      return true;
    }
  }
  int64_t exponent = 0;
  if (text.size() > 1 && (text[0] == 'e' || text[0] == 'E') && ParseGoInt(text.substr(1), &exponent)) {
    *suffix = {10, static_cast<int>(exponent), 'e'};
    return true;
  }
  return false;
}

using base::IsDigit;

// The parts of "-12.5Mi".
struct Parts {
  bool negative = false;
  std::string_view whole;  // without leading zeros; "0" when there is nothing else
  std::string_view fraction;
  std::string_view suffix;
};

bool SplitQuantity(std::string_view text, Parts* parts) {
  size_t at = 0;
  if (text[0] == '-' || text[0] == '+') {
    parts->negative = text[0] == '-';
    ++at;
  }
  while (at < text.size() && text[at] == '0') ++at;
  if (at == text.size()) {
    parts->whole = "0";
    return true;
  }
  const size_t whole = at;
  while (at < text.size() && IsDigit(text[at])) ++at;
  parts->whole = at > whole ? text.substr(whole, at - whole) : std::string_view("0");
  if (at < text.size() && text[at] == '.') {
    const size_t fraction = ++at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    parts->fraction = text.substr(fraction, at - fraction);
  }
  // Letters, then a sign, then digits; anything after that is no suffix.
  const size_t suffix = at;
  while (at < text.size() && std::string_view("eEinumkKMGTP").find(text[at]) != std::string_view::npos) ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  while (at < text.size() && IsDigit(text[at])) ++at;
  parts->suffix = text.substr(suffix);
  return at == text.size();
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text, Arena& arena) {
  Parts parts;
  if (text.empty() || !SplitQuantity(text, &parts)) return Error::InvalidArgument(kWrongFormat);
  Suffix suffix;
  if (!ReadSuffix(parts.suffix, &suffix)) return Error::InvalidArgument("unable to parse quantity's suffix");
  if (std::abs(suffix.exponent) > kMaxExponent) {
    return Error::InvalidArgument("unable to parse quantity's suffix: the exponent is out of range");
  }
  const Format format = suffix.form == 'b'   ? Format::kBinary
                        : suffix.form == 'e' ? Format::kExponent
                                             : Format::kDecimal;

  int precision = -1;
  int scale = 0;
  int64_t mantissa = 1;
  const int whole_digits = static_cast<int>(std::min<size_t>(parts.whole.size(), 1 << 20));
  const int fraction_digits = static_cast<int>(std::min<size_t>(parts.fraction.size(), 1 << 20));
  if (format != Format::kBinary) {
    scale = suffix.exponent;
    precision = 18 - (whole_digits + fraction_digits);
  } else if (parts.fraction.empty()) {
    mantissa <<= suffix.exponent;
    precision = 15 - whole_digits - static_cast<int>(static_cast<float>(suffix.exponent) * 3 / 10) - 1;
  }
  if (precision >= 0) {
    scale -= fraction_digits;
    if (scale >= -9) {
      int64_t value = 0;
      const std::string shifted = std::string(parts.whole) + std::string(parts.fraction);
      if (!ParseGoInt(shifted, &value)) return Error::InvalidArgument("unable to parse numeric part of quantity");
      int64_t result = 0;
      if (!__builtin_mul_overflow(value, mantissa, &result)) {
        Quantity quantity(parts.negative ? -result : result, scale);
        quantity.format_ = format;
        return quantity;
      }
    }
  }
  return ParseLong(parts.negative, parts.whole, parts.fraction, suffix.base, suffix.exponent, format, arena);
}

Result<Quantity> Quantity::ParseLong(bool negative, std::string_view whole, std::string_view fraction, int base,
                                     int exponent, Format format, Arena& arena) {
  Digits amount{negative, std::string(whole) + std::string(fraction), 0};
  Trim(amount.digits);
  int scale = static_cast<int>(fraction.size());
  if (base == 10) {
    scale -= exponent;
  } else {
    for (int i = 0; i < exponent / 10; ++i) amount.digits = MultiplyMagnitude(amount.digits, 1024);
  }
  // To nano-units, rounding away from zero.
  bool inexact = false;
  if (scale > 9) {
    const size_t dropped = static_cast<size_t>(scale - 9);
    const size_t keep = amount.digits.size() > dropped ? amount.digits.size() - dropped : 0;
    inexact = amount.digits.find_first_not_of('0', keep) != std::string::npos;
    amount.digits.resize(keep);
    if (inexact) amount.digits = AddMagnitudes(amount.digits, "1");
  } else if (!amount.digits.empty()) {
    amount.digits.append(static_cast<size_t>(9 - scale), '0');
  }
  amount.scale = amount.digits.empty() ? 0 : 9;
  static const std::string kMaxAllowed = "9223372036854775807000000000";
  static const std::string kOne = "1000000000";
  if (format == Format::kBinary && CompareMagnitudes(amount.digits, kMaxAllowed) > 0) amount.digits = kMaxAllowed;
  if (format == Format::kBinary && !amount.digits.empty() && CompareMagnitudes(amount.digits, kOne) < 0) {
    format = Format::kDecimal;
  }
  Quantity quantity = FromDigits(amount, arena);
  quantity.format_ = format;
  return quantity;
}

Quantity Quantity::FromDigits(const Digits& digits, Arena& arena) {
  Quantity quantity;
  quantity.long_ = true;
  quantity.negative_ = digits.negative && !digits.digits.empty();
  quantity.scale_ = digits.scale;
  quantity.digits_ = arena.Copy(digits.digits);
  return quantity;
}

Quantity::Digits Quantity::ToDigits() const {
  if (long_) return {negative_, std::string(digits_), scale_};
  Digits result;
  result.negative = value_ < 0;
  const uint64_t magnitude = value_ < 0 ? 0 - static_cast<uint64_t>(value_) : static_cast<uint64_t>(value_);
  if (magnitude == 0) return result;
  result.digits = std::to_string(magnitude);
  if (scale_ >= 0) {
    result.digits.append(static_cast<size_t>(scale_), '0');
  } else {
    result.scale = -scale_;
  }
  return result;
}

int Quantity::Sign() const {
  if (long_) return digits_.empty() ? 0 : negative_ ? -1 : 1;
  return value_ > 0 ? 1 : value_ < 0 ? -1 : 0;
}

bool Quantity::AsInt(int64_t* value) const {
  if (long_ || scale_ < 0) return false;
  return ScaleUp(value_, scale_, value);
}

namespace {

// math.Pow10: zero and infinity beyond the range of a double.
double PowerOfTen(int exponent) {
  if (exponent < -323) return 0;
  if (exponent > 308) return INFINITY;
  double value = 0;
  const std::string text = "1e" + std::to_string(exponent);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

double Quantity::AsApproximateDouble() const {
  if (!long_) {
    const double base = static_cast<double>(value_);
    return scale_ == 0 ? base : base * PowerOfTen(scale_);
  }
  double base = 0;
  if (!digits_.empty()) {
    const auto read = std::from_chars(digits_.data(), digits_.data() + digits_.size(), base);
    if (read.ec == std::errc::result_out_of_range) base = INFINITY;
  }
  if (negative_) base = -base;
  return scale_ == 0 ? base : base * PowerOfTen(-scale_);
}

int Quantity::Compare(const Quantity& other) const {
  if (!long_ && !other.long_ && scale_ == other.scale_)
    return value_ < other.value_ ? -1 : value_ > other.value_ ? 1 : 0;
  const int sign = Sign();
  if (sign != other.Sign()) return sign < other.Sign() ? -1 : 1;
  Digits a = ToDigits(), b = other.ToDigits();
  const int scale = std::max(a.scale, b.scale);
  a.digits.append(static_cast<size_t>(scale - a.scale), '0');
  b.digits.append(static_cast<size_t>(scale - b.scale), '0');
  Trim(a.digits);
  Trim(b.digits);
  return sign * CompareMagnitudes(a.digits, b.digits);
}

Quantity Quantity::Combine(const Quantity& other, bool subtract, Arena& arena) const {
  const Format format = Sign() == 0 ? other.format_ : format_;
  if (!long_ && !other.long_) {
    const int64_t addend = subtract ? static_cast<int64_t>(0 - static_cast<uint64_t>(other.value_)) : other.value_;
    Quantity sum = *this;
    sum.format_ = format;
    if (addend == 0) return sum;
    if (value_ == 0) {
      sum.value_ = addend;
      sum.scale_ = other.scale_;
      return sum;
    }
    const int32_t scale = std::min(scale_, other.scale_);
    int64_t a = 0, b = 0;
    if (ScaleUp(value_, int64_t{scale_} - scale, &a) && ScaleUp(addend, int64_t{other.scale_} - scale, &b) &&
        !__builtin_add_overflow(a, b, &sum.value_)) {
      sum.scale_ = scale;
      return sum;
    }
  }
  Digits a = ToDigits(), b = other.ToDigits();
  if (subtract) b.negative = !b.negative;
  const int scale = std::max(a.scale, b.scale);
  a.digits.append(static_cast<size_t>(scale - a.scale), '0');
  b.digits.append(static_cast<size_t>(scale - b.scale), '0');
  Trim(a.digits);
  Trim(b.digits);
  Digits sum;
  sum.scale = scale;
  if (a.negative == b.negative) {
    sum.negative = a.negative;
    sum.digits = AddMagnitudes(a.digits, b.digits);
  } else if (CompareMagnitudes(a.digits, b.digits) >= 0) {
    sum.negative = a.negative;
    sum.digits = SubtractMagnitudes(a.digits, b.digits);
  } else {
    sum.negative = b.negative;
    sum.digits = SubtractMagnitudes(b.digits, a.digits);
  }
  Quantity result = FromDigits(sum, arena);
  result.format_ = format;
  return result;
}

std::string Quantity::ToString() const {
  Digits amount = ToDigits();
  if (amount.digits.empty()) return "0";
  const std::string sign = amount.negative ? "-" : "";
  if (format_ == Format::kBinary && amount.scale == 0) {
    std::string digits = amount.digits;
    static constexpr std::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    uint64_t value = 0;
    if (ParseGoUint(digits, &value) && value >= 1024) {
      size_t power = 0;
      for (; power < 6 && value % 1024 == 0; ++power) value /= 1024;
      return sign + std::to_string(value) + std::string(kSuffixes[power]);
    }
  }
  int exponent = -amount.scale;
  while (!amount.digits.empty() && amount.digits.back() == '0') {
    amount.digits.pop_back();
    ++exponent;
  }
  while (exponent % 3 != 0) {
    amount.digits += '0';
    --exponent;
  }
  if (format_ != Format::kExponent && exponent >= -9 && exponent <= 18) {
    static constexpr std::string_view kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    return sign + amount.digits + std::string(kSuffixes[exponent / 3 + 3]);
  }
  return sign + amount.digits + (exponent == 0 ? "" : "e" + std::to_string(exponent));
}

}  // namespace berth::cel
