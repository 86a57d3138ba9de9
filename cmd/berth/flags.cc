#include "flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/spelling.h"

namespace berth::cmd {

namespace {

// Completion and manual pages are generated on one thread, and never nested.
HelpCapture* current_capture = nullptr;

// "-o, --output table|json"
std::string Spelled(const FlagDescription& flag) {
  const std::string value = flag.value_optional ? fmt::format("[{}]", flag.value_name) : flag.value_name;
  return fmt::format("{}--{}{}{}", flag.shorthand ? fmt::format("-{}, ", flag.shorthand) : "    ", flag.name,
                     value.empty() ? "" : " ", value);
}

}  // namespace

std::string AnyOf(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

HelpCapture::HelpCapture() {
  CHECK(current_capture == nullptr);
  current_capture = this;
}

HelpCapture::~HelpCapture() { current_capture = nullptr; }

bool HelpCapture::Take(CommandDescription description) {
  if (!current_capture) return false;
  current_capture->description_ = std::move(description);
  return true;
}

FlagSet::FlagSet(std::string command, std::string usage, std::string examples)
    : command_(std::move(command)), usage_(std::move(usage)), examples_(std::move(examples)) {
  Add(&help_wanted_, "help", 'h', "this text");
}

void FlagSet::Add(std::string* target, std::string name, char shorthand, std::string value_name, std::string help) {
  flags_.push_back({{std::move(name), shorthand, std::move(value_name), std::move(help), {}, {}}, target});
}
void FlagSet::Add(std::vector<std::string>* target, std::string name, char shorthand, std::string value_name,
                  std::string help) {
  flags_.push_back({{std::move(name), shorthand, std::move(value_name), std::move(help), {}, {}}, target});
}
void FlagSet::Add(uint64_t* target, std::string name, char shorthand, std::string value_name, std::string help) {
  flags_.push_back({{std::move(name), shorthand, std::move(value_name), std::move(help), {}, {}}, target});
}
void FlagSet::Add(bool* target, std::string name, char shorthand, std::string help) {
  flags_.push_back({{std::move(name), shorthand, {}, std::move(help), {}, {}}, target});
}
void FlagSet::AddChoice(std::string* target, std::string name, char shorthand, std::vector<std::string> choices,
                        std::string help) {
  std::string value_name = fmt::format("{}", fmt::join(choices, "|"));
  flags_.push_back(
      {{std::move(name), shorthand, std::move(value_name), std::move(help), std::move(choices), {}}, target});
}

void FlagSet::AddOptional(std::vector<std::string>* target, std::string name, std::string value_name,
                          std::string help) {
  flags_.push_back(
      {{std::move(name), 0, std::move(value_name), std::move(help), {}, {}, /*value_optional=*/true}, target});
}

Result<FlagSet::FlagId> FlagSet::FindLong(const std::string& name, const std::string& /*argument*/) const {
  const auto it =
      std::ranges::find(flags_, name, [](const Flag& flag) -> const std::string& { return flag.about.name; });
  if (it != flags_.end()) return static_cast<FlagId>(it - flags_.begin());
  std::vector<std::string_view> names;
  for (const Flag& flag : flags_) names.push_back(flag.about.name);
  const std::string_view meant = base::NearestWord(name, names);
  return Error::InvalidArgument(
      fmt::format("unknown flag --{}{}", name, meant.empty() ? "" : fmt::format(", did you mean --{}?", meant)));
}

Result<FlagSet::FlagId> FlagSet::FindShort(char letter, const std::string& /*letters*/) const {
  const auto it = std::ranges::find(flags_, letter, [](const Flag& flag) { return flag.about.shorthand; });
  if (it == flags_.end()) return Error::InvalidArgument(fmt::format("unknown flag -{}", letter));
  return static_cast<FlagId>(it - flags_.begin());
}

FlagSet::ValueRule FlagSet::RuleOf(FlagId id) const {
  const Flag& flag = flags_[id];
  if (std::holds_alternative<bool*>(flag.target)) return ValueRule::kNone;
  return flag.about.value_optional ? ValueRule::kOptional : ValueRule::kRequired;
}

Error FlagSet::MissingValue(FlagId flag, const std::string& spelled, const std::string& /*letters*/) const {
  return Error::InvalidArgument(
      fmt::format("{} needs a value: {} {}", spelled, spelled, flags_[flag].about.value_name));
}

Result<void> FlagSet::SetValue(FlagId id, const std::string& spelled, const std::string& value) {
  const Flag& flag = flags_[id];
  if (auto* const* text = std::get_if<std::string*>(&flag.target)) {
    const std::vector<std::string>& choices = flag.about.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
      return Error::InvalidArgument(fmt::format("{}: expected {}, found \"{}\"", spelled, AnyOf(choices), value));
    }
    **text = value;
  } else if (auto* const* list = std::get_if<std::vector<std::string>*>(&flag.target)) {
    (*list)->push_back(value);
  } else if (auto* const* number = std::get_if<uint64_t*>(&flag.target)) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), **number);
    if (error != std::errc() || end != value.data() + value.size()) {
      return Error::InvalidArgument(fmt::format("{}: expected a whole number, found \"{}\"", spelled, value));
    }
  } else {
    if (value != "true" && value != "false") {
      return Error::InvalidArgument(fmt::format("{}: expected true or false, found \"{}\"", spelled, value));
    }
    *std::get<bool*>(flag.target) = value == "true";
  }
  return {};
}

CommandDescription FlagSet::Describe() const {
  CommandDescription described{command_, usage_, examples_, {}, words_, takes_files_};
  for (const Flag& flag : flags_) described.flags.push_back(flag.about);
  std::sort(described.flags.begin(), described.flags.end(),
            [](const FlagDescription& a, const FlagDescription& b) { return a.name < b.name; });
  return described;
}

std::string FlagSet::Help() const {
  const CommandDescription described = Describe();
  if (HelpCapture::Take(described)) return {};
  size_t width = 0;
  for (const FlagDescription& flag : described.flags) width = std::max(width, Spelled(flag).size());
  std::string text = usage_ + "\nFlags:\n";
  for (const FlagDescription& flag : described.flags) {
    text += fmt::format("  {:<{}}   {}\n", Spelled(flag), width, flag.help);
  }
  return text + "\nExamples:\n" + examples_;
}

}  // namespace berth::cmd
