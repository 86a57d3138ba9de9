#include "flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/spelling.h"

namespace berth::cmd {

namespace {

// Completion and manual pages are made on one thread, and never inside each other.
HelpCapture* capture = nullptr;

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
  CHECK(capture == nullptr);
  capture = this;
}

HelpCapture::~HelpCapture() { capture = nullptr; }

bool HelpCapture::Take(CommandDescription description) {
  if (!capture) return false;
  capture->description_ = std::move(description);
  return true;
}

FlagSet::FlagSet(std::string command, std::string usage, std::string examples)
    : command_(std::move(command)), usage_(std::move(usage)), examples_(std::move(examples)) {}

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

const FlagSet::Flag* FlagSet::Find(std::string_view name) const {
  const auto it = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) { return flag.about.name == name; });
  return it == flags_.end() ? nullptr : &*it;
}

const FlagSet::Flag* FlagSet::Find(char shorthand) const {
  const auto it =
      std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) { return flag.about.shorthand == shorthand; });
  return it == flags_.end() ? nullptr : &*it;
}

Error FlagSet::Unknown(const std::string& spelled) const {
  std::vector<std::string_view> names = {"help"};
  for (const Flag& flag : flags_) names.push_back(flag.about.name);
  const std::string_view meant =
      spelled.starts_with("--") ? base::NearestWord(std::string_view(spelled).substr(2), names) : std::string_view();
  return Error::InvalidArgument(
      fmt::format("unknown flag {}{}", spelled, meant.empty() ? "" : fmt::format(", did you mean --{}?", meant)));
}

Result<void> FlagSet::Set(const Flag& flag, std::string_view spelled, const std::string& value) const {
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

Result<std::vector<std::string>> FlagSet::Parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      rest.push_back(argument);
      continue;
    }
    const bool is_long = argument[1] == '-';
    const size_t equals = is_long ? argument.find('=') : std::string::npos;
    const std::string spelled = is_long ? argument.substr(0, equals) : argument.substr(0, 2);
    if (spelled == "--help" || spelled == "-h") {
      help_wanted_ = true;
      continue;
    }
    const Flag* flag = is_long ? Find(std::string_view(spelled).substr(2)) : Find(argument[1]);
    if (!flag) return Unknown(spelled);

    // The value stands behind "=", right behind a shorthand (-ojson), or is the next argument.
    std::string value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (!is_long && argument.size() > 2) {
      value = argument.substr(argument[2] == '=' ? 3 : 2);
    } else if (!flag->takes_value()) {
      value = "true";
    } else if (flag->about.value_optional && (i + 1 == arguments.size() || arguments[i + 1].starts_with('-'))) {
      value.clear();
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      return Error::InvalidArgument(fmt::format("{} needs a value: {} {}", spelled, spelled, flag->about.value_name));
    }
    if (Result<void> set = Set(*flag, spelled, value); !set) return set.error();
  }
  return rest;
}

CommandDescription FlagSet::Describe() const {
  CommandDescription described{command_, usage_, examples_, {}, words_, takes_files_};
  for (const Flag& flag : flags_) described.flags.push_back(flag.about);
  described.flags.push_back({.name = "help", .shorthand = 'h', .help = "this text"});
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
