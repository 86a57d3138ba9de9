// What the LimitRanges of a namespace do to a pod that comes into it: amounts that it leaves open are filled in, and
// amounts out of bounds are refused.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "api/pod.h"
#include "api/policy.h"

namespace berth::input {

using LimitRangePtr = std::shared_ptr<const api::LimitRange>;

// One after the other: what the first fills in is there for the next.
void FillFromLimitRanges(std::span<const LimitRangePtr> ranges, api::Pod& pod);

// `report` gets the path of the field and what is wrong with it, once for each bound that is broken.
void CheckLimitRanges(std::span<const LimitRangePtr> ranges, const api::Pod& pod,
                      const std::function<void(std::string path, std::string text)>& report);

}  // namespace berth::input
