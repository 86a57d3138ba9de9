#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace berth::base {

namespace {

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// Characters that move the cursor, end a line, or change what the reader sees of its neighbours.
bool IsUnsafe(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb);
}

std::string Escape(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  return c < 0x80 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(c))
                  : fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
}

}  // namespace

std::string Printable(std::string_view text) {
  const bool is_command = text.starts_with("::");
  if (!is_command && IsPlain(text)) return std::string(text);
  std::string out = is_command ? "\\x3a" : "";
  if (is_command) text.remove_prefix(1);
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    const char32_t c = DecodeUtf8(text.substr(0, length));
    if (IsUnsafe(c)) {
      out += Escape(c);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string PrintableLines(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += Printable(text.substr(0, end));
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string Clipped(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  return std::string(Utf8Prefix(text, bytes)) + "...";
}

}  // namespace berth::base
