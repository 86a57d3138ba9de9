#include "fail_on.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "flags.h"

namespace berth::cmd {

Result<std::set<std::string>> ParseFailOn(const std::vector<std::string>& lists, std::string_view otherwise,
                                          std::initializer_list<std::string_view> words) {
  const std::string text = lists.empty() ? std::string(otherwise) : fmt::format("{}", fmt::join(lists, ","));
  std::set<std::string> found;
  bool never = false;
  std::vector<std::string> known(words.begin(), words.end());
  known.emplace_back("never");
  std::stringstream list(text);
  for (std::string word; std::getline(list, word, ',');) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      return Error::InvalidArgument(fmt::format("--fail-on: expected {}, found \"{}\"", AnyOf(known), word));
    }
    if (word == "never") {
      never = true;
    } else {
      found.insert(word);
    }
  }
  if (found.empty() == never) return found;
  known.pop_back();
  return Error::InvalidArgument(
      fmt::format("--fail-on: expected a list of {}, or never alone, found \"{}\"", AnyOf(known), text));
}

}  // namespace berth::cmd
