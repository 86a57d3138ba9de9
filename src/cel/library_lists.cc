// List functions of CEL's extensions (slice, flatten, sort, …) and of Kubernetes (sum, min, indexOf, …), and sets.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "cel/environment.h"
#include "cel/operations.h"

namespace berth::cel {
namespace {

using Arguments = std::span<const Value>;

struct NamedType {
  const char* name;
  const Type* type;
};
constexpr NamedType kComparable[] = {
    {"int", &types::kInt},       {"uint", &types::kUint},         {"double", &types::kDouble},
    {"bool", &types::kBool},     {"duration", &types::kDuration}, {"timestamp", &types::kTimestamp},
    {"string", &types::kString}, {"bytes", &types::kBytes},
};

Value Slice(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  const int64_t start = arguments[1].as_int(), end = arguments[2].as_int();
  const auto fail = [&](std::string_view why) {
    return MakeError(evaluation.arena(), fmt::format("cannot slice({}, {}), {}", start, end, why));
  };
  if (start < 0 || end < 0) return fail("negative indexes not supported");
  if (start > end) return fail("start index must be less than or equal to end index");
  if (list.size() < end) return fail(fmt::format("list is length {}", list.size()));
  const std::span<Value> items = evaluation.arena().NewArray<Value>(static_cast<size_t>(end - start));
  evaluation.Work(items.size());
  for (size_t i = 0; i < items.size(); ++i) items[i] = list.Get(start + static_cast<int64_t>(i));
  return Value::List(ListObject::Of(evaluation.arena(), items));
}

void FlattenInto(Evaluation& evaluation, const ListObject& list, int64_t depth, std::vector<Value>& out) {
  for (int64_t i = 0; i < list.size(); ++i) {
    evaluation.Work(1);
    const Value element = list.Get(i);
    if (element.kind() == Kind::kList && depth > 0) {
      FlattenInto(evaluation, element.list(), depth - 1, out);
    } else {
      out.push_back(element);
    }
  }
}

Value Flatten(Evaluation& evaluation, Arguments arguments) {
  if (arguments[0].kind() != Kind::kList) {
    const std::string argument = arguments.size() == 2 ? std::string(TypeName(arguments[1])) : "";
    return MakeError(evaluation.arena(),
                     fmt::format("no such overload: {}.flatten({})", TypeName(arguments[0]), argument));
  }
  int64_t depth = 1;
  if (arguments.size() == 2) {
    if (arguments[1].kind() != Kind::kInt) {
      return MakeError(evaluation.arena(),
                       fmt::format("no such overload: list(dyn).flatten({})", TypeName(arguments[1])));
    }
    depth = arguments[1].as_int();
  }
  if (depth < 0) return Value::Error("level must be non-negative");
  std::vector<Value> items;
  FlattenInto(evaluation, arguments[0].list(), depth, items);
  return MakeList(evaluation, items);
}

bool IsComparable(const Value& value) { return (TraitsOf(value) & traits::kComparer) != 0; }

Value SortByKeys(Evaluation& evaluation, const ListObject& list, const ListObject& keys) {
  if (list.size() != keys.size()) {
    return MakeError(
        evaluation.arena(),
        fmt::format("@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
                    "but got {} and {} elements respectively",
                    list.size(), keys.size()));
  }
  if (list.size() == 0) return Value::List(&list);
  const Value first = keys.Get(0);
  if (!IsComparable(first)) return Value::Error("list elements must be comparable");
  evaluation.Work(static_cast<uint64_t>(keys.size()) * 20);
  std::vector<Value> flat(static_cast<size_t>(keys.size()));
  for (size_t i = 0; i < flat.size(); ++i) {
    flat[i] = keys.Get(static_cast<int64_t>(i));
    if (flat[i].kind() != first.kind() && flat.size() > 1) return Value::Error("list elements must have the same type");
  }
  std::vector<size_t> order(flat.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Equal keys: upstream's sort is not stable, so their order means nothing; here it is kept.
  const auto less = [&](size_t a, size_t b) {
    const Value compared = Compare(evaluation, flat[a], flat[b]);
    return compared.kind() == Kind::kInt && compared.as_int() < 0;
  };
  std::stable_sort(order.begin(), order.end(), less);
  const std::span<Value> sorted = evaluation.arena().NewArray<Value>(order.size());
  for (size_t i = 0; i < order.size(); ++i) sorted[i] = list.Get(static_cast<int64_t>(order[i]));
  return Value::List(ListObject::Of(evaluation.arena(), sorted));
}

Value Sort(Evaluation& evaluation, Arguments arguments) {
  return SortByKeys(evaluation, arguments[0].list(), arguments[0].list());
}
Value SortByAssociatedKeys(Evaluation& evaluation, Arguments arguments) {
  if (arguments[1].kind() != Kind::kList) {
    Panic(evaluation, fmt::format("interface conversion: {} is not traits.Lister", GoTypeName(arguments[1])));
  }
  return SortByKeys(evaluation, arguments[0].list(), arguments[1].list());
}

Value Range(Evaluation& evaluation, Arguments arguments) {
  return Value::List(ListObject::Range(evaluation.arena(), arguments[0].as_int()));
}

Value Reverse(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  evaluation.Work(static_cast<uint64_t>(list.size()));
  const std::span<Value> items = evaluation.arena().NewArray<Value>(static_cast<size_t>(list.size()));
  for (size_t i = 0; i < items.size(); ++i) items[i] = list.Get(list.size() - 1 - static_cast<int64_t>(i));
  return Value::List(ListObject::Of(evaluation.arena(), items));
}

Value Distinct(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  std::vector<Value> unique;
  for (int64_t i = 0; i < list.size(); ++i) {
    const Value value = list.Get(i);
    evaluation.Work(1 + unique.size());
    const bool seen = std::any_of(unique.begin(), unique.end(),
                                  [&](const Value& other) { return IsEqual(evaluation, value, other); });
    if (!seen) unique.push_back(value);
  }
  return MakeList(evaluation, unique);
}

// Functions of Kubernetes. Each element must be comparable (or addable) itself.

Value IsSorted(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  evaluation.Work(static_cast<uint64_t>(list.size()));
  for (int64_t i = 0; i < list.size(); ++i) {
    const Value next = list.Get(i);
    if (!IsComparable(next)) return NoSuchOverload();
    if (i == 0) continue;
    const Value order = Compare(evaluation, list.Get(i - 1), next);
    if (order.kind() == Kind::kInt && order.as_int() == 1) return Value::Bool(false);
  }
  return Value::Bool(true);
}

Value SumFrom(Evaluation& evaluation, const Value& zero, const ListObject& list) {
  Value sum = zero;
  evaluation.Work(static_cast<uint64_t>(list.size()));
  for (int64_t i = 0; i < list.size(); ++i) {
    const Value next = list.Get(i);
    if ((TraitsOf(next) & traits::kAdder) == 0) return NoSuchOverload();
    sum = Add(evaluation, sum, next);
    if (sum.is_error()) return sum;
  }
  return sum;
}
Value SumInts(Evaluation& evaluation, Arguments arguments) {
  return SumFrom(evaluation, Value::Int(0), arguments[0].list());
}
Value SumUints(Evaluation& evaluation, Arguments arguments) {
  return SumFrom(evaluation, Value::Uint(0), arguments[0].list());
}
Value SumDoubles(Evaluation& evaluation, Arguments arguments) {
  return SumFrom(evaluation, Value::Double(0), arguments[0].list());
}
Value SumDurations(Evaluation& evaluation, Arguments arguments) {
  return SumFrom(evaluation, Value::Duration(0), arguments[0].list());
}

Value Extreme(Evaluation& evaluation, const ListObject& list, int64_t replace_when, std::string_view name) {
  evaluation.Work(static_cast<uint64_t>(list.size()));
  Value best;
  for (int64_t i = 0; i < list.size(); ++i) {
    const Value next = list.Get(i);
    if (!IsComparable(next)) return NoSuchOverload();
    if (i == 0) {
      best = next;
      continue;
    }
    const Value order = Compare(evaluation, best, next);
    if (order.kind() == Kind::kInt && order.as_int() == replace_when) best = next;
  }
  if (list.size() == 0) return MakeError(evaluation.arena(), fmt::format("{} called on empty list", name));
  return best;
}
Value Min(Evaluation& evaluation, Arguments arguments) { return Extreme(evaluation, arguments[0].list(), 1, "min"); }
Value Max(Evaluation& evaluation, Arguments arguments) { return Extreme(evaluation, arguments[0].list(), -1, "max"); }

Value ListIndexOf(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  evaluation.Work(static_cast<uint64_t>(list.size()));
  for (int64_t i = 0; i < list.size(); ++i) {
    if (IsEqual(evaluation, list.Get(i), arguments[1])) return Value::Int(i);
  }
  return Value::Int(-1);
}
Value ListLastIndexOf(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  evaluation.Work(static_cast<uint64_t>(list.size()));
  for (int64_t i = list.size() - 1; i >= 0; --i) {
    if (IsEqual(evaluation, list.Get(i), arguments[1])) return Value::Int(i);
  }
  return Value::Int(-1);
}

bool ContainsAll(Evaluation& evaluation, const ListObject& list, const ListObject& wanted) {
  for (int64_t i = 0; i < wanted.size(); ++i) {
    if (!ListContains(evaluation, list, wanted.Get(i))) return false;
  }
  return true;
}
Value SetsContains(Evaluation& evaluation, Arguments arguments) {
  return Value::Bool(ContainsAll(evaluation, arguments[0].list(), arguments[1].list()));
}
Value SetsEquivalent(Evaluation& evaluation, Arguments arguments) {
  return Value::Bool(ContainsAll(evaluation, arguments[0].list(), arguments[1].list()) &&
                     ContainsAll(evaluation, arguments[1].list(), arguments[0].list()));
}
Value SetsIntersects(Evaluation& evaluation, Arguments arguments) {
  const ListObject& a = arguments[0].list();
  for (int64_t i = 0; i < a.size(); ++i) {
    if (ListContains(evaluation, arguments[1].list(), a.Get(i))) return Value::Bool(true);
  }
  return Value::Bool(false);
}

Value MapInsertEntry(Evaluation& evaluation, Arguments arguments) {
  return InsertEntry(evaluation, arguments[0], arguments[1], arguments[2]);
}
Value MapInsertMap(Evaluation& evaluation, Arguments arguments) {
  Value map = arguments[0];
  const MapObject& more = arguments[1].map();
  for (int64_t i = 0; i < more.size(); ++i) {
    map = InsertEntry(evaluation, map, more.KeyAt(i), more.ValueAt(i, evaluation.arena()));
    if (map.is_error()) return map;
  }
  return map;
}

}  // namespace

void AddListsLibrary(Environment& environment) {
  using namespace types;
  TypePool& pool = environment.pool();
  const Type* list = pool.List(&kA);
  const Type* dynamic = pool.List(&kDyn);
  environment.Member("slice", "list_slice", {list, &kInt, &kInt}, list, Slice);
  environment.Member("flatten", "list_flatten", {pool.List(list)}, list, Flatten)
      .Member("flatten", "list_flatten_int", {dynamic, &kInt}, dynamic, Flatten);
  environment.Add("flatten").unguarded = true;
  // Overloads carry the names of the types as upstream's constants do.
  for (const NamedType& named : kComparable) {
    const Type* of = pool.List(named.type);
    environment.Member("sort", fmt::format("list_{}_sort", named.type->name), {of}, of);
    environment.Member("@sortByAssociatedKeys", fmt::format("list_{}_sortByAssociatedKeys", named.type->name),
                       {list, of}, list);
  }
  environment.Singleton("sort", CallStyle::kUnary, traits::kLister, Sort);
  environment.Singleton("@sortByAssociatedKeys", CallStyle::kBinary, traits::kLister, SortByAssociatedKeys);
  environment.Global("lists.range", "lists_range", {&kInt}, pool.List(&kInt), Range);
  environment.Member("reverse", "list_reverse", {list}, list, Reverse);
  environment.Member("distinct", "list_distinct", {list}, list, Distinct);
}

void AddKubernetesLists(Environment& environment) {
  using namespace types;
  TypePool& pool = environment.pool();
  for (const NamedType& named : kComparable) {
    const Type* of = pool.List(named.type);
    environment.Member("isSorted", fmt::format("list_{}_is_sorted_bool", named.name), {of}, &kBool, IsSorted);
    environment.Member("max", fmt::format("list_{0}_max_{0}", named.name), {of}, named.type, Max);
    environment.Member("min", fmt::format("list_{0}_min_{0}", named.name), {of}, named.type, Min);
  }
  environment.Member("sum", "list_int_sum_int", {pool.List(&kInt)}, &kInt, SumInts)
      .Member("sum", "list_uint_sum_uint", {pool.List(&kUint)}, &kUint, SumUints)
      .Member("sum", "list_double_sum_double", {pool.List(&kDouble)}, &kDouble, SumDoubles)
      .Member("sum", "list_duration_sum_duration", {pool.List(&kDuration)}, &kDuration, SumDurations);
  const Type* list = pool.List(&kA);
  environment.Member("indexOf", "list_a_index_of_int", {list, &kA}, &kInt, ListIndexOf);
  environment.Member("lastIndexOf", "list_a_last_index_of_int", {list, &kA}, &kInt, ListLastIndexOf);
}

void AddSetsLibrary(Environment& environment) {
  using namespace types;
  const Type* list = environment.pool().List(&kA);
  environment.Global("sets.contains", "list_sets_contains_list", {list, list}, &kBool, SetsContains);
  environment.Global("sets.equivalent", "list_sets_equivalent_list", {list, list}, &kBool, SetsEquivalent);
  environment.Global("sets.intersects", "list_sets_intersects_list", {list, list}, &kBool, SetsIntersects);
}

void AddTwoVariableComprehensions(Environment& environment) {
  using namespace types;
  const Type* map = environment.pool().Map(&kA, &kB);
  environment.Global("cel.@mapInsert", "@mapInsert_map_key_value", {map, &kA, &kB}, map, MapInsertEntry)
      .Global("cel.@mapInsert", "@mapInsert_map_map", {map, map}, map, MapInsertMap);
}

}  // namespace berth::cel
