// Names and amounts of resources: what the API server would reject, and what cannot be intended.
#pragma once

#include <string>
#include <string_view>

#include "api/quantity.h"

namespace berth::input {

// What is wrong with the name, with a suggestion; empty when nothing is.
std::string ContainerResourceProblem(std::string_view name);
// A node may have resources of any name that does not look misspelt.
std::string NodeResourceProblem(std::string_view name);
// The names that quotas use: pods, requests.cpu, count/deployments.apps.
std::string QuotaResourceProblem(std::string_view name);
// What is wrong with this amount of it.
std::string AmountProblem(std::string_view name, const api::Quantity& amount);

}  // namespace berth::input
