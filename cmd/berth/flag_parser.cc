#include "flag_parser.h"

namespace berth::cmd {

Result<std::vector<std::string>> FlagParser::Parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (size_t next = 0; next < arguments.size();) {
    const std::string& argument = arguments[next++];
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<ptrdiff_t>(next), arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      rest.push_back(argument);
      continue;
    }
    const Result<void> parsed =
        argument[1] == '-' ? ParseLong(argument, arguments, next) : ParseShort(argument, arguments, next);
    if (!parsed) return parsed.error();
  }
  return rest;
}

Result<void> FlagParser::ParseLong(const std::string& argument, const std::vector<std::string>& arguments,
                                   size_t& next) {
  const size_t equals = argument.find('=', 2);
  const std::string spelled = argument.substr(0, equals);
  const Result<FlagId> flag = FindLong(spelled.substr(2), argument);
  if (!flag) return flag.error();
  if (equals != std::string::npos) return SetValue(*flag, spelled, argument.substr(equals + 1));
  return SetFromNext(*flag, spelled, {}, arguments, next);
}

Result<void> FlagParser::ParseShort(const std::string& argument, const std::vector<std::string>& arguments,
                                    size_t& next) {
  // The first letter whose flag takes a value takes the rest.
  for (std::string letters = argument.substr(1); !letters.empty(); letters.erase(0, 1)) {
    const Result<FlagId> flag = FindShort(letters[0], letters);
    if (!flag) return flag.error();
    const std::string spelled{'-', letters[0]};
    if (letters.size() > 2 && letters[1] == '=') return SetValue(*flag, spelled, letters.substr(2));
    const bool takes_value = RuleOf(*flag) != ValueRule::kNone;
    if (takes_value && letters.size() > 1) return SetValue(*flag, spelled, letters.substr(1));
    if (Result<void> set = SetFromNext(*flag, spelled, letters, arguments, next); !set || takes_value) return set;
  }
  return {};
}

Result<void> FlagParser::SetFromNext(FlagId flag, const std::string& spelled, const std::string& letters,
                                     const std::vector<std::string>& arguments, size_t& next) {
  const ValueRule rule = RuleOf(flag);
  const bool at_end = next == arguments.size();
  if (rule == ValueRule::kNone) return SetValue(flag, spelled, "true");
  if (rule == ValueRule::kOptional && (at_end || arguments[next].starts_with('-'))) return SetValue(flag, spelled, "");
  if (at_end) return MissingValue(flag, spelled, letters);
  return SetValue(flag, spelled, arguments[next++]);
}

}  // namespace berth::cmd
