// Pods as named on a command line.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cmd {

// NAMESPACE/NAME of each of `names` among `known`: NAMESPACE/NAME, pod/NAME, or a NAME that exists in only one
// namespace; with `name_space`, the one in that namespace. `where` says in the error where the name was looked up.
Result<std::set<std::string>> ResolvePods(const std::vector<std::string>& names, const std::vector<std::string>& known,
                                          const std::string& name_space, std::string_view where);

}  // namespace berth::cmd
