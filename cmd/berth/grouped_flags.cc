#include "grouped_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/field_error.h"
#include "base/spelling.h"
#include "flags.h"

namespace berth::cmd {
namespace {

// Wraps the text at `width` characters (0: not at all); all lines but the first are indented by `indent` spaces.
std::string Wrap(std::string_view text, size_t indent, size_t width) {
  std::string wrapped;
  const auto add_line = [&](std::string_view line) {
    if (!wrapped.empty()) wrapped += '\n' + std::string(indent, ' ');
    wrapped += line;
  };
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    while (width > 0 && line.size() > width) {
      size_t space = line.rfind(' ', width);
      if (space == std::string_view::npos || space == 0) space = line.find(' ', width);
      if (space == std::string_view::npos) break;
      add_line(line.substr(0, space));
      line.remove_prefix(space + 1);
    }
    add_line(line);
  }
  return wrapped;
}

}  // namespace

GroupedFlags::GroupedFlags(std::vector<GroupedFlag> flags) {
  for (GroupedFlag& flag : flags) {
    if (std::ranges::find(groups_, flag.group) == groups_.end()) groups_.push_back(flag.group);
    std::string text = FlagText(flag.target);
    flags_.push_back({std::move(flag), std::move(text)});
  }
  std::ranges::sort(flags_, {}, [](const State& state) { return state.flag.name; });
}

const GroupedFlags::State* GroupedFlags::Find(std::string_view name) const {
  const auto it = std::ranges::lower_bound(flags_, name, {}, [](const State& state) { return state.flag.name; });
  return it == flags_.end() || it->flag.name != name ? nullptr : &*it;
}

Result<GroupedFlags::FlagId> GroupedFlags::FindLong(const std::string& name, const std::string& argument) const {
  if (name.empty() || name[0] == '-') return Error::InvalidArgument("bad flag syntax: " + argument);
  std::string normalized = name;
  std::ranges::replace(normalized, '_', '-');
  const State* state = Find(normalized);
  if (state == nullptr) {
    std::vector<std::string_view> names;
    for (const State& known : flags_) names.emplace_back(known.flag.name);
    const std::string_view near = base::NearestWord(normalized, names);
    return Error::InvalidArgument(
        fmt::format("unknown flag: --{}{}", name, near.empty() ? "" : fmt::format(", did you mean --{}?", near)));
  }
  return static_cast<FlagId>(state - flags_.data());
}

Result<GroupedFlags::FlagId> GroupedFlags::FindShort(char letter, const std::string& letters) const {
  const auto it = std::ranges::find(flags_, letter, [](const State& state) { return state.flag.shorthand; });
  if (it != flags_.end()) return static_cast<FlagId>(it - flags_.begin());
  return Error::InvalidArgument(fmt::format("unknown shorthand flag: '{}' in -{}", letter, letters));
}

GroupedFlags::ValueRule GroupedFlags::RuleOf(FlagId flag) const {
  return NeedsValue(flags_[flag].flag.target) ? ValueRule::kRequired : ValueRule::kNone;
}

Error GroupedFlags::MissingValue(FlagId /*flag*/, const std::string& spelled, const std::string& letters) const {
  return Error::InvalidArgument(letters.empty()
                                    ? "flag needs an argument: " + spelled
                                    : fmt::format("flag needs an argument: '{}' in -{}", letters[0], letters));
}

Result<void> GroupedFlags::SetValue(FlagId flag, const std::string& /*spelled*/, const std::string& value) {
  State& state = flags_[flag];
  if (const Result<void> set = SetFlag(state.flag.target, value, state.given); !set) {
    const std::string name = state.flag.shorthand == 0
                                 ? fmt::format("--{}", state.flag.name)
                                 : fmt::format("-{}, --{}", state.flag.shorthand, state.flag.name);
    return Error::InvalidArgument(
        fmt::format("invalid argument {} for {} flag: {}", api::Quote(value), api::Quote(name), set.error().message));
  }
  state.given = true;
  return {};
}

bool GroupedFlags::Given(std::string_view name) const {
  const State* state = Find(name);
  return state != nullptr && state->given;
}

bool GroupedFlags::Changed(std::string_view name) const {
  const State* state = Find(name);
  return state != nullptr && state->given && FlagText(state->flag.target) != state->default_text;
}

std::string GroupedFlags::GroupHelp(std::string_view group, size_t columns) const {
  const auto spelled = [](const State& state) {
    const GroupedFlag& flag = state.flag;
    std::string text = flag.shorthand == 0 ? fmt::format("      --{}", flag.name)
                                           : fmt::format("  -{}, --{}", flag.shorthand, flag.name);
    if (const std::string_view type = FlagTypeName(flag.target); !type.empty()) text += fmt::format(" {}", type);
    if (std::holds_alternative<VersionChoice*>(flag.target)) text += "[=true]";
    return text;
  };
  size_t width = 0;
  for (const State& state : flags_) {
    if (state.flag.group == group) width = std::max(width, spelled(state).size());
  }
  // If there is no room for the texts beside the names, they are not wrapped.
  const size_t text_width = columns > width + 3 + 24 ? columns - width - 3 : 0;
  std::string text = fmt::format("\n{} flags:\n\n", group);
  for (const State& state : flags_) {
    if (state.flag.group != group) continue;
    std::string help(state.flag.help);
    if (!IsZeroDefault(state.flag.target, state.default_text)) {
      const bool quoted = std::holds_alternative<std::string*>(state.flag.target);
      help += fmt::format(" (default {})", quoted ? api::Quote(state.default_text) : state.default_text);
    }
    text += fmt::format("{:<{}}   {}\n", spelled(state), width, Wrap(help, width + 3, text_width));
  }
  return text;
}

std::string GroupedFlags::Help(size_t columns) const {
  CommandDescription described;
  for (const State& state : flags_) {
    FlagDescription& flag = described.flags.emplace_back();
    flag.name = state.flag.name;
    flag.shorthand = state.flag.shorthand;
    flag.value_name = FlagTypeName(state.flag.target);
    flag.help = state.flag.help;
    flag.group = fmt::format("{} flags", state.flag.group);
  }
  if (HelpCapture::Take(std::move(described))) return {};
  std::string text;
  for (std::string_view group : groups_) text += GroupHelp(group, columns);
  return text;
}

std::vector<GroupedFlags::NameAndValue> GroupedFlags::Values() const {
  std::vector<NameAndValue> values;
  for (const State& state : flags_) values.push_back({std::string(state.flag.name), FlagText(state.flag.target)});
  return values;
}

}  // namespace berth::cmd
