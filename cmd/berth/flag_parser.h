// FlagParser: splits a command line into flags, their values and other arguments, as pflag does: --name=value, --name
// value, -n value, -nvalue, -n=value, several letters in one argument (-ab); "--" ends the flags. Subclasses define the
// flags and the error messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cmd {

class FlagParser {
 public:
  virtual ~FlagParser() = default;

  // Returns everything that is not a flag, in order. Stops at the first error.
  Result<std::vector<std::string>> Parse(const std::vector<std::string>& arguments);

 protected:
  using FlagId = size_t;  // defined by the subclass
  enum class ValueRule : uint8_t {
    kNone,  // the flag alone means "true"; another value must follow "="
    kRequired,
    kOptional,  // the next argument, unless that is a flag; otherwise ""
  };

  // An error if there is no such flag. `argument` is all of it; `letters` are this one and those after it.
  virtual Result<FlagId> FindLong(const std::string& name, const std::string& argument) const = 0;
  virtual Result<FlagId> FindShort(char letter, const std::string& letters) const = 0;
  virtual ValueRule RuleOf(FlagId flag) const = 0;
  // `spelled` is "--name" or "-n", as given.
  virtual Result<void> SetValue(FlagId flag, const std::string& spelled, const std::string& value) = 0;
  virtual Error MissingValue(FlagId flag, const std::string& spelled, const std::string& letters) const = 0;

 private:
  Result<void> ParseLong(const std::string& argument, const std::vector<std::string>& arguments, size_t& next);
  Result<void> ParseShort(const std::string& argument, const std::vector<std::string>& arguments, size_t& next);
  // Takes the value from the argument at `next`, if the flag needs one.
  Result<void> SetFromNext(FlagId flag, const std::string& spelled, const std::string& letters,
                           const std::vector<std::string>& arguments, size_t& next);
};

}  // namespace berth::cmd
