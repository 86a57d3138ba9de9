// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::input {

// "did you mean a, b or c?" with the nearest few; when none is near, what exists; or that there are none.
std::string NearNames(std::string_view name, const std::vector<std::string>& known);

}  // namespace berth::input
