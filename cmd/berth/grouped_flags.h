// Flags in named groups with pflag's error texts: kube-scheduler's command line. "_" in a name counts as "-". The other
// verbs are berth's own and use flags.h.
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
  // What flags point to must outlive this; its content now is the default. Groups come in the order of first use.
  explicit GroupedFlags(std::vector<GroupedFlag> flags);

  bool Given(std::string_view name) const;
  // Given, with another value than the default.
  bool Changed(std::string_view name) const;

  // Every flag under its group's heading, sorted by name. Lines are broken at `columns`; 0 for not at all. Empty while
  // a HelpCapture (flags.h) lives, which takes the description.
  std::string Help(size_t columns = 0) const;

  // Sorted by name: what /flagz shows, and the log with -v=1.
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
