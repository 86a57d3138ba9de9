#include "api/field_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/time.h"
#include "base/go_text.h"
#include "base/utf8.h"

namespace berth::api {
namespace {

// The character after the backslash in JSON; 0 when there is none.
char ShortEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

// JSON as Go's encoder writes it: also escapes <, > and &, so that the text is safe inside HTML.
std::string JsonQuote(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t length = base::Utf8SequenceLength(text.substr(i));
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
    if (const char escape = ShortEscape(c)) {
      out += {'\\', escape};
    } else if (c < 0x20 || c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
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
  return InvalidJson(path, list, detail);
}

std::string InvalidNumber(std::string_view path, int64_t value, std::string_view detail) {
  return fmt::format("{}: Invalid value: {}: {}", path, value, detail);
}

std::string InvalidDuration(std::string_view path, base::Duration value, std::string_view detail) {
  return fmt::format("{}: Invalid value: \"{}\": {}", path, FormatDuration(value), detail);
}

std::string InvalidJson(std::string_view path, std::string_view json, std::string_view detail) {
  return fmt::format("{}: Invalid value: {}: {}", path, json, detail);
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

std::string RequiredField(std::string_view path, std::string_view detail) {
  return fmt::format("{}: Required value{}{}", path, detail.empty() ? "" : ": ", detail);
}

std::string DuplicateField(std::string_view path, std::string_view value) {
  return fmt::format("{}: Duplicate value: {}", path, Quote(value));
}

std::string ForbiddenField(std::string_view path, std::string_view detail) {
  return fmt::format("{}: Forbidden: {}", path, detail);
}

std::string JoinErrors(std::span<const std::string> errors) {
  std::vector<std::string_view> distinct;
  for (const std::string& error : errors) {
    if (std::find(distinct.begin(), distinct.end(), error) == distinct.end()) distinct.push_back(error);
  }
  return distinct.size() == 1 ? std::string(distinct[0]) : fmt::format("[{}]", fmt::join(distinct, ", "));
}

std::string Quote(std::string_view text) {
  std::string out;
  base::AppendQuoted(out, text);
  return out;
}

}  // namespace berth::api
