// What a label's key and value may look like. Each function returns what is wrong, nothing when the text is fine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::api {

// An optional DNS subdomain and '/', then a name of up to 63 characters.
std::vector<std::string> LabelKeyProblems(std::string_view key);
// Empty, or up to 63 characters.
std::vector<std::string> LabelValueProblems(std::string_view value);
std::vector<std::string> DnsSubdomainProblems(std::string_view name);

}  // namespace berth::api
