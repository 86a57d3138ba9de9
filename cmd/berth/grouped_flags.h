// Flags in named groups with pflag's error messages: kube-scheduler's command line. "_" in a name counts as "-". The
// other verbs are berth's own and use flags.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flag_parser.h"
#include "flag_values.h"

namespace berth::cmd {

struct GroupedFlag {
  std::string_view group;  // as in "Secure serving"
  std::string_view name;
  char shorthand = 0;
  FlagTarget target;
  std::string_view help;
};

class GroupedFlags final : public FlagParser {
 public:
  // The flags' targets must outlive this; their current values are the defaults. Groups appear in the order of first
  // use.
  explicit GroupedFlags(std::vector<GroupedFlag> flags);

  bool Given(std::string_view name) const;
  // Whether the flag was given with a value other than the default.
  bool Changed(std::string_view name) const;

  // Every flag under its group's heading, sorted by name. Lines are wrapped at `columns`; 0: not at all. Empty while a
  // HelpCapture (flags.h) exists, which takes the description.
  std::string Help(size_t columns = 0) const;

  // Sorted by name: for /flagz, and for the log with -v=1.
  struct NameAndValue {
    std::string name;
    std::string value;
  };
  std::vector<NameAndValue> Values() const;

 private:
  struct State {
    GroupedFlag flag;
    std::string default_text;
    bool given = false;
  };

  const State* Find(std::string_view name) const;
  Result<FlagId> FindLong(const std::string& name, const std::string& argument) const override;
  Result<FlagId> FindShort(char letter, const std::string& letters) const override;
  ValueRule RuleOf(FlagId flag) const override;
  Result<void> SetValue(FlagId flag, const std::string& spelled, const std::string& value) override;
  Error MissingValue(FlagId flag, const std::string& spelled, const std::string& letters) const override;
  std::string GroupHelp(std::string_view group, size_t columns) const;

  std::vector<State> flags_;  // sorted by name
  std::vector<std::string_view> groups_;
};

}  // namespace berth::cmd
