// Regular expressions: RE2, with the messages of Go's regexp package.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cel {

// Thread-safe once compiled.
class Regex {
 public:
  virtual ~Regex() = default;
  static Result<std::shared_ptr<const Regex>> Compile(std::string_view pattern);

  // Anywhere in the text.
  virtual bool Matches(std::string_view text) const = 0;
  // The first match; empty if there is none.
  virtual std::string_view Find(std::string_view text) const = 0;
  // Non-overlapping matches, at most `limit` of them, all if it is negative.
  virtual std::vector<std::string_view> FindAll(std::string_view text, int64_t limit) const = 0;
};

}  // namespace berth::cel
