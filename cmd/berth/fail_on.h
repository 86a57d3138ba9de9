// --fail-on: what exit status 2 stands for.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cmd {

// Lists of `words` with commas between them, as often as the flag is given, or "never" alone, which is the empty set.
// No list at all is `otherwise`.
Result<std::set<std::string>> ParseFailOn(const std::vector<std::string>& lists, std::string_view otherwise,
                                          std::initializer_list<std::string_view> words);

}  // namespace berth::cmd
