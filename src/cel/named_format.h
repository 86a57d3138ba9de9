// Named formats: format.dns1123Label() and others, with the messages of Kubernetes' validation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

struct NamedFormat {
  std::string_view key;   // as in format.named("uuid")
  std::string_view name;  // formats with equal names are equal
  int regex_size;         // what validate() is charged for
  std::vector<std::string> (*validate)(std::string_view);
};

// Null if there is none of that name.
const NamedFormat* FindNamedFormat(std::string_view key);

}  // namespace berth::cel
