// The cost of calls: the rules of cel-go's runtime cost tracker and of Kubernetes' libraries.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cel/evaluation.h"
#include "cel/value.h"

namespace berth::cel {

enum class CostRule : uint8_t {
  kOne,
  kSizeOfFirst,       // a tenth of the first argument
  kTwiceSizeOfFirst,  // of parsing and building
  kTwiceSizeOfResult,
  kSizeOfSecond,  // in list
  kSmallerSize,   // comparison: a tenth of the smaller
  kEquality,
  kSumOfSizes,
  kRegex,
  kContains,
  kTraversal,
  kOutputList,
  kFlatten,
  kSelfCompareFirst,   // distinct, sort
  kSelfCompareSecond,  // sortBy
  kSets,
  kSetsTwice,
  kContainsIp,
  kContainsIpText,
  kContainsCidr,
  kContainsCidrText,
  kValidate,
  kAuthorizationCheck,
  kSelector,
};

// `overload` is empty if several remain to be chosen from at run time.
CostRule FindCostRule(std::string_view function, std::string_view overload);
uint64_t CallCost(Evaluation& evaluation, CostRule rule, std::span<const Value> arguments, const Value& result);

inline constexpr uint64_t kListCost = 10;
inline constexpr uint64_t kMapCost = 30;
inline constexpr uint64_t kStructCost = 40;

}  // namespace berth::cel
