// --fail-on: what exit status 2 stands for.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cmd {

// A list of `words` with commas between them, or "never" alone, which is the empty set.
Result<std::set<std::string>> ParseFailOn(std::string_view text, std::initializer_list<std::string_view> words);

}  // namespace berth::cmd
