// Lists in explanations: a few are named, the rest are counted.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace berth::framework {

// More than this many of one kind are counted, not listed; a remedy that takes more changes than this is of no use.
inline constexpr size_t kFew = 8;

// "a, b, c and 12 more"
inline std::string ListText(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kFew));
  const std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  return names.size() > kFew ? text + fmt::format(" and {} more", names.size() - kFew) : text;
}

}  // namespace berth::framework
