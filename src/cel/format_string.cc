#include "cel/format_string.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <vector>

#include "base/ascii.h"
#include "cel/environment.h"
#include "cel/go_text.h"
#include "cel/operations.h"
#include "cel/time.h"
#include "cel/type.h"

namespace berth::cel {
namespace {

constexpr int kDefaultPrecision = 6;
constexpr size_t kMaxText = size_t{64} << 20;

Error Fail(std::string message) { return Error::InvalidArgument(std::move(message)); }

// 1234567.5 as 1,234,567.5.
std::string Group(std::string digits) {
  const size_t start = digits.starts_with('-') ? 1 : 0;
  size_t point = std::min(digits.find('.'), digits.size());
  while (point > start + 3) {
    point -= 3;
    digits.insert(point, ",");
  }
  return digits;
}

std::string PadLeft(std::string text, int width) {
  const int64_t missing = width - CountRunes(text);
  return missing > 0 ? std::string(static_cast<size_t>(missing), ' ') + text : text;
}

std::string FormatFixed(double number, int precision) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "\u221E" : "-\u221E";
  std::string text = FormatDoubleF(number == 0 ? 0.0 : number, precision);
  // A number that rounds to zero has no sign.
  if (text.starts_with('-') && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return Group(std::move(text));
}

// Upstream's locale prints 1.5×10⁰³, and treats the precision as a width.
std::string FormatScientific(double number, int width) {
  if (std::isnan(number)) return PadLeft("NaN", width);
  if (std::isinf(number)) return PadLeft(number > 0 ? "\u221E" : "-\u221E", width);
  const std::string plain = fmt::format("{:.6e}", number == 0 ? 0.0 : number);
  const size_t mark = plain.find('e');
  static constexpr std::string_view kRaised[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                                 "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = plain.substr(0, mark) + "\u00D710";
  for (const char c : plain.substr(mark + 1)) {
    if (c == '-') text += "\u207B";
    if (c >= '0' && c <= '9') text += kRaised[c - '0'];
  }
  return PadLeft(std::move(text), width);
}

std::string InBinary(uint64_t magnitude, bool negative) {
  std::string text = std::bitset<64>(magnitude).to_string();
  text.erase(0, std::min(text.find('1'), text.size() - 1));
  return (negative ? "-" : "") + text;
}

std::string Hex(std::string_view bytes, bool upper) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += upper ? fmt::format("{:02X}", byte) : fmt::format("{:02x}", byte);
  }
  return text;
}

Result<std::string> FormatNested(Evaluation& evaluation, const Value& value);

std::string QuoteNested(const Value& value, std::string text) {
  if (value.kind() == Kind::kString) return Quote(text);
  if (value.kind() == Kind::kBytes) return "b" + Quote(text);
  if (value.kind() == Kind::kDouble && !std::isfinite(value.as_double())) return Quote(text);
  return text;
}

Result<std::string> FormatListText(Evaluation& evaluation, const ListObject& list) {
  std::string text = "[";
  for (int64_t i = 0; i < list.size(); ++i) {
    evaluation.Work(1);
    const Value element = list.Get(i);
    Result<std::string> part = FormatNested(evaluation, element);
    if (!part) return part;
    if (i > 0) text += ", ";
    text += QuoteNested(element, *std::move(part));
    if (text.size() > kMaxText) throw Cancelled{kCostLimitExceeded};
  }
  return text + "]";
}

Result<std::string> FormatMapText(Evaluation& evaluation, const MapObject& map) {
  std::vector<std::pair<std::string, std::string>> pairs;
  size_t size = 0;
  for (int64_t i = 0; i < map.size(); ++i) {
    evaluation.Work(1);
    const Value key = map.KeyAt(i);
    if (key.kind() != Kind::kString && key.kind() != Kind::kBool && key.kind() != Kind::kInt &&
        key.kind() != Kind::kUint) {
      return Fail(fmt::format("no formatting function for map key of type {}", TypeName(key)));
    }
    Result<std::string> key_text = FormatNested(evaluation, key);
    if (!key_text) return key_text;
    const Value value = map.ValueAt(i, evaluation.arena());
    Result<std::string> value_text = FormatNested(evaluation, value);
    if (!value_text) return value_text;
    pairs.emplace_back(QuoteNested(key, *std::move(key_text)), QuoteNested(value, *std::move(value_text)));
    size += pairs.back().first.size() + pairs.back().second.size();
    if (size > kMaxText) throw Cancelled{kCostLimitExceeded};
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = "{";
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i > 0) text += ", ";
    text += pairs[i].first + ":" + pairs[i].second;
  }
  return text + "}";
}

// An element of a list, a key or a value of a map.
Result<std::string> FormatNested(Evaluation& evaluation, const Value& value) {
  switch (value.kind()) {
    case Kind::kInt:
      return fmt::format("{}", value.as_int());
    case Kind::kUint:
      return fmt::format("{}", value.as_uint());
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kBool:
    case Kind::kNull:
    case Kind::kType:
      return FormatArgument(evaluation, {'s', -1}, value);
    case Kind::kTimestamp:
      return fmt::format("timestamp({})", Quote(FormatRfc3339(value.timestamp())));
    case Kind::kDuration:
      return fmt::format("duration({})", Quote(FormatDurationSeconds(value.as_duration())));
    case Kind::kList:
      return FormatListText(evaluation, value.list());
    case Kind::kMap:
      return FormatMapText(evaluation, value.map());
    case Kind::kDouble:
      return FormatDoubleF(value.as_double(), kDefaultPrecision);
    default:
      return Fail(fmt::format("no formatting function for {}", TypeName(value)));
  }
}

Result<std::string> FormatText(Evaluation& evaluation, const Value& value) {
  switch (value.kind()) {
    case Kind::kList:
      return FormatListText(evaluation, value.list());
    case Kind::kMap:
      return FormatMapText(evaluation, value.map());
    case Kind::kNull:
      return std::string("null");
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kBool:
    case Kind::kString:
    case Kind::kTimestamp:
    case Kind::kBytes:
    case Kind::kDuration:
    case Kind::kType: {
      const Value text = Convert(evaluation, value, Kind::kString);
      if (text.is_error()) {
        return Fail(fmt::format("could not convert argument {} to string", Quote(text.text())));
      }
      return std::string(text.text());
    }
    default:
      return Fail(FormatTypeMessage('s', TypeName(value)));
  }
}

// Doubles, and the texts for values that no literal can express.
bool AsFormattedDouble(const Value& value, double* number) {
  if (value.kind() == Kind::kDouble) {
    *number = value.as_double();
    return true;
  }
  if (value.kind() != Kind::kString) return false;
  const std::string_view text = value.text();
  return (text == "NaN" || text == "Infinity" || text == "-Infinity") && ParseGoDouble(text, number);
}

Result<std::string> FormatInteger(char letter, const Value& value) {
  const bool negative = value.kind() == Kind::kInt && value.as_int() < 0;
  const uint64_t magnitude = negative ? 0 - value.as_uint() : value.as_uint();
  const std::string sign = negative ? "-" : "";
  switch (letter) {
    case 'd':
      return sign + fmt::format("{}", magnitude);
    case 'b':
      return InBinary(magnitude, negative);
    case 'o':
      return sign + fmt::format("{:o}", magnitude);
    case 'x':
      return sign + fmt::format("{:x}", magnitude);
    default:
      return sign + fmt::format("{:X}", magnitude);
  }
}

using base::IsDigit;

// Reads what follows a percent sign. `rest` is not empty.
Result<FormatClause> ReadClause(std::string_view& rest) {
  FormatClause clause;
  if (rest[0] == '.') {
    size_t digits = 1;
    while (digits < rest.size() && IsDigit(rest[digits])) ++digits;
    if (digits == rest.size()) {
      return Fail("error while parsing precision: could not find end of precision specifier");
    }
    const std::string_view number = rest.substr(1, digits - 1);
    int64_t precision = 0;
    if (!ParseGoInt(number, &precision)) {
      return Fail(
          fmt::format("error while parsing precision: error while converting precision to integer: "
                      "strconv.Atoi: parsing {}: {}",
                      Quote(number), number.empty() ? "invalid syntax" : "value out of range"));
    }
    // More digits are useless; upstream prints an error instead of the number.
    clause.precision = static_cast<int>(std::min<int64_t>(precision, 100000));
    rest.remove_prefix(digits);
  }
  clause.letter = rest[0];
  if (std::string_view("sdfebxXo").find(clause.letter) == std::string_view::npos) {
    std::string shown;
    AppendRune(shown, static_cast<unsigned char>(clause.letter));
    return Fail(fmt::format("unrecognized formatting clause \"{}\"", shown));
  }
  rest.remove_prefix(1);
  return clause;
}

}  // namespace

std::string FormatTypeMessage(char letter, std::string_view type) {
  switch (letter) {
    case 's':
      return fmt::format(
          "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
          "timestamps, was given {}",
          type);
    case 'd':
      return fmt::format("decimal clause can only be used on integers, was given {}", type);
    case 'f':
      return fmt::format("fixed-point clause can only be used on doubles, was given {}", type);
    case 'e':
      return fmt::format("scientific clause can only be used on doubles, was given {}", type);
    case 'b':
      return fmt::format("only integers and bools can be formatted as binary, was given {}", type);
    case 'o':
      return fmt::format("octal clause can only be used on integers, was given {}", type);
    default:
      return fmt::format("only integers, byte buffers, and strings can be formatted as hex, was given {}", type);
  }
}

Result<std::string> FormatArgument(Evaluation& evaluation, FormatClause clause, const Value& argument) {
  const bool integer = argument.kind() == Kind::kInt || argument.kind() == Kind::kUint;
  double number = 0;
  switch (clause.letter) {
    case 's':
      return FormatText(evaluation, argument);
    case 'f':
    case 'e':
      if (!AsFormattedDouble(argument, &number)) break;
      if (clause.letter == 'f') {
        return FormatFixed(number, clause.precision < 0 ? kDefaultPrecision : clause.precision);
      }
      return FormatScientific(number, clause.precision < 0 ? kDefaultPrecision : clause.precision);
    case 'b':
      if (argument.kind() == Kind::kBool) return std::string(argument.as_bool() ? "1" : "0");
      [[fallthrough]];
    case 'd':
    case 'o':
      if (integer) return FormatInteger(clause.letter, argument);
      break;
    default:
      if (integer) return FormatInteger(clause.letter, argument);
      if (argument.kind() == Kind::kString || argument.kind() == Kind::kBytes) {
        evaluation.Work(argument.text().size());
        return Hex(argument.text(), clause.letter == 'X');
      }
  }
  return Fail(FormatTypeMessage(clause.letter, TypeName(argument)));
}

Result<std::string> WalkFormatString(std::string_view text, const std::function<Result<void>(int64_t)>& argument,
                                     const std::function<Result<std::string>(int64_t, FormatClause)>& format,
                                     int64_t count) {
  std::string out;
  int64_t index = 0;
  while (!text.empty()) {
    if (text[0] != '%') {
      const size_t plain = std::min(text.find('%'), text.size());
      out += text.substr(0, plain);
      text.remove_prefix(plain);
      continue;
    }
    if (text.starts_with("%%")) {
      out += '%';
      text.remove_prefix(2);
      continue;
    }
    text.remove_prefix(1);
    if (Result<void> exists = argument(index); !exists) return exists.error();
    if (text.empty()) return Fail("unexpected end of string");
    if (index >= count) return Fail(fmt::format("index {} out of range", index));
    Result<FormatClause> clause = ReadClause(text);
    if (!clause) return Fail("could not parse formatting clause: " + clause.error().message);
    Result<std::string> part = format(index, *clause);
    if (!part) return Fail("error during formatting: " + part.error().message);
    out += *part;
    if (out.size() > kMaxText) throw Cancelled{kCostLimitExceeded};
    ++index;
  }
  return out;
}

namespace {

Value FormatFunction(Evaluation& evaluation, std::span<const Value> arguments) {
  const ListObject& list = arguments[1].list();
  Result<std::string> text = WalkFormatString(
      arguments[0].text(),
      [&](int64_t index) -> Result<void> {
        if (index >= list.size()) return Fail(fmt::format("index {} out of range", index));
        return {};
      },
      [&](int64_t index, FormatClause clause) { return FormatArgument(evaluation, clause, list.Get(index)); },
      list.size());
  return text ? MakeString(evaluation, *text) : MakeError(evaluation.arena(), text.error().message);
}

}  // namespace

void AddFormatStringLibrary(Environment& environment) {
  using namespace types;
  environment.Member("format", "string_format", {&kString, environment.pool().List(&kDyn)}, &kString, FormatFunction);
  environment.Add("format").overloads.back().style = CallStyle::kVariadic;
}

}  // namespace berth::cel
