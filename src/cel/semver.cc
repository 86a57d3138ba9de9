#include "cel/semver.h"

#include <fmt/format.h>

#include <vector>

#include "base/ascii.h"
#include "cel/go_text.h"

namespace berth::cel {
namespace {

bool OnlyDigits(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

bool OnlyAlphanumeric(std::string_view text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789") ==
         std::string_view::npos;
}

// At most three parts; the last keeps its dots.
std::vector<std::string_view> SplitVersion(std::string_view text) {
  std::vector<std::string_view> parts;
  while (parts.size() < 2) {
    const size_t end = text.find('.');
    if (end == std::string_view::npos) break;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

Error ParseUintError(std::string_view text) {
  return Error::InvalidArgument(fmt::format("strconv.ParseUint: parsing {}: {}", Quote(text),
                                            text.empty() ? "invalid syntax" : "value out of range"));
}

Result<uint64_t> ParseNumber(std::string_view text, std::string_view lower, std::string_view upper) {
  if (!OnlyDigits(text)) {
    return Error::InvalidArgument(fmt::format("Invalid character(s) found in {} number {}", lower, Quote(text)));
  }
  if (text.size() > 1 && text[0] == '0') {
    return Error::InvalidArgument(fmt::format("{} number must not contain leading zeroes {}", upper, Quote(text)));
  }
  uint64_t value = 0;
  if (!ParseGoUint(text, &value)) return ParseUintError(text);
  return value;
}

Result<Semver::Identifier> ParseIdentifier(std::string_view text) {
  if (text.empty()) return Error::InvalidArgument("Prerelease is empty");
  if (OnlyDigits(text)) {
    if (text.size() > 1 && text[0] == '0') {
      return Error::InvalidArgument(
          fmt::format("Numeric PreRelease version must not contain leading zeroes {}", Quote(text)));
    }
    uint64_t value = 0;
    if (!ParseGoUint(text, &value)) return ParseUintError(text);
    return Semver::Identifier{text, value, true};
  }
  if (!OnlyAlphanumeric(text)) {
    return Error::InvalidArgument(fmt::format("Invalid character(s) found in prerelease {}", Quote(text)));
  }
  return Semver::Identifier{text, 0, false};
}

Result<void> CheckBuild(std::string_view build) {
  for (const std::string_view part : base::Split(build, '.')) {
    if (part.empty()) return Error::InvalidArgument("Build meta data is empty");
    if (!OnlyAlphanumeric(part)) {
      return Error::InvalidArgument(fmt::format("Invalid character(s) found in build meta data {}", Quote(part)));
    }
  }
  return {};
}

int CompareIdentifiers(const Semver::Identifier& a, const Semver::Identifier& b) {
  if (a.numeric != b.numeric) return a.numeric ? -1 : 1;
  if (a.numeric) return a.number < b.number ? -1 : a.number > b.number ? 1 : 0;
  const int order = a.text.compare(b.text);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace

int Semver::Compare(const Semver& other) const {
  if (major != other.major) return major > other.major ? 1 : -1;
  if (minor != other.minor) return minor > other.minor ? 1 : -1;
  if (patch != other.patch) return patch > other.patch ? 1 : -1;
  // A release comes after its prereleases.
  if (prerelease.empty() || other.prerelease.empty()) {
    return static_cast<int>(prerelease.empty()) - static_cast<int>(other.prerelease.empty());
  }
  for (size_t i = 0; i < prerelease.size() && i < other.prerelease.size(); ++i) {
    if (const int order = CompareIdentifiers(prerelease[i], other.prerelease[i]); order != 0) return order;
  }
  if (prerelease.size() == other.prerelease.size()) return 0;
  return prerelease.size() < other.prerelease.size() ? -1 : 1;
}

Result<const Semver*> ParseSemver(std::string_view given, Arena& arena) {
  if (given.empty()) return Error::InvalidArgument("Version string empty");
  const std::string_view text = arena.Copy(given);
  const std::vector<std::string_view> parts = SplitVersion(text);
  if (parts.size() != 3) return Error::InvalidArgument("No Major.Minor.Patch elements found");
  Semver* version = arena.New<Semver>();
  version->text = text;
  Result<uint64_t> major = ParseNumber(parts[0], "major", "Major");
  if (!major) return major.error();
  Result<uint64_t> minor = ParseNumber(parts[1], "minor", "Minor");
  if (!minor) return minor.error();

  std::string_view rest = parts[2], build, prerelease;
  const size_t plus = rest.find('+');
  if (plus != std::string_view::npos) {
    build = rest.substr(plus + 1);
    rest = rest.substr(0, plus);
  }
  const size_t dash = rest.find('-');
  if (dash != std::string_view::npos) {
    prerelease = rest.substr(dash + 1);
    rest = rest.substr(0, dash);
  }
  Result<uint64_t> patch = ParseNumber(rest, "patch", "Patch");
  if (!patch) return patch.error();
  version->major = *major;
  version->minor = *minor;
  version->patch = *patch;
  if (dash != std::string_view::npos) {
    const std::vector<std::string_view> identifiers = base::Split(prerelease, '.');
    const std::span<Semver::Identifier> kept = arena.NewArray<Semver::Identifier>(identifiers.size());
    for (size_t i = 0; i < identifiers.size(); ++i) {
      Result<Semver::Identifier> identifier = ParseIdentifier(identifiers[i]);
      if (!identifier) return identifier.error();
      kept[i] = *identifier;
    }
    version->prerelease = kept;
  }
  if (plus != std::string_view::npos) {
    if (Result<void> good = CheckBuild(build); !good) return good.error();
  }
  return static_cast<const Semver*>(version);
}

Result<const Semver*> ParseLooseSemver(std::string_view text, Arena& arena) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::vector<std::string> parts;
  for (const std::string_view part : SplitVersion(text)) {
    std::string kept(part);
    if (part.size() > 1) {
      kept.erase(0, std::min(kept.find_first_not_of('0'), kept.size()));
      if (kept.empty() || kept[0] < '0' || kept[0] > '9') kept.insert(0, 1, '0');
    }
    parts.push_back(std::move(kept));
  }
  if (parts.size() < 3) {
    if (parts.back().find_first_of("+-") != std::string::npos) {
      return Error::InvalidArgument("short version cannot contain PreRelease/Build meta data");
    }
    parts.resize(3, "0");
  }
  return ParseSemver(fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]), arena);
}

}  // namespace berth::cel
