#include "cel/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "cel/named_format.h"

namespace berth::cel {
namespace {

uint64_t SizeOf(const Value& value, bool unwrap_optionals) {
  switch (value.kind()) {
    case Kind::kString:
      return static_cast<uint64_t>(CountRunes(value.text()));
    case Kind::kBytes:
      return value.text().size();
    case Kind::kList:
      return static_cast<uint64_t>(value.list().size());
    case Kind::kMap:
      return static_cast<uint64_t>(value.map().size());
    case Kind::kIp:
      return value.ip().v6 ? 16 : 4;
    case Kind::kCidr:
      return static_cast<uint64_t>((value.cidr().bits + 7) / 8);
    case Kind::kOptional:
      return unwrap_optionals && value.optional() != nullptr ? SizeOf(*value.optional(), true) : 1;
    default:
      return 1;
  }
}

uint64_t Tenth(double size) { return static_cast<uint64_t>(std::ceil(size * 0.1)); }
uint64_t TenthOf(const Value& value) { return Tenth(static_cast<double>(SizeOf(value, false))); }

uint64_t TraversalCost(Evaluation& evaluation, const Value& value) {
  evaluation.Work(1);
  uint64_t cost = 0;
  switch (value.kind()) {
    case Kind::kString:
    case Kind::kBytes:
      return static_cast<uint64_t>(static_cast<double>(value.text().size()) * 0.1);
    case Kind::kList:
      for (int64_t i = 0; i < value.list().size(); ++i) cost += TraversalCost(evaluation, value.list().Get(i));
      return cost;
    case Kind::kMap:
      for (int64_t i = 0; i < value.map().size(); ++i) {
        cost += TraversalCost(evaluation, value.map().KeyAt(i));
        cost += TraversalCost(evaluation, value.map().ValueAt(i, evaluation.arena()));
      }
      return cost;
    default:
      return 1;
  }
}

uint64_t AllocatingList(double factor, uint64_t size) {
  return static_cast<uint64_t>(static_cast<double>(size) * factor) + 1 + kListCost;
}

// Upstream's tracker treats the argument as a list whatever it is.
uint64_t SelfCompare(Evaluation& evaluation, const Value& value) {
  if (value.kind() != Kind::kList) {
    const bool has_add = value.kind() == Kind::kString || value.kind() == Kind::kBytes || value.kind() == Kind::kInt ||
                         value.kind() == Kind::kUint || value.kind() == Kind::kDouble ||
                         value.kind() == Kind::kDuration || value.kind() == Kind::kTimestamp;
    Panic(evaluation, fmt::format("interface conversion: {} is not traits.Lister: missing method {}", GoTypeName(value),
                                  has_add ? "Contains" : "Add"));
  }
  const uint64_t size = static_cast<uint64_t>(value.list().size());
  if (size == 0) return AllocatingList(2, 0);
  const Kind first = value.list().Get(0).kind();
  return AllocatingList(first == Kind::kString || first == Kind::kBytes ? 2.1 : 2.0, size * size);
}

uint64_t FlattenCost(Evaluation& evaluation, std::span<const Value> arguments) {
  double depth = 1;
  if (arguments.size() == 2) {
    if (arguments[1].kind() != Kind::kInt) {
      Panic(evaluation, fmt::format("interface conversion: ref.Val is {}, not types.Int", GoTypeName(arguments[1])));
    }
    depth = static_cast<double>(arguments[1].as_int());
  }
  const double cost = static_cast<double>(SizeOf(arguments[0], false)) * depth;
  // A value that does not fit becomes what Go's conversion makes of it; a negative depth is an error anyway.
  uint64_t units = uint64_t{1} << 63;
  if (cost >= 0 && cost < 18446744073709551616.0) units = static_cast<uint64_t>(cost);
  if (cost < 0 && cost > -9223372036854775808.0) units = static_cast<uint64_t>(static_cast<int64_t>(cost));
  return units + 1 + kListCost;
}

uint64_t RegexCost(uint64_t text, double pattern) {
  return Tenth(1.0 + static_cast<double>(text)) * static_cast<uint64_t>(std::ceil(pattern * 0.25));
}

uint64_t NetworkCost(const Value& cidr, const Value& other, bool contains_cidr, bool text) {
  const double size = static_cast<double>(SizeOf(cidr, false));
  uint64_t cost = Tenth(2 * size);
  if (contains_cidr) cost += Tenth(size) + 1;
  if (text) cost += TenthOf(other);
  return cost;
}

bool HasConstantEquality(const Value& value) {
  switch (value.kind()) {
    case Kind::kQuantity:
    case Kind::kIp:
    case Kind::kCidr:
    case Kind::kFormat:
    case Kind::kUrl:
    case Kind::kSemver:
      return true;
    default:
      return false;
  }
}

uint64_t SmallerSize(std::span<const Value> arguments) {
  return Tenth(static_cast<double>(std::min(SizeOf(arguments[0], true), SizeOf(arguments[1], true))));
}

struct RuleEntry {
  std::string_view key;
  CostRule rule;
};

// By overload: these take precedence.
constexpr RuleEntry kTrackers[] = {
    {"list_slice", CostRule::kOutputList},
    {"list_flatten", CostRule::kFlatten},
    {"list_flatten_int", CostRule::kFlatten},
    {"lists_range", CostRule::kOutputList},
    {"list_reverse", CostRule::kOutputList},
    {"list_distinct", CostRule::kSelfCompareFirst},
    {"list_sets_contains_list", CostRule::kSets},
    {"list_sets_intersects_list", CostRule::kSets},
    {"list_sets_equivalent_list", CostRule::kSetsTwice},
};

// By function: from Kubernetes' estimator.
constexpr RuleEntry kFunctions[] = {
    {"check", CostRule::kAuthorizationCheck},
    {"fieldSelector", CostRule::kSelector},
    {"labelSelector", CostRule::kSelector},
    {"isSorted", CostRule::kTraversal},
    {"sum", CostRule::kTraversal},
    {"max", CostRule::kTraversal},
    {"min", CostRule::kTraversal},
    {"indexOf", CostRule::kTraversal},
    {"lastIndexOf", CostRule::kTraversal},
    {"url", CostRule::kSizeOfFirst},
    {"lowerAscii", CostRule::kSizeOfFirst},
    {"upperAscii", CostRule::kSizeOfFirst},
    {"substring", CostRule::kSizeOfFirst},
    {"trim", CostRule::kSizeOfFirst},
    {"replace", CostRule::kTwiceSizeOfFirst},
    {"split", CostRule::kTwiceSizeOfFirst},
    {"join", CostRule::kTwiceSizeOfResult},
    {"find", CostRule::kRegex},
    {"findAll", CostRule::kRegex},
    {"cidr", CostRule::kSizeOfFirst},
    {"isIP", CostRule::kSizeOfFirst},
    {"isCIDR", CostRule::kSizeOfFirst},
    {"ip", CostRule::kSizeOfFirst},
    {"ip.isCanonical", CostRule::kTwiceSizeOfFirst},
    {"quantity", CostRule::kSizeOfFirst},
    {"isQuantity", CostRule::kSizeOfFirst},
    {"semver", CostRule::kSizeOfFirst},
    {"isSemver", CostRule::kSizeOfFirst},
    {"validate", CostRule::kValidate},
    {"_==_", CostRule::kEquality},
};

// By overload: cel-go's own rules.
constexpr RuleEntry kStandard[] = {
    {"starts_with_string", CostRule::kSizeOfFirst},
    {"ends_with_string", CostRule::kSizeOfFirst},
    {"string_to_bytes", CostRule::kSizeOfFirst},
    {"bytes_to_string", CostRule::kSizeOfFirst},
    {"strings_quote", CostRule::kSizeOfFirst},
    {"string_format", CostRule::kSizeOfFirst},
    {"in_list", CostRule::kSizeOfSecond},
    {"less_string", CostRule::kSmallerSize},
    {"greater_string", CostRule::kSmallerSize},
    {"less_equals_string", CostRule::kSmallerSize},
    {"greater_equals_string", CostRule::kSmallerSize},
    {"less_bytes", CostRule::kSmallerSize},
    {"greater_bytes", CostRule::kSmallerSize},
    {"less_equals_bytes", CostRule::kSmallerSize},
    {"greater_equals_bytes", CostRule::kSmallerSize},
    {"not_equals", CostRule::kSmallerSize},
    {"add_string", CostRule::kSumOfSizes},
    {"add_bytes", CostRule::kSumOfSizes},
    {"matches_string", CostRule::kRegex},
    {"contains_string", CostRule::kContains},
};

const RuleEntry* Find(std::span<const RuleEntry> entries, std::string_view key) {
  for (const RuleEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

}  // namespace

CostRule FindCostRule(std::string_view function, std::string_view overload) {
  if (overload.ends_with("_sort") && overload.starts_with("list_")) return CostRule::kSelfCompareFirst;
  if (overload.ends_with("_sortByAssociatedKeys")) return CostRule::kSelfCompareSecond;
  if (const RuleEntry* entry = Find(kTrackers, overload); entry != nullptr) return entry->rule;
  if (overload == "cidr_ip") return CostRule::kOne;
  if (function == "containsIP") {
    return overload == "cidr_contains_ip_string" ? CostRule::kContainsIpText : CostRule::kContainsIp;
  }
  if (function == "containsCIDR") {
    return overload == "cidr_contains_cidr_string" ? CostRule::kContainsCidrText : CostRule::kContainsCidr;
  }
  if (const RuleEntry* entry = Find(kFunctions, function); entry != nullptr) return entry->rule;
  if (const RuleEntry* entry = Find(kStandard, overload); entry != nullptr) return entry->rule;
  return CostRule::kOne;
}

uint64_t CallCost(Evaluation& evaluation, CostRule rule, std::span<const Value> arguments, const Value& result) {
  switch (rule) {
    case CostRule::kOne:
      return 1;
    case CostRule::kSizeOfFirst:
      return TenthOf(arguments[0]);
    case CostRule::kTwiceSizeOfFirst:
      return Tenth(static_cast<double>(SizeOf(arguments[0], false)) * 2);
    case CostRule::kTwiceSizeOfResult:
      return Tenth(static_cast<double>(SizeOf(result, false)) * 2);
    case CostRule::kSizeOfSecond:
      return SizeOf(arguments[1], true);
    case CostRule::kEquality:
      return HasConstantEquality(arguments[0]) ? 1 : SmallerSize(arguments);
    case CostRule::kSmallerSize:
      return SmallerSize(arguments);
    case CostRule::kSumOfSizes:
      return Tenth(static_cast<double>(SizeOf(arguments[0], true) + SizeOf(arguments[1], true)));
    case CostRule::kRegex:
      return RegexCost(SizeOf(arguments[0], false), static_cast<double>(SizeOf(arguments[1], false)));
    case CostRule::kContains:
      return TenthOf(arguments[0]) * TenthOf(arguments[1]);
    case CostRule::kTraversal:
      return TraversalCost(evaluation, arguments[0]);
    case CostRule::kOutputList:
      return AllocatingList(1, SizeOf(result, false));
    case CostRule::kFlatten:
      return FlattenCost(evaluation, arguments);
    case CostRule::kSelfCompareFirst:
      return SelfCompare(evaluation, arguments[0]);
    case CostRule::kSelfCompareSecond:
      return SelfCompare(evaluation, arguments[1]);
    case CostRule::kSets:
      return 1 + SizeOf(arguments[0], false) * SizeOf(arguments[1], false);
    case CostRule::kSetsTwice:
      return 1 + 2 * SizeOf(arguments[0], false) * SizeOf(arguments[1], false);
    case CostRule::kContainsIp:
      return NetworkCost(arguments[0], arguments[1], false, false);
    case CostRule::kContainsIpText:
      return NetworkCost(arguments[0], arguments[1], false, true);
    case CostRule::kContainsCidr:
      return NetworkCost(arguments[0], arguments[1], true, false);
    case CostRule::kContainsCidrText:
      return NetworkCost(arguments[0], arguments[1], true, true);
    case CostRule::kValidate:
      if (arguments[0].kind() != Kind::kFormat) return 1;
      return RegexCost(SizeOf(arguments[1], false), arguments[0].format().regex_size);
    case CostRule::kAuthorizationCheck:
      return 350000;
    case CostRule::kSelector: {
      const double length = static_cast<double>(SizeOf(arguments[1], false));
      const double requirements = std::ceil(length * 0.5);
      return kListCost + Tenth(length) + static_cast<uint64_t>(std::ceil(requirements * (kListCost + kStructCost)));
    }
  }
  return 1;
}

}  // namespace berth::cel
