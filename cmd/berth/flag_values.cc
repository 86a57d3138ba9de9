#include "flag_values.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

#include "api/field_error.h"
#include "api/quantity.h"
#include "api/time.h"
#include "base/ascii.h"
#include "config/feature_gates.h"

namespace berth::cmd {
namespace {

using Texts = std::vector<std::string>;

Error BadSyntax(std::string_view function, std::string_view text) {
  return Error::InvalidArgument(fmt::format("strconv.{}: parsing {}: invalid syntax", function, api::Quote(text)));
}
Error OutOfRange(std::string_view function, std::string_view text) {
  return Error::InvalidArgument(fmt::format("strconv.{}: parsing {}: value out of range", function, api::Quote(text)));
}

// The base that Go derives from a prefix, which is removed: 0x, 0o, 0b, or a plain 0 for octal.
int TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = static_cast<char>(digits[1] | 0x20);
  const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  digits.remove_prefix(base == 0 ? 1 : 2);
  return base == 0 ? 8 : base;
}

template <class Integer>
Result<Integer> ParseUnsigned(std::string_view text, int base, Integer most, const char* function) {
  uint64_t value = 0;
  std::string_view digits = text;
  if (base == 0) base = TakeBase(digits);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) return BadSyntax(function, text);
  if (error != std::errc() || value > static_cast<uint64_t>(most)) return OutOfRange(function, text);
  return static_cast<Integer>(value);
}

template <class Integer>
Result<Integer> ParseSigned(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  uint64_t value = 0;
  const int base = TakeBase(digits);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) return BadSyntax("ParseInt", text);
  const uint64_t most = static_cast<uint64_t>(std::numeric_limits<Integer>::max()) + (negative ? 1 : 0);
  if (error != std::errc() || value > most) return OutOfRange("ParseInt", text);
  return static_cast<Integer>(negative ? -value : value);
}

Error BadCsv(size_t column, std::string_view why) {
  return Error::InvalidArgument(fmt::format("parse error on line 1, column {}: {}", column, why));
}

// One field of comma-separated values that begins with a quote; moves `at` behind the field.
Result<std::string> TakeQuoted(std::string_view line, size_t& at) {
  std::string field;
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') {
      field += line[at];
    } else if (at + 1 < line.size() && line[at + 1] == '"') {
      field += line[at++];
    } else if (++at == line.size() || line[at] == ',') {
      return field;
    } else {
      return BadCsv(at, "extraneous or missing \" in quoted-field");
    }
  }
  return BadCsv(at + 1, "extraneous or missing \" in quoted-field");
}

Result<Texts> ReadCsv(std::string_view text) {
  Texts fields;
  if (text.empty()) return fields;
  const std::string_view line = text.substr(0, text.find('\n'));
  for (size_t at = 0;; ++at) {
    if (at < line.size() && line[at] == '"') {
      Result<std::string> field = TakeQuoted(line, at);
      if (!field) return field.error();
      fields.push_back(std::move(*field));
    } else {
      const size_t end = std::min(line.find(',', at), line.size());
      const std::string_view field = line.substr(at, end - at);
      if (const size_t quote = field.find('"'); quote != std::string_view::npos) {
        return BadCsv(at + quote + 1, "bare \" in non-quoted-field");
      }
      fields.emplace_back(field);
      at = end;
    }
    if (at >= line.size()) return fields;
  }
}

std::string WriteCsv(const Texts& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ',';
    const bool quoted = field.find_first_of(",\"\r\n") != std::string::npos || field.starts_with(' ');
    if (!quoted) {
      line += field;
      continue;
    }
    line += '"';
    for (char c : field) line.append(c == '"' ? 2 : 1, c);
    line += '"';
  }
  return "[" + line + "]";
}

template <class List>
void Join(List& list, List values, bool again) {
  if (!again) list.clear();
  list.insert(list.end(), std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
}

Result<NamedCertKey> ParseNamedCertKey(std::string_view text) {
  NamedCertKey pair;
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view names = base::Trimmed(text.substr(colon + 1));
    if (names.empty()) return Error::InvalidArgument("empty names list is not allowed");
    for (const std::string_view name : base::Split(names, ',')) pair.names.emplace_back(base::Trimmed(name));
  }
  const std::vector<std::string_view> files = base::Split(base::Trimmed(text.substr(0, colon)), ',');
  if (files.size() != 2) return Error::InvalidArgument("expected comma separated certificate and key file paths");
  pair.cert_file = base::Trimmed(files[0]);
  pair.key_file = base::Trimmed(files[1]);
  return pair;
}

struct Setter {
  const std::string& text;
  bool again;

  template <class Value>
  static Result<void> Keep(Value* target, Result<Value> parsed) {
    if (!parsed) return parsed.error();
    *target = std::move(*parsed);
    return {};
  }

  Result<void> operator()(bool* target) const { return Keep(target, config::ParseBool(text)); }
  Result<void> operator()(int64_t* target) const { return Keep(target, ParseSigned<int64_t>(text)); }
  Result<void> operator()(int32_t* target) const { return Keep(target, ParseSigned<int32_t>(text)); }
  Result<void> operator()(uint64_t* target) const {
    return Keep(target, ParseUnsigned<uint64_t>(text, 0, UINT64_MAX, "ParseUint"));
  }
  Result<void> operator()(float* target) const {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *target);
    if (error == std::errc::result_out_of_range) return OutOfRange("ParseFloat", text);
    if (error != std::errc() || end != text.data() + text.size()) return BadSyntax("ParseFloat", text);
    return {};
  }
  Result<void> operator()(base::Duration* target) const { return Keep(target, api::ParseDuration(text)); }
  Result<void> operator()(std::string* target) const {
    *target = text;
    return {};
  }
  Result<void> operator()(IpAddress* target) const;
  Result<void> operator()(Texts* target) const {
    Result<Texts> fields = ReadCsv(text);
    if (!fields) return fields.error();
    Join(*target, std::move(*fields), again);
    return {};
  }
  Result<void> operator()(std::vector<int32_t>* target) const {
    std::vector<int32_t> numbers;
    for (const std::string_view part : base::Split(text, ',')) {
      const Result<int32_t> number = ParseSigned<int32_t>(part);
      if (!number) return number.error();
      numbers.push_back(*number);
    }
    Join(*target, std::move(numbers), again);
    return {};
  }
  Result<void> operator()(std::map<std::string, std::string>* target) const;
  Result<void> operator()(std::vector<NamedCertKey>* target) const {
    Result<NamedCertKey> pair = ParseNamedCertKey(text);
    if (!pair) return pair.error();
    if (!again) target->clear();
    target->push_back(std::move(*pair));
    return {};
  }
  Result<void> operator()(GateAssignments* target) const {
    if (!again) target->parts.clear();
    for (const std::string_view part : base::Split(text, ',')) {
      if (part.empty()) continue;
      const size_t colon = part.find(':');
      if (colon == std::string::npos) {
        target->parts.emplace_back("", base::Trimmed(part));
      } else {
        target->parts.emplace_back(base::Trimmed(part.substr(0, colon)), base::Trimmed(part.substr(colon + 1)));
      }
    }
    return {};
  }
  Result<void> operator()(LogLevel* target) const {
    return Keep(&target->level, ParseUnsigned<uint32_t>(text, 10, INT32_MAX, "ParseUint"));
  }
  Result<void> operator()(LogPatterns* target) const;
  Result<void> operator()(ByteCount* target) const {
    const Result<api::Quantity> quantity = api::Quantity::Parse(text);
    if (!quantity) return quantity.error();
    *target = {quantity->Value(), quantity->ToString()};
    return {};
  }
  Result<void> operator()(VersionChoice* target) const {
    if (text == "raw" || text.starts_with('v')) {
      target->text = text;
      return {};
    }
    const Result<bool> wanted = config::ParseBool(text);
    if (!wanted) return wanted.error();
    target->text = *wanted ? "true" : "false";
    return {};
  }
};

Result<void> Setter::operator()(IpAddress* target) const {
  if (text.empty()) return {};
  const std::string trimmed(base::Trimmed(text));
  char printed[INET6_ADDRSTRLEN];
  in_addr v4;
  in6_addr v6;
  if (inet_pton(AF_INET, trimmed.c_str(), &v4) == 1) {
    target->text = trimmed;
    return {};
  }
  if (inet_pton(AF_INET6, trimmed.c_str(), &v6) != 1) {
    return Error::InvalidArgument("failed to parse IP: " + api::Quote(text));
  }
  const bool is_v4 = IN6_IS_ADDR_V4MAPPED(&v6);  // an IPv4 address, and Go prints it as one
  target->text = is_v4 ? inet_ntop(AF_INET, v6.s6_addr + 12, printed, sizeof(printed))
                       : inet_ntop(AF_INET6, &v6, printed, sizeof(printed));
  return {};
}

Result<void> Setter::operator()(std::map<std::string, std::string>* target) const {
  const auto equals = std::count(text.begin(), text.end(), '=');
  if (equals == 0) return Error::InvalidArgument(text + " must be formatted as key=value");
  Texts pairs;
  if (equals == 1) {
    // A single pair may contain commas; only quotes around it are removed.
    const size_t begin = std::min(text.find_first_not_of('"'), text.size());
    pairs.push_back(text.substr(begin, text.find_last_not_of('"') + 1 - begin));
  } else {
    Result<Texts> fields = ReadCsv(text);
    if (!fields) return fields.error();
    pairs = std::move(*fields);
  }
  std::map<std::string, std::string> read;
  for (const std::string& pair : pairs) {
    const size_t at = pair.find('=');
    if (at == std::string::npos) return Error::InvalidArgument(pair + " must be formatted as key=value");
    read[pair.substr(0, at)] = pair.substr(at + 1);
  }
  if (!again) target->clear();
  for (auto& [key, value] : read) (*target)[key] = value;
  return {};
}

Result<void> Setter::operator()(LogPatterns* target) const {
  for (const std::string_view part : base::Split(text, ',')) {
    if (part.empty()) continue;
    const std::vector<std::string_view> sides = base::Split(part, '=');
    if (sides.size() != 2 || sides[0].empty() || sides[1].empty()) {
      return Error::InvalidArgument(api::Quote(part) + " does not have the pattern=N format");
    }
    const Result<uint32_t> level = ParseUnsigned<uint32_t>(sides[1], 10, INT32_MAX, "ParseUint");
    if (!level) {
      return Error::InvalidArgument(
          fmt::format("parsing verbosity in {}: {}", api::Quote(part), level.error().message));
    }
    target->items.emplace_back(sides[0], *level);
  }
  return {};
}

struct Printer {
  std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
  std::string operator()(const int64_t* value) const { return std::to_string(*value); }
  std::string operator()(const int32_t* value) const { return std::to_string(*value); }
  std::string operator()(const uint64_t* value) const { return std::to_string(*value); }
  std::string operator()(const float* value) const { return fmt::format("{:g}", *value); }
  std::string operator()(const base::Duration* value) const { return api::FormatDuration(*value); }
  std::string operator()(const std::string* value) const { return *value; }
  std::string operator()(const IpAddress* value) const { return value->text; }
  std::string operator()(const Texts* value) const { return WriteCsv(*value); }
  std::string operator()(const std::vector<int32_t>* value) const {
    return fmt::format("[{}]", fmt::join(*value, ","));
  }
  std::string operator()(const std::map<std::string, std::string>* value) const {
    Texts pairs;
    for (const auto& [key, text] : *value) pairs.push_back(key + "=" + text);
    return WriteCsv(pairs);
  }
  std::string operator()(const std::vector<NamedCertKey>* value) const {
    Texts pairs;
    for (const NamedCertKey& pair : *value) {
      pairs.push_back(fmt::format("{},{}{}{}", pair.cert_file, pair.key_file, pair.names.empty() ? "" : ":",
                                  fmt::join(pair.names, ",")));
    }
    return fmt::format("[{}]", fmt::join(pairs, ";"));
  }
  std::string operator()(const GateAssignments* value) const {
    auto parts = value->parts;
    std::ranges::stable_sort(parts, {}, &std::pair<std::string, std::string>::first);
    Texts pairs;
    for (const auto& [component, assignment] : parts) pairs.push_back(component + ":" + assignment);
    return fmt::format("{}", fmt::join(pairs, ","));
  }
  std::string operator()(const LogLevel* value) const { return std::to_string(value->level); }
  std::string operator()(const LogPatterns* value) const {
    Texts pairs;
    for (const auto& [pattern, level] : value->items) pairs.push_back(fmt::format("{}={}", pattern, level));
    return fmt::format("{}", fmt::join(pairs, ","));
  }
  std::string operator()(const ByteCount* value) const { return value->text; }
  std::string operator()(const VersionChoice* value) const { return value->text; }
};

// In the order of FlagTarget.
constexpr std::string_view kTypeNames[] = {"",
                                           "int",
                                           "int32",
                                           "uint",
                                           "float32",
                                           "duration",
                                           "string",
                                           "ip",
                                           "strings",
                                           "int32Slice",
                                           "stringToString",
                                           "namedCertKey",
                                           "colonSeparatedMultimapStringString",
                                           "Level",
                                           "pattern=N,...",
                                           "quantity",
                                           "version"};
static_assert(std::size(kTypeNames) == std::variant_size_v<FlagTarget>);

}  // namespace

Result<void> SetFlag(const FlagTarget& target, const std::string& text, bool again) {
  return std::visit(Setter{text, again}, target);
}

std::string FlagText(const FlagTarget& target) { return std::visit(Printer{}, target); }

std::string_view FlagTypeName(const FlagTarget& target) { return kTypeNames[target.index()]; }

bool IsZeroDefault(const FlagTarget& target, std::string_view text) {
  if (std::holds_alternative<Texts*>(target)) return text == "[]";
  if (std::holds_alternative<base::Duration*>(target)) return text == "0s";
  return text.empty() || text == "false" || text == "0";
}

bool NeedsValue(const FlagTarget& target) {
  return !std::holds_alternative<bool*>(target) && !std::holds_alternative<VersionChoice*>(target);
}

std::string MinorVersion::Text() const {
  return patch == 0 ? fmt::format("{}.{}", major, minor) : fmt::format("{}.{}.{}", major, minor, patch);
}

Result<MinorVersion> ParseMinorVersion(std::string_view text) {
  const std::string_view trimmed = base::Trimmed(text);
  const std::vector<std::string_view> parts = base::Split(trimmed.starts_with('v') ? trimmed.substr(1) : trimmed, '.');
  MinorVersion version;
  uint32_t* const numbers[] = {&version.major, &version.minor, &version.patch};
  bool good = parts.size() >= 2 && parts.size() <= std::size(numbers);
  for (size_t i = 0; good && i < parts.size(); ++i) {
    const Result<uint32_t> number = ParseUnsigned<uint32_t>(parts[i], 10, INT32_MAX, "ParseUint");
    good = number.ok();
    if (good) *numbers[i] = *number;
  }
  if (!good) return Error::InvalidArgument(fmt::format("could not parse {} as version", api::Quote(text)));
  return version;
}

}  // namespace berth::cmd
