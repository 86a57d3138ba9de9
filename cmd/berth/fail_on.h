// --fail-on: what makes the exit status 2.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cmd {

// Comma-separated lists of `words`, one for each time the flag is given, or "never" alone, which is the empty set.
// Without any list, `otherwise`.
Result<std::set<std::string>> ParseFailOn(const std::vector<std::string>& lists, std::string_view otherwise,
                                          std::initializer_list<std::string_view> words);

}  // namespace berth::cmd
