// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::input {

// "did you mean a, b or c?" with the nearest few; what there is when none is near; that there is none.
std::string NearNames(std::string_view name, const std::vector<std::string>& known);

}  // namespace berth::input
