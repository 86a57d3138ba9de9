// Pods as they are named on a command line.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cmd {

// NAMESPACE/NAME of each of `names` among `known`: NAMESPACE/NAME, pod/NAME, or the NAME of a pod that only one
// namespace has; with `name_space` it is that one's. `where` says in the error what a name was looked for in.
Result<std::set<std::string>> ResolvePods(const std::vector<std::string>& names, const std::vector<std::string>& known,
                                          const std::string& name_space, std::string_view where);

}  // namespace berth::cmd
