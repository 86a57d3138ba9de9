#include "cel/named_format.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "cel/time.h"
#include "cel/url.h"

namespace berth::cel {
namespace {

using Messages = std::vector<std::string>;

constexpr char kLabel[] = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr char kSubdomain[] = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr char kLabel1035[] = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr char kLabelKey[] = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr char kLabelValue[] = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
constexpr char kLabelKeyMessage[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

// Patterns are compiled once; the texts they are matched against are short (253 characters at most pass).
template <const char* kPattern>
bool Matches(std::string_view text) {
  static const re2::RE2* const pattern = new re2::RE2(kPattern);
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *pattern);
}

std::string TooLong(size_t length) { return fmt::format("must be no more than {} characters", length); }

std::string RegexMessage(std::string_view message, std::string_view pattern, std::vector<std::string_view> examples) {
  std::string text = fmt::format("{} (e.g. ", message);
  for (size_t i = 0; i < examples.size(); ++i) text += fmt::format("{}'{}', ", i > 0 ? " or " : "", examples[i]);
  return text + fmt::format("regex used for validation is '{}')", pattern);
}

Messages CheckLabel(std::string_view text) {
  Messages messages;
  if (text.size() > 63) messages.push_back(TooLong(63));
  if (!Matches<kLabel>(text)) {
    messages.push_back(
        Matches<kSubdomain>(text)
            ? "must not contain dots"
            : RegexMessage("a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
                           "or '-', and must start and end with an alphanumeric character",
                           kLabel, {"my-name", "123-abc"}));
  }
  return messages;
}

Messages CheckSubdomain(std::string_view text) {
  Messages messages;
  if (text.size() > 253) messages.push_back(TooLong(253));
  if (!Matches<kSubdomain>(text)) {
    messages.push_back(RegexMessage(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character",
        kSubdomain, {"example.com"}));
  }
  return messages;
}

Messages CheckLabel1035(std::string_view text) {
  Messages messages;
  if (text.size() > 63) messages.push_back(TooLong(63));
  if (!Matches<kLabel1035>(text)) {
    messages.push_back(
        RegexMessage("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
                     "alphabetic character, and end with an alphanumeric character",
                     kLabel1035, {"my-name", "abc-123"}));
  }
  return messages;
}

// A prefix may end in dashes: the generated part follows.
template <Messages (*kCheck)(std::string_view)>
Messages CheckPrefix(std::string_view text) {
  if (text.size() > 1 && text.ends_with('-')) return kCheck(std::string(text.substr(0, text.size() - 2)) + "a");
  return kCheck(text);
}

Messages CheckQualifiedName(std::string_view text) {
  Messages messages;
  const auto slashes = std::count(text.begin(), text.end(), '/');
  const std::string pattern = RegexMessage(kLabelKeyMessage, kLabelKey, {"MyName", "my.name", "123-abc"});
  if (slashes > 1) {
    return {"a valid label key " + pattern +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  std::string_view name = text;
  if (slashes == 1) {
    const std::string_view prefix = text.substr(0, text.find('/'));
    name = text.substr(prefix.size() + 1);
    if (prefix.empty())
      messages.push_back("prefix part must be non-empty");
    else
      for (const std::string& message : CheckSubdomain(prefix)) messages.push_back("prefix part " + message);
  }
  if (name.empty())
    messages.push_back("name part must be non-empty");
  else if (name.size() > 63)
    messages.push_back("name part " + TooLong(63));
  if (!Matches<kLabelKey>(name)) messages.push_back("name part " + pattern);
  return messages;
}

Messages CheckLabelValue(std::string_view text) {
  Messages messages;
  if (text.size() > 63) messages.push_back(TooLong(63));
  if (!Matches<kLabelValue>(text)) {
    messages.push_back(RegexMessage(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character",
        kLabelValue, {"MyValue", "my_value", "12345"}));
  }
  return messages;
}

Messages CheckUri(std::string_view text) {
  Result<void> good = CheckRequestUri(text);
  return good ? Messages() : Messages{good.error().message};
}

constexpr char kUuid[] = "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}";
constexpr char kBase64[] = "(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})";
constexpr char kTime[] = "([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))";

Messages CheckUuid(std::string_view text) {
  return Matches<kUuid>(text) ? Messages() : Messages{"does not match the UUID format"};
}

Messages CheckBase64(std::string_view text) { return Matches<kBase64>(text) ? Messages() : Messages{"invalid base64"}; }

// 2006-01-02
bool IsDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  int numbers[3] = {0, 0, 0};
  size_t part = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 4 || i == 7) {
      ++part;
    } else if (text[i] < '0' || text[i] > '9') {
      return false;
    } else {
      numbers[part] = numbers[part] * 10 + (text[i] - '0');
    }
  }
  if (numbers[1] < 1 || numbers[1] > 12 || numbers[2] < 1 || numbers[2] > 31) return false;
  return ToCivil(FromCivil(numbers[0], numbers[1], numbers[2]) * 86400).day == numbers[2];
}

Messages CheckDate(std::string_view text) { return IsDate(text) ? Messages() : Messages{"invalid date"}; }

Messages CheckDateTime(std::string_view text) {
  const Messages bad = {"invalid datetime"};
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const size_t mark = lower.find('t');
  if (text.size() < 4 || mark == std::string::npos || !IsDate(std::string_view(lower).substr(0, mark))) return bad;
  std::string_view time = std::string_view(lower).substr(mark + 1);
  time = time.substr(0, time.find('t'));
  if (!Matches<kTime>(time)) return bad;
  return time.substr(0, 2) <= "23" && time.substr(3, 2) <= "59" && time.substr(6, 2) <= "59" ? Messages() : bad;
}

constexpr NamedFormat kFormats[] = {
    {"dns1123Label", "DNS1123Label", 30, CheckLabel},
    {"dns1123Subdomain", "DNS1123Subdomain", 60, CheckSubdomain},
    {"dns1035Label", "DNS1035Label", 30, CheckLabel1035},
    {"qualifiedName", "QualifiedName", 60, CheckQualifiedName},
    {"dns1123LabelPrefix", "DNS1123LabelPrefix", 30, CheckPrefix<CheckLabel>},
    {"dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", 60, CheckPrefix<CheckSubdomain>},
    {"dns1035LabelPrefix", "DNS1035LabelPrefix", 30, CheckPrefix<CheckLabel1035>},
    {"labelValue", "LabelValue", 40, CheckLabelValue},
    {"uri", "URI", 1103, CheckUri},
    {"uuid", "uuid", 70, CheckUuid},
    {"byte", "byte", 84, CheckBase64},
    {"date", "date", 71, CheckDate},
    {"datetime", "datetime", 71, CheckDateTime},
};

}  // namespace

const NamedFormat* FindNamedFormat(std::string_view key) {
  for (const NamedFormat& format : kFormats) {
    if (format.key == key) return &format;
  }
  return nullptr;
}

}  // namespace berth::cel
