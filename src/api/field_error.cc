#include "api/field_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace berth::api {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when it is malformed.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
  const bool too_large = lead == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

// JSON as Go's encoder writes it: also escapes <, > and &, so that the text is safe inside HTML.
std::string JsonQuote(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t length = SequenceLength(text.substr(i));
    if (length != 1) {
      if (length == 0) {
        out += "\\ufffd";
      } else {
        out += text.substr(i, length);
      }
      i += std::max<size_t>(length, 1);
      continue;
    }
    ++i;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (c < 0x20 || c == '<' || c == '>' || c == '&') {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

}  // namespace

std::string FieldChild(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

std::string FieldIndex(std::string_view path, size_t index) { return fmt::format("{}[{}]", path, index); }

std::string FieldKey(std::string_view path, std::string_view key) { return fmt::format("{}[{}]", path, key); }

std::string InvalidField(std::string_view path, std::string_view value, std::string_view detail) {
  return fmt::format("{}: Invalid value: {}: {}", path, Quote(value), detail);
}

std::string InvalidField(std::string_view path, std::span<const Symbol> values, std::string_view detail) {
  std::string list = "null";
  if (!values.empty()) {
    list = "[";
    for (const Symbol& value : values) {
      if (list.size() > 1) list += ',';
      list += JsonQuote(value.str());
    }
    list += ']';
  }
  return fmt::format("{}: Invalid value: {}: {}", path, list, detail);
}

std::string UnsupportedField(std::string_view path, std::string_view value,
                             std::span<const std::string_view> supported) {
  std::string list;
  for (std::string_view option : supported) {
    if (!list.empty()) list += ", ";
    list += Quote(option);
  }
  return fmt::format("{}: Unsupported value: {}: supported values: {}", path, JsonQuote(value), list);
}

std::string JoinErrors(std::span<const std::string> errors) {
  std::vector<std::string_view> distinct;
  for (const std::string& error : errors) {
    if (std::find(distinct.begin(), distinct.end(), error) == distinct.end()) distinct.push_back(error);
  }
  return distinct.size() == 1 ? std::string(distinct[0]) : fmt::format("[{}]", fmt::join(distinct, ", "));
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t length = SequenceLength(text.substr(i));
    if (length > 1) {
      out += text.substr(i, length);
      i += length;
      continue;
    }
    ++i;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\a':
        out += "\\a";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\v':
        out += "\\v";
        break;
      default:
        if (length == 0 || c < 0x20 || c == 0x7F) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

}  // namespace berth::api
