// The syntax of label keys and values, and of names of that form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::api {

// Each of these returns what is wrong; empty when the text is valid.
// An optional DNS subdomain and '/', then a name of up to 63 characters.
std::vector<std::string> LabelKeyProblems(std::string_view key);
// Empty, or up to 63 characters.
std::vector<std::string> LabelValueProblems(std::string_view value);
std::vector<std::string> DnsSubdomainProblems(std::string_view name);
// The name of a namespace, a container or a volume: up to 63 characters, without dots.
std::vector<std::string> DnsLabelProblems(std::string_view name);

// A resource name with a domain other than kubernetes.io, and no quota name ("requests.…").
bool IsExtendedResourceName(std::string_view name);

}  // namespace berth::api
