#include "pod_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/printable.h"
#include "input/near_names.h"

namespace berth::cmd {

namespace {

// kubectl accepts "pod/web-3" as a name.
std::string WithoutResource(const std::string& name) {
  for (const std::string_view resource : {"pod/", "pods/", "po/"}) {
    if (name.starts_with(resource)) return name.substr(resource.size());
  }
  return name;
}

}  // namespace

Result<std::set<std::string>> ResolvePods(const std::vector<std::string>& names, const std::vector<std::string>& known,
                                          const std::string& name_space, std::string_view where) {
  std::set<std::string> resolved;
  for (const std::string& given : names) {
    if (given.empty()) continue;
    const bool exact = std::find(known.begin(), known.end(), given) != known.end();
    const std::string name = exact ? given : WithoutResource(given);
    const bool full = name.find('/') != std::string::npos;
    std::vector<std::string> matches;
    std::copy_if(known.begin(), known.end(), std::back_inserter(matches), [&](const std::string& key) {
      if (full) return key == name;
      return name_space.empty() ? key.ends_with("/" + name) : key == name_space + "/" + name;
    });
    if (matches.empty()) {
      std::vector<std::string> candidates = known;
      // A name without a namespace is compared with names only.
      for (std::string& candidate : candidates)
        candidate = full ? candidate : candidate.substr(candidate.find('/') + 1);
      const std::string near = known.empty() ? "" : "; " + input::NearNames(name, candidates);
      return Error::NotFound(fmt::format("no pod {} {}{}", base::Clipped(name), where, near));
    }
    if (matches.size() > 1) {
      return Error::InvalidArgument(
          fmt::format("{} is in several namespaces; name one, such as {}", name, matches.front()));
    }
    resolved.insert(matches.front());
  }
  return resolved;
}

}  // namespace berth::cmd
