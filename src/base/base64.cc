#include "base/base64.h"

#include <cstdint>

namespace berth::base {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string letters(text);
  std::erase_if(letters, [](char c) { return c == '\n' || c == '\r'; });
  if (letters.size() % 4 != 0) return std::nullopt;
  const size_t padding = letters.ends_with("==") ? 2 : letters.ends_with('=') ? 1 : 0;
  std::string bytes;
  uint32_t group = 0;
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t sextet = i + padding >= letters.size() ? 0 : kBase64.find(letters[i]);
    if (sextet == std::string_view::npos) return std::nullopt;
    group = group << 6 | static_cast<uint32_t>(sextet);
    if (i % 4 != 3) continue;
    bytes += {static_cast<char>(group >> 16), static_cast<char>(group >> 8), static_cast<char>(group)};
    group = 0;
  }
  bytes.erase(bytes.size() - padding);
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? kBase64[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

}  // namespace berth::base
