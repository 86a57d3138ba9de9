// Flags in the style of kubectl: --name value, --name=value, -f value, repeated flags, --bool, "--" ends the flags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace berth::cmd {

class FlagSet {
 public:
  // `command` is how it is called ("berth simulate"); `usage` is the text before the list of flags in --help,
  // `examples` comes after it.
  FlagSet(std::string command, std::string usage, std::string examples);

  // Where the value goes must outlive Parse. `shorthand` is one letter, or 0. `value_name` appears in --help.
  void Add(std::string* target, std::string name, char shorthand, std::string value_name, std::string help);
  void Add(std::vector<std::string>* target, std::string name, char shorthand, std::string value_name,
           std::string help);
  void Add(uint64_t* target, std::string name, char shorthand, std::string value_name, std::string help);
  void Add(bool* target, std::string name, char shorthand, std::string help);
  // The value may be left out, which adds "". The next argument is the value unless it is a flag itself.
  void AddOptional(std::vector<std::string>* target, std::string name, std::string value_name, std::string help);

  // Everything that is not a flag, in order. --help and -h set help_wanted().
  Result<std::vector<std::string>> Parse(const std::vector<std::string>& arguments);
  bool help_wanted() const { return help_wanted_; }
  std::string Help() const;
  // For the end of an error: where to read more.
  std::string Hint() const { return "Try " + command_ + " --help."; }

 private:
  struct Flag {
    std::string name;
    char shorthand;
    std::string value_name;
    std::string help;
    std::variant<std::string*, std::vector<std::string>*, uint64_t*, bool*> target;
    bool value_optional = false;

    bool takes_value() const { return !std::holds_alternative<bool*>(target); }
  };

  const Flag* Find(std::string_view name) const;
  const Flag* Find(char shorthand) const;
  Result<void> Set(const Flag& flag, std::string_view spelled, const std::string& value) const;

  std::string command_;
  std::string usage_;
  std::string examples_;
  std::vector<Flag> flags_;
  bool help_wanted_ = false;
};

}  // namespace berth::cmd
