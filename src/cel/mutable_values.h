// Lists and maps that grow in place during a loop, as upstream: map and filter would be quadratic otherwise.
#pragma once

#include "cel/evaluation.h"
#include "cel/value.h"

namespace berth::cel {

class MutableList final : public ListObject {
 public:
  MutableList() : ListObject(Form::kItems, {}, nullptr, nullptr, 0) { set_mutable(); }
  mutable std::span<Value> room;
};

void AppendTo(Arena& arena, const MutableList& list, const ListObject& more);

class MutableMap final : public MapObject {
 public:
  explicit MutableMap(KeyedValues* values) : values_(values) {}

  // Upstream does not count entries while the map grows.
  int64_t size() const override { return 0; }
  bool Find(const Value& key, Arena& arena, Value* found) const override;
  Value KeyAt(int64_t) const override { return Value(); }
  Value ValueAt(int64_t, Arena&) const override { return Value(); }
  bool is_mutable() const override { return true; }

  KeyedValues& values() const { return *values_; }

 private:
  KeyedValues* values_;
};

// Upstream panics when certain values are looked up in a map.
void RequireHashable(Evaluation& evaluation, const MapObject& map, const Value& key);

}  // namespace berth::cel
