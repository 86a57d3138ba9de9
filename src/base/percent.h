// Percent-encoding, as in URLs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace berth::base {

// Unset when a percent sign is not followed by two hex digits.
inline std::optional<std::string> DecodePercent(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return out;
}

}  // namespace berth::base
