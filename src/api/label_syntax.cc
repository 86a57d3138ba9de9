#include "api/label_syntax.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::api {
namespace {

constexpr size_t kMaxNameLength = 63;
constexpr size_t kMaxSubdomainLength = 253;

constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

constexpr std::string_view kDnsLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

bool IsLowerAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphanumeric(char c) { return IsLowerAlphanumeric(c) || (c >= 'A' && c <= 'Z'); }

bool IsName(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsDnsLabel(std::string_view text) {
  return !text.empty() && IsLowerAlphanumeric(text.front()) && IsLowerAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlphanumeric(c) || c == '-'; });
}

bool IsDnsSubdomain(std::string_view text) {
  for (size_t start = 0;;) {
    const size_t dot = text.find('.', start);
    if (!IsDnsLabel(text.substr(start, dot == text.npos ? dot : dot - start))) return false;
    if (dot == text.npos) return true;
    start = dot + 1;
  }
}

std::string TooLong(size_t limit) { return fmt::format("must be no more than {} bytes", limit); }

}  // namespace

std::vector<std::string> DnsSubdomainProblems(std::string_view name) {
  std::vector<std::string> problems;
  if (name.size() > kMaxSubdomainLength) problems.push_back(TooLong(kMaxSubdomainLength));
  if (!IsDnsSubdomain(name)) problems.emplace_back(kSubdomainRule);
  return problems;
}

std::vector<std::string> DnsLabelProblems(std::string_view name) {
  std::vector<std::string> problems;
  if (name.size() > kMaxNameLength) problems.push_back(TooLong(kMaxNameLength));
  if (!IsDnsLabel(name)) problems.emplace_back(kDnsLabelRule);
  return problems;
}

std::vector<std::string> LabelKeyProblems(std::string_view key) {
  std::vector<std::string> problems;
  std::string_view name = key;
  if (const size_t slash = key.find('/'); slash != key.npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.find('/') != name.npos) {
      return {
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      kNameRule)};
    }
    if (prefix.empty()) {
      problems.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& problem : DnsSubdomainProblems(prefix)) problems.push_back("prefix part " + problem);
    }
  }
  if (name.empty()) {
    problems.emplace_back("name part must be non-empty");
  } else if (name.size() > kMaxNameLength) {
    problems.push_back("name part " + TooLong(kMaxNameLength));
  }
  if (!IsName(name)) problems.push_back(fmt::format("name part {}", kNameRule));
  return problems;
}

std::vector<std::string> LabelValueProblems(std::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > kMaxNameLength) problems.push_back(TooLong(kMaxNameLength));
  if (!value.empty() && !IsName(value)) problems.emplace_back(kValueRule);
  return problems;
}

bool IsExtendedResourceName(std::string_view name) {
  constexpr std::string_view kQuotaPrefix = "requests.";
  if (name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos) return false;
  if (name.starts_with(kQuotaPrefix)) return false;
  // Quota counts the resource as "requests.<name>", so that must still be a valid name.
  return LabelKeyProblems(std::string(kQuotaPrefix).append(name)).empty();
}

}  // namespace berth::api
