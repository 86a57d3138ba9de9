#include "base/go_text.h"

#include <array>
#include <cmath>
#include <cstdint>

#include "base/utf8.h"

namespace berth::base {
namespace {

void AppendHex(std::string& out, std::string_view prefix, uint8_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += prefix;
  out += kDigits[value >> 4];
  out += kDigits[value & 15];
}

// The two quoting styles differ only in the escapes they have and in how they write a byte that is not valid UTF-8.
struct Escapes {
  std::string_view letters;   // \a and the like: the escaped characters …
  std::string_view spelled;   // … and the letter of each
  std::string_view control;   // before the two digits of any other control character
  std::string_view bad_byte;  // the same for a byte that is not UTF-8; with no digits if it is a whole character
  bool bad_byte_has_digits;
  bool escapes_delete;
};
constexpr Escapes kGo{"\a\b\f\n\r\t\v\"\\", "abfnrtv\"\\", "\\x", "\\x", true, true};
constexpr Escapes kJson{"\n\r\t\"\\", "nrt\"\\", "\\u00", "\\ufffd", false, false};

void AppendEscaped(std::string& out, std::string_view text, const Escapes& escapes) {
  out += '"';
  while (!text.empty()) {
    const char c = text[0];
    const auto byte = static_cast<uint8_t>(c);
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) {
      escapes.bad_byte_has_digits ? AppendHex(out, escapes.bad_byte, byte) : void(out += escapes.bad_byte);
      text.remove_prefix(1);
      continue;
    }
    if (const size_t letter = escapes.letters.find(c); length == 1 && letter != std::string_view::npos) {
      out += '\\';
      out += escapes.spelled[letter];
    } else if (byte < 0x20 || (byte == 0x7F && escapes.escapes_delete)) {
      AppendHex(out, escapes.control, byte);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out += '"';
}

template <class... Format>
void AppendDouble(std::string& out, double value, Format... format) {
  std::array<char, 400> buffer;  // the largest double without exponent has 309 digits
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format...).ptr;
  out.append(buffer.data(), static_cast<size_t>(end - buffer.data()));
}

// value / 10^digits without trailing zeros.
void AppendFraction(std::string& out, uint64_t value, int digits) {
  uint64_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  AppendInteger(out, value / unit);
  uint64_t rest = value % unit;
  if (rest == 0) return;
  out += '.';
  while (rest != 0) {
    unit /= 10;
    out += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
}

}  // namespace

void AppendQuoted(std::string& out, std::string_view text) { AppendEscaped(out, text, kGo); }

void AppendTextValue(std::string& out, std::string_view text) {
  out += '=';
  if (text.find('\n') == std::string_view::npos) return AppendQuoted(out, text);
  out += "<\n";
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += '\t';
    out += text.substr(0, end);
    out += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  out += " >";
}

void AppendJsonString(std::string& out, std::string_view text) { AppendEscaped(out, text, kJson); }

void AppendDuration(std::string& out, Duration duration) {
  const int64_t count = duration.count();
  uint64_t nanos = count < 0 ? 0 - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  if (nanos == 0) {
    out += "0s";
    return;
  }
  if (count < 0) out += '-';
  if (nanos < 1'000'000'000) {
    const bool below_micro = nanos < 1'000;
    const bool below_milli = nanos < 1'000'000;
    AppendFraction(out, nanos, below_micro ? 0 : below_milli ? 3 : 6);
    out += below_micro ? "ns" : below_milli ? "µs" : "ms";
    return;
  }
  const uint64_t minutes = nanos / 60'000'000'000;
  nanos %= 60'000'000'000;
  if (minutes >= 60) {
    AppendInteger(out, minutes / 60);
    out += 'h';
  }
  if (minutes > 0) {
    AppendInteger(out, minutes % 60);
    out += 'm';
  }
  AppendFraction(out, nanos, 9);
  out += 's';
}

void AppendFloatG(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  const size_t begin = out.size();
  AppendDouble(out, value, std::chars_format::scientific);
  const char* exponent_text = out.data() + out.find('e', begin) + 1;
  if (*exponent_text == '+') ++exponent_text;
  int exponent = 0;
  std::from_chars(exponent_text, out.data() + out.size(), exponent);
  if (exponent < -4 || exponent >= 6) return;
  out.resize(begin);
  AppendFixed(out, value);
}

void AppendNumber(std::string& out, double value) { AppendDouble(out, value); }
void AppendFixed(std::string& out, double value) { AppendDouble(out, value, std::chars_format::fixed); }

}  // namespace berth::base
