// What the LimitRanges of a namespace do to a pod created in it: missing amounts are filled in, and amounts out of
// bounds are rejected.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "api/pod.h"
#include "api/policy.h"

namespace berth::input {

using LimitRangePtr = std::shared_ptr<const api::LimitRange>;

// In order: what the first fills in is seen by the next.
void FillFromLimitRanges(std::span<const LimitRangePtr> ranges, api::Pod& pod);

// Calls `report` with the path of the field and what is wrong with it, once for each violated bound.
void CheckLimitRanges(std::span<const LimitRangePtr> ranges, const api::Pod& pod,
                      const std::function<void(std::string path, std::string text)>& report);

}  // namespace berth::input
