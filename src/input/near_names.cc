#include "input/near_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/spelling.h"

namespace berth::input {

namespace {

constexpr size_t kShown = 3;

}  // namespace

std::string NearNames(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return "there is none";
  const size_t farthest = std::max<size_t>(2, name.size() / 3);
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& candidate : known) {
    const size_t distance = base::EditDistance(name.substr(0, 253), candidate);
    // A candidate that shares no letter is no misspelling.
    const bool shares_letters = distance < std::max(name.size(), candidate.size());
    if (distance <= farthest && shares_letters) near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  if (!near.empty()) {
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(near.size(), kShown); ++i) names.push_back(near[i].second);
    return fmt::format("did you mean {}?", fmt::join(names, " or "));
  }
  std::vector<std::string> some = known;
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  const size_t left_out = some.size() - std::min(some.size(), kShown);
  some.resize(some.size() - left_out);
  return fmt::format("there is {}{}", fmt::join(some, ", "),
                     left_out == 0 ? "" : fmt::format(" and {} more", left_out));
}

}  // namespace berth::input
