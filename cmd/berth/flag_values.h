// Values of flags as pflag parses and prints them: kube-scheduler's flags keep their syntax and their error messages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::cmd {

struct IpAddress {
  std::string text;  // as Go prints it
};

// A certificate and its key for connections that ask for one of `names`: "cert,key" or "cert,key:name,name".
struct NamedCertKey {
  std::string cert_file;
  std::string key_file;
  std::vector<std::string> names{};
};

// "kube:A=true,B=false": the component of each part is before the colon, if any.
struct GateAssignments {
  std::vector<std::pair<std::string, std::string>> parts{};  // component, assignment
};

// How much is logged; -v.
struct LogLevel {
  uint32_t level = 0;
};

// "queue=5,sched*=3": levels for files whose name matches.
struct LogPatterns {
  std::vector<std::pair<std::string, uint32_t>> items{};
};

// A number of bytes, written as a quantity: 512, 1K, 2Ki.
struct ByteCount {
  int64_t bytes = 0;
  std::string text = "0";
};

// "false", "true", "raw", or a version that begins with "v". The flag alone means "true".
struct VersionChoice {
  std::string text = "false";
};

// Where a value is stored. Its type decides the syntax.
using FlagTarget =
    std::variant<bool*, int64_t*, int32_t*, uint64_t*, float*, base::Duration*, std::string*, IpAddress*,
                 std::vector<std::string>*, std::vector<int32_t>*, std::map<std::string, std::string>*,
                 std::vector<NamedCertKey>*, GateAssignments*, LogLevel*, LogPatterns*, ByteCount*, VersionChoice*>;

// Lists and maps: the first value replaces the default, later ones (`again`) are added. The error only describes what
// is wrong with `text`.
Result<void> SetFlag(const FlagTarget& target, const std::string& text, bool again);
std::string FlagText(const FlagTarget& target);

// pflag's name for the type, as --help shows it after the flag; empty for a bool.
std::string_view FlagTypeName(const FlagTarget& target);
// Whether --help omits a default with this text.
bool IsZeroDefault(const FlagTarget& target, std::string_view text);
// A flag whose value may be omitted means "true" then.
bool NeedsValue(const FlagTarget& target);

// "1.36", optionally with a v before it and a patch version after it; upstream's error otherwise.
struct MinorVersion {
  uint32_t major = 0;
  uint32_t minor = 0;
  uint32_t patch = 0;

  std::string Text() const;
  friend auto operator<=>(const MinorVersion&, const MinorVersion&) = default;
};
Result<MinorVersion> ParseMinorVersion(std::string_view text);

}  // namespace berth::cmd
