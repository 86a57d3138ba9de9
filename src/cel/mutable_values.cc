#include "cel/mutable_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "cel/operations.h"

namespace berth::cel {

void AppendTo(Arena& arena, const MutableList& list, const ListObject& more) {
  const size_t old_size = static_cast<size_t>(list.size());
  const size_t added = static_cast<size_t>(more.size());
  if (old_size + added > list.room.size()) {
    const std::span<Value> bigger = arena.NewArray<Value>(std::max<size_t>(8, (old_size + added) * 2));
    std::copy(list.room.begin(), list.room.begin() + static_cast<std::ptrdiff_t>(old_size), bigger.begin());
    list.room = bigger;
  }
  for (size_t i = 0; i < added; ++i) list.room[old_size + i] = more.Get(static_cast<int64_t>(i));
  list.set_items(list.room.first(old_size + added));
}

bool MutableMap::Find(const Value& key, Arena& arena, Value* found) const {
  const auto entry = values_->find(key);
  if (entry == values_->end()) return false;
  (void)arena;
  *found = entry->second;
  return true;
}

void RequireHashable(Evaluation& evaluation, const MapObject& map, const Value& key) {
  const char* type = nullptr;
  if (!map.is_hashed() || (map.size() == 0 && !map.is_mutable()) || IsHashable(key, &type)) return;
  Panic(evaluation, fmt::format("runtime error: hash of unhashable type {}", type));
}

Value NewMutableList(Evaluation& evaluation) { return Value::List(evaluation.arena().New<MutableList>()); }

Value NewMutableMap(Evaluation& evaluation) {
  return Value::Map(evaluation.arena().New<MutableMap>(evaluation.NewKeyedValues()));
}

Value Freeze(Evaluation& evaluation, const Value& value) {
  if (value.kind() == Kind::kList && value.list().is_mutable()) {
    const MutableList& list = static_cast<const MutableList&>(value.list());
    return Value::List(ListObject::Of(evaluation.arena(), list.room.first(static_cast<size_t>(list.size()))));
  }
  if (value.kind() == Kind::kMap && value.map().is_mutable()) {
    const KeyedValues& values = static_cast<const MutableMap&>(value.map()).values();
    const std::span<MapEntry> entries = evaluation.arena().NewArray<MapEntry>(values.size());
    size_t i = 0;
    for (const auto& [key, kept] : values) entries[i++] = {key, kept};
    return Value::Map(evaluation.arena().New<LiteralMap>(std::span<const MapEntry>(entries)));
  }
  return value;
}

namespace {

// As LiteralMap::Find, including numbers of other types.
bool HasKey(const KeyedValues& values, const Value& key) {
  if (values.contains(key)) return true;
  const double number = key.kind() == Kind::kDouble ? key.as_double() : 0;
  switch (key.kind()) {
    case Kind::kInt:
      return key.as_int() >= 0 && values.contains(Value::Uint(key.as_uint()));
    case Kind::kUint:
      return key.as_int() >= 0 && values.contains(Value::Int(key.as_int()));
    case Kind::kDouble:
      if (number > -9223372036854775808.0 && number < 9223372036854775807.0 &&
          static_cast<double>(static_cast<int64_t>(number)) == number &&
          values.contains(Value::Int(static_cast<int64_t>(number)))) {
        return true;
      }
      return number >= 0 && number < 18446744073709551616.0 &&
             static_cast<double>(static_cast<uint64_t>(number)) == number &&
             values.contains(Value::Uint(static_cast<uint64_t>(number)));
    default:
      return false;
  }
}

}  // namespace

Value InsertEntry(Evaluation& evaluation, const Value& map, const Value& key, const Value& value) {
  const auto exists = [&] {
    return MakeError(evaluation.arena(),
                     fmt::format("insert failed: key {} already exists", Display(key, evaluation.arena())));
  };
  const char* type = nullptr;
  if (!IsHashable(key, &type)) {
    Panic(evaluation, fmt::format("runtime error: hash of unhashable type {}", type));
  }
  if (map.map().is_mutable()) {
    KeyedValues& values = static_cast<const MutableMap&>(map.map()).values();
    if (HasKey(values, key)) return exists();
    values.emplace(key, value);
    return map;
  }
  Value found;
  if (map.map().Find(key, evaluation.arena(), &found)) return exists();
  const int64_t size = map.map().size();
  evaluation.Work(static_cast<uint64_t>(size));
  const std::span<MapEntry> entries = evaluation.arena().NewArray<MapEntry>(static_cast<size_t>(size) + 1);
  for (int64_t i = 0; i < size; ++i)
    entries[static_cast<size_t>(i)] = {map.map().KeyAt(i), map.map().ValueAt(i, evaluation.arena())};
  entries[static_cast<size_t>(size)] = {key, value};
  return Value::Map(LiteralMap::Of(evaluation.arena(), entries));
}

}  // namespace berth::cel
