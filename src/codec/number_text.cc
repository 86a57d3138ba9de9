#include "codec/number_text.h"

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace berth::codec {
namespace {

// The shortest digits that read back as the same number, and where the decimal point goes. Fixed notation is put
// together here, because std::to_chars fills large numbers up with their exact digits where Go has zeros.
struct Decimal {
  std::string scientific;  // "-1.234567e+06"
  bool is_negative = false;
  std::string digits;  // "1234567"
  int exponent = 0;    // of the first digit

  template <class Float>
  explicit Decimal(Float value) {
    char buffer[64];
    const std::to_chars_result end =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
    scientific.assign(buffer, end.ptr);
    const size_t e = scientific.find('e');
    for (const char c : std::string_view(scientific).substr(0, e)) {
      if (c == '-') is_negative = true;
      if (c >= '0' && c <= '9') digits += c;
    }
    const size_t start = e + (scientific[e + 1] == '+' ? 2 : 1);  // from_chars takes no plus sign
    std::from_chars(scientific.data() + start, scientific.data() + scientific.size(), exponent);
  }

  std::string Fixed() const {
    std::string text = is_negative ? "-" : "";
    if (exponent < 0) return text.append("0.").append(static_cast<size_t>(-exponent - 1), '0') + digits;
    const auto whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() <= whole) return text.append(digits).append(whole - digits.size(), '0');
    return text.append(digits, 0, whole).append(".").append(digits, whole);
  }
};

}  // namespace

std::string JsonNumber(double value) {
  Decimal decimal(value);
  const double magnitude = std::fabs(value);
  if (magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21)) return decimal.Fixed();
  // encoding/json shortens e-09 to e-9.
  std::string& text = decimal.scientific;
  const size_t size = text.size();
  if (size >= 4 && std::string_view(text).substr(size - 4).starts_with("e-0")) text.erase(size - 2, 1);
  return std::move(text);
}

std::string ShortFloat(double value) {
  const auto narrow = static_cast<float>(value);
  if (std::isnan(narrow)) return "NaN";
  if (std::isinf(narrow)) return narrow > 0 ? "+Inf" : "-Inf";
  const Decimal decimal(narrow);
  return decimal.exponent < -4 || decimal.exponent >= 6 ? decimal.scientific : decimal.Fixed();
}

}  // namespace berth::codec
