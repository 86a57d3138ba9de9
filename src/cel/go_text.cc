#include "cel/go_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/go_text.h"
#include "base/utf8.h"

namespace berth::cel {

char32_t DecodeRune(std::string_view text, size_t* size) {
  const size_t length = base::Utf8SequenceLength(text);
  *size = length == 0 ? 1 : length;
  return length == 0 ? 0xFFFD : base::DecodeUtf8(text.substr(0, length));
}

void AppendRune(std::string& out, char32_t rune) {
  if (rune > 0x10FFFF || (rune >= 0xD800 && rune <= 0xDFFF)) rune = 0xFFFD;
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xC0 | rune >> 6);
    out += static_cast<char>(0x80 | (rune & 0x3F));
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xE0 | rune >> 12);
    out += static_cast<char>(0x80 | (rune >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (rune & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | rune >> 18);
    out += static_cast<char>(0x80 | (rune >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (rune >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (rune & 0x3F));
  }
}

bool IsValidUtf8(std::string_view text) {
  for (size_t i = 0, size = 0; i < text.size(); i += size) {
    if (DecodeRune(text.substr(i), &size) == 0xFFFD && size == 1) return false;
  }
  return true;
}

std::u32string DecodeRunes(std::string_view text) {
  std::u32string runes;
  runes.reserve(text.size());
  for (size_t i = 0, size = 0; i < text.size(); i += size) runes += DecodeRune(text.substr(i), &size);
  return runes;
}

std::string EncodeRunes(std::u32string_view runes) {
  std::string text;
  text.reserve(runes.size());
  for (const char32_t rune : runes) AppendRune(text, rune);
  return text;
}

namespace {

// unicode.IsPrint, close enough for what occurs in messages: controls, separators other than the space, unassigned and
// private areas are escaped.
bool IsPrintable(char32_t rune) {
  if (rune < 0x20 || (rune >= 0x7F && rune < 0xA1) || rune == 0xAD) return false;
  if (rune >= 0x2000 && rune <= 0x200F) return false;
  if (rune >= 0x2028 && rune <= 0x202F) return false;
  if (rune >= 0x205F && rune <= 0x206F) return false;
  if (rune == 0x1680 || rune == 0x3000 || rune == 0xFEFF) return false;
  if (rune >= 0xD800 && rune <= 0xF8FF) return false;  // surrogates, private use
  if (rune >= 0xFFF0 && rune <= 0xFFFB) return false;
  if ((rune & 0xFFFE) == 0xFFFE) return false;
  return rune < 0xE0000;
}

}  // namespace

std::string_view ShortEscapeOf(char32_t rune) {
  switch (rune) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\a':
      return "\\a";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\v':
      return "\\v";
    default:
      return {};
  }
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0, size = 0; i < text.size(); i += size) {
    const char32_t rune = DecodeRune(text.substr(i), &size);
    if (rune == 0xFFFD && size == 1) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
      continue;
    }
    const std::string_view escape = ShortEscapeOf(rune);
    if (!escape.empty()) {
      out += escape;
    } else if (IsPrintable(rune)) {
      out += text.substr(i, size);
    } else if (rune < ' ' || rune == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<uint32_t>(rune));
    } else if (rune < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(rune));
    } else {
      out += fmt::format("\\U{:08x}", static_cast<uint32_t>(rune));
    }
  }
  return out + '"';
}

std::string FormatDoubleG(double value) {
  std::string text;
  base::AppendFloatG(text, value);
  return text;
}

std::string FormatDoubleF(double value, int precision) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (precision >= 0) return fmt::format("{:.{}f}", value, precision);
  char buffer[400];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed);
  return std::string(buffer, written.ptr);
}

bool ParseGoInt(std::string_view text, int64_t* value) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  uint64_t magnitude = 0;
  if (!ParseGoUint(text, &magnitude)) return false;
  const uint64_t limit = uint64_t{1} << 63;
  if (negative ? magnitude > limit : magnitude >= limit) return false;
  *value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

bool ParseGoUint(std::string_view text, uint64_t* value) {
  if (text.empty()) return false;
  uint64_t result = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    if (result > (UINT64_MAX - (c - '0')) / 10) return false;
    result = result * 10 + (c - '0');
  }
  *value = result;
  return true;
}

namespace {

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] + 32) : a[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// Go allows underscores between digits only after a base prefix; base 10 has none, so they are rejected here.
bool ParseUnsignedDouble(std::string_view text, double* value) {
  if (EqualsIgnoringCase(text, "inf") || EqualsIgnoringCase(text, "infinity")) {
    *value = std::numeric_limits<double>::infinity();
    return true;
  }
  if (EqualsIgnoringCase(text, "nan")) {
    *value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  std::string_view body = hex ? text.substr(2) : text;
  // from_chars accepts no sign and no leading blanks; Go's hexadecimal floats need an exponent.
  if (body.empty() || body[0] == '-' || body[0] == '+') return false;
  if (hex && body.find_first_of("pP") == std::string_view::npos) return false;
  const char first = body[0];
  const bool starts_well = (first >= '0' && first <= '9') || first == '.' || hex;
  if (!starts_well) return false;
  const auto read = std::from_chars(body.data(), body.data() + body.size(), *value,
                                    hex ? std::chars_format::hex : std::chars_format::general);
  if (read.ptr != body.data() + body.size()) return false;
  if (read.ec == std::errc::result_out_of_range) {
    // Too small becomes zero, too large is an error.
    const double parsed = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isinf(parsed)) return false;
    *value = parsed;
    return true;
  }
  return read.ec == std::errc();
}

}  // namespace

bool ParseGoDouble(std::string_view text, double* value) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (!ParseUnsignedDouble(text, value)) return false;
  if (negative) *value = -*value;
  return true;
}

bool ParseGoBool(std::string_view text, bool* value) {
  if (text == "1" || text == "t" || text == "T" || text == "true" || text == "TRUE" || text == "True") {
    *value = true;
    return true;
  }
  if (text == "0" || text == "f" || text == "F" || text == "false" || text == "FALSE" || text == "False") {
    *value = false;
    return true;
  }
  return false;
}

bool IsSpace(char32_t rune) {
  switch (rune) {
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
    case ' ':
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return true;
    default:
      return rune >= 0x2000 && rune <= 0x200A;
  }
}

}  // namespace berth::cel
