// The flags of berth's own verbs, in kubectl's style.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "flag_parser.h"

namespace berth::cmd {

// A flag as completion and manual pages describe it.
struct FlagDescription {
  std::string name;
  char shorthand = 0;
  std::string value_name;  // empty for a flag without a value; FILE and FOLDER are completed as such
  std::string help;
  std::vector<std::string> choices;  // empty: any value
  std::string group;                 // a heading, or empty
  bool value_optional = false;
};

struct CommandDescription {
  std::string command;  // "berth simulate"
  std::string usage;    // the text before the flags in --help
  std::string examples;
  std::vector<FlagDescription> flags;  // by name
  std::vector<std::string> words;      // possible values of the first argument that is not a flag; empty: none
  bool takes_files = false;            // arguments that are not flags are files
};

// While one exists, FlagSet::Help() stores the flags' descriptions here instead of returning a text. So the description
// of every verb comes from the table that parses its command line: by asking the verb for --help.
class HelpCapture {
 public:
  HelpCapture();
  ~HelpCapture();
  HelpCapture(const HelpCapture&) = delete;
  HelpCapture& operator=(const HelpCapture&) = delete;

  const std::optional<CommandDescription>& description() const { return description_; }

  // For callers that print --help: false if no description is requested instead.
  static bool Take(CommandDescription description);

 private:
  std::optional<CommandDescription> description_;
};

class FlagSet final : public FlagParser {
 public:
  // `command` is the command line ("berth simulate"); `usage` is the text before the list of flags in --help,
  // `examples` comes after it.
  FlagSet(std::string command, std::string usage, std::string examples);
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  // `target` must outlive Parse. `shorthand` is one letter, or 0. `value_name` appears in --help.
  void Add(std::string* target, std::string name, char shorthand, std::string value_name, std::string help);
  void Add(std::vector<std::string>* target, std::string name, char shorthand, std::string value_name,
           std::string help);
  void Add(uint64_t* target, std::string name, char shorthand, std::string value_name, std::string help);
  void Add(bool* target, std::string name, char shorthand, std::string help);
  // One of `choices`; any other value is an error that lists them.
  void AddChoice(std::string* target, std::string name, char shorthand, std::vector<std::string> choices,
                 std::string help);

  // The value may be omitted, which adds "". The next argument is the value unless it is a flag itself.
  void AddOptional(std::vector<std::string>* target, std::string name, std::string value_name, std::string help);

  // For completion: possible values of the first argument that is not a flag, and whether such arguments are files.
  void Words(std::vector<std::string> words) { words_ = std::move(words); }
  void TakesFiles() { takes_files_ = true; }

  // --help or -h was given.
  bool help_wanted() const { return help_wanted_; }
  // Flags by name. Empty while a HelpCapture exists, which takes the description.
  std::string Help() const;
  // For the end of an error message: where to read more.
  std::string Hint() const { return "Try " + command_ + " --help."; }
  CommandDescription Describe() const;

 private:
  struct Flag {
    FlagDescription about;
    std::variant<std::string*, std::vector<std::string>*, uint64_t*, bool*> target;
  };

  Result<FlagId> FindLong(const std::string& name, const std::string& argument) const override;
  Result<FlagId> FindShort(char letter, const std::string& letters) const override;
  ValueRule RuleOf(FlagId flag) const override;
  Result<void> SetValue(FlagId flag, const std::string& spelled, const std::string& value) override;
  Error MissingValue(FlagId flag, const std::string& spelled, const std::string& letters) const override;

  std::string command_;
  std::string usage_;
  std::string examples_;
  std::vector<Flag> flags_;
  std::vector<std::string> words_;
  bool takes_files_ = false;
  bool help_wanted_ = false;
};

// "a, b or c"
std::string AnyOf(const std::vector<std::string>& words);

}  // namespace berth::cmd
