#include "codec/yaml_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "base/ascii.h"
#include "base/base64.h"
#include "codec/number_text.h"

namespace berth::codec {
namespace {

using Kind = ResolvedScalar::Kind;

const ResolvedScalar* FindWord(std::string_view text) {
  static const auto* words = [] {
    auto* map = new std::unordered_map<std::string_view, ResolvedScalar>;
    auto add = [&](ResolvedScalar scalar, std::initializer_list<std::string_view> spellings) {
      for (std::string_view spelling : spellings) map->emplace(spelling, scalar);
    };
    add({Kind::kBool, true, ""}, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"});
    add({Kind::kBool, false, ""}, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"});
    add({Kind::kNull, false, ""}, {"", "~", "null", "Null", "NULL"});
    add({Kind::kFloat, false, ""},
        {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"});
    return map;
  }();
  auto it = words->find(text);
  return it == words->end() ? nullptr : &it->second;
}

template <class Integer>
std::optional<Integer> ParseWhole(std::string_view digits, int base) {
  Integer value{};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || stop != end || digits.empty()) return std::nullopt;
  return value;
}

// A sign, then 0x, 0o or 0b and digits, a leading 0 for octal, or decimal digits, as long as 64 bits hold it.
std::optional<std::string> ParseInteger(std::string_view text) {
  const bool has_sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  const bool negative = has_sign && text[0] == '-';
  std::string_view digits = text.substr(has_sign ? 1 : 0);
  int base = 10;
  if (digits.size() >= 2 && digits[0] == '0') {
    const char letter = static_cast<char>(digits[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    digits.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  if (digits.empty() || digits[0] == '-' || digits[0] == '+') return std::nullopt;
  const std::optional<uint64_t> magnitude = ParseWhole<uint64_t>(digits, base);
  if (!magnitude) return std::nullopt;
  if (has_sign && *magnitude > static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0)) return std::nullopt;
  return fmt::format("{}{}", negative && *magnitude != 0 ? "-" : "", *magnitude);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t i = 0;
  auto skip_digits = [&] {
    const size_t start = i;
    while (i < text.size() && base::IsDigit(text[i])) ++i;
    return i - start;
  };
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  const size_t whole = skip_digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (skip_digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (skip_digits() == 0) return false;
  }
  return i == text.size();
}

std::optional<std::string> ParseFloat(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  if (std::isinf(value)) return std::nullopt;
  return JsonNumber(value);
}

bool LooksLikeTimestamp(std::string_view text) {
  return text.size() > 5 && std::all_of(text.begin(), text.begin() + 4, base::IsDigit) && text[4] == '-' &&
         base::IsDigit(text[5]);
}

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "!!null";
    case Kind::kBool:
      return "!!bool";
    case Kind::kInteger:
      return "!!int";
    case Kind::kFloat:
      return "!!float";
    default:
      return "!!str";
  }
}

}  // namespace

ResolvedScalar ResolvePlain(std::string_view text) {
  if (const ResolvedScalar* word = FindWord(text)) return *word;
  const char first = text[0];
  if (first == '.') {
    if (auto number = ParseFloat(text)) return {Kind::kFloat, false, std::move(*number)};
  } else if (base::IsDigit(first) || first == '+' || first == '-') {
    std::string digits(text);
    std::erase(digits, '_');
    if (auto number = ParseInteger(digits)) return {Kind::kInteger, false, std::move(*number)};
    if (auto number = ParseFloat(digits)) return {Kind::kFloat, false, std::move(*number)};
  }
  return {Kind::kString, false, std::string(text)};
}

ResolvedScalar ResolveTagged(std::string_view tag, std::string_view text) {
  constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
  const std::string_view name = tag.starts_with(kPrefix) ? tag.substr(kPrefix.size()) : std::string_view();
  if (name == "binary") {
    if (auto bytes = base::DecodeBase64(text)) return {Kind::kString, false, std::move(*bytes)};
    return {Kind::kInvalid, false, "expected base64 text after !!binary"};
  }
  const bool typed = name == "bool" || name == "int" || name == "float" || name == "null" || name == "timestamp";
  if (!typed) return {Kind::kString, false, std::string(text)};

  ResolvedScalar scalar = ResolvePlain(text);
  if (name == "timestamp" && scalar.kind == Kind::kString && LooksLikeTimestamp(text)) return scalar;
  if (name == "float" && scalar.kind == Kind::kInteger) {
    const double value = std::strtod(scalar.text.c_str(), nullptr);
    return {Kind::kFloat, false, JsonNumber(value)};
  }
  if (KindName(scalar.kind).substr(2) == name) return scalar;
  return {Kind::kInvalid, false, fmt::format("cannot read {} `{}` as !!{}", KindName(scalar.kind), text, name)};
}

}  // namespace berth::codec
