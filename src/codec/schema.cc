#include "codec/schema.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/spelling.h"

namespace berth::codec {
namespace {

// Comparing lengths first settles most comparisons without touching the text.
bool NameLess(std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }
bool RowLess(const FieldSpec& a, const FieldSpec& b) { return NameLess(a.json_name, b.json_name); }

bool CanBeInProtobuf(const Type& type) {
  if (type.kind == Type::Kind::kCustom) return type.custom->from_protobuf != nullptr;
  return type.element == nullptr || CanBeInProtobuf(*type.element);
}

}  // namespace

Message::Message(std::string_view name, std::vector<FieldSpec> fields) : name_(name), fields_(std::move(fields)) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const FieldSpec& field = fields_[i];
    if (field.is_inline) {
      const bool is_held = field.type->kind == Type::Kind::kNullable;
      const Message& inner = (is_held ? field.type->element : field.type)->message();
      for (FieldSpec row : inner.by_name_) {
        if (is_held) {
          CHECK_WHY(row.holder == nullptr, "an inlined nullable inside an inlined nullable");
          row.holder = field.type->nullable;
          row.holder_offset = field.offset;
        } else {
          (row.holder != nullptr ? row.holder_offset : row.offset) += field.offset;
        }
        by_name_.push_back(row);
      }
      ignored_.insert(ignored_.end(), inner.ignored_.begin(), inner.ignored_.end());
      ignores_others_ = ignores_others_ || inner.ignores_others_;
    } else {
      by_name_.push_back(field);
    }
    if (field.number == 0) continue;
    CHECK_WHY(CanBeInProtobuf(*field.type), "a type without FromProtobuf needs field number 0");
    if (by_number_.size() <= field.number) by_number_.resize(field.number + 1, -1);
    CHECK_WHY(by_number_[field.number] < 0, "two fields share a protobuf number");
    by_number_[field.number] = static_cast<int16_t>(i);
  }
  std::sort(by_name_.begin(), by_name_.end(), RowLess);
  auto same = [](const FieldSpec& a, const FieldSpec& b) { return a.json_name == b.json_name; };
  const bool unique = std::adjacent_find(by_name_.begin(), by_name_.end(), same) == by_name_.end();
  CHECK_WHY(unique, "two fields share a JSON name");
}

Message Message::Ignore(std::initializer_list<std::string_view> names) && {
  ignored_.insert(ignored_.end(), names.begin(), names.end());
  return std::move(*this);
}

Message Message::IgnoreOthers() && {
  ignores_others_ = true;
  return std::move(*this);
}

const FieldSpec* Message::FindJson(std::string_view json_name) const {
  auto less = [](const FieldSpec& row, std::string_view name) { return NameLess(row.json_name, name); };
  auto it = std::lower_bound(by_name_.begin(), by_name_.end(), json_name, less);
  return it != by_name_.end() && it->json_name == json_name ? &*it : nullptr;
}

bool Message::IsIgnored(std::string_view json_name) const {
  return ignores_others_ || std::find(ignored_.begin(), ignored_.end(), json_name) != ignored_.end();
}

std::string_view Message::Suggest(std::string_view json_name) const {
  constexpr size_t kLongestName = 64;
  if (json_name.size() > kLongestName) return {};
  // A third of the letters may be wrong, but never so many that anything short fits.
  size_t closest = std::min<size_t>(3, json_name.size() / 3) + 1;
  std::string_view best;
  auto consider = [&](std::string_view candidate) {
    const size_t distance = base::EditDistance(json_name, candidate);
    if (distance >= closest) return;
    closest = distance;
    best = candidate;
  };
  for (const FieldSpec& row : by_name_) consider(row.json_name);
  for (std::string_view name : ignored_) consider(name);
  return best;
}

bool IsEmpty(const Type& type, const void* value) {
  using Kind = Type::Kind;
  switch (type.kind) {
    case Kind::kBool:
      return !*static_cast<const bool*>(value);
    case Kind::kInt32:
      return *static_cast<const int32_t*>(value) == 0;
    case Kind::kInt64:
      return *static_cast<const int64_t*>(value) == 0;
    case Kind::kUint32:
      return *static_cast<const uint32_t*>(value) == 0;
    case Kind::kUint64:
      return *static_cast<const uint64_t*>(value) == 0;
    case Kind::kDouble:
      return *static_cast<const double*>(value) == 0;
    case Kind::kString:
      return static_cast<const std::string*>(value)->empty();
    case Kind::kSymbol:
      return static_cast<const Symbol*>(value)->empty();
    case Kind::kCustom:
      return type.custom->is_empty(value);
    case Kind::kList:
      return type.list->size(value) == 0;
    case Kind::kMap:
      return type.map->size(value) == 0;
    case Kind::kNullable:
      return type.nullable->get(value) == nullptr;
    case Kind::kMessage:
      break;
  }
  const std::vector<FieldSpec>& fields = type.message().fields();
  return std::all_of(fields.begin(), fields.end(),
                     [&](const FieldSpec& field) { return IsEmpty(*field.type, field.In(value)); });
}

namespace {

template <class T>
bool IsEqual(const void* a, const void* b) {
  return *static_cast<const T*>(a) == *static_cast<const T*>(b);
}

bool IsSameCustom(const CustomAccess& custom, const void* a, const void* b) {
  if (custom.is_same) return custom.is_same(a, b);
  if (!custom.to_protobuf) return false;
  std::string first, second;
  custom.to_protobuf(a, first);
  custom.to_protobuf(b, second);
  return first == second;
}

bool IsSameMap(const Type& type, const void* a, const void* b) {
  const size_t size = type.map->size(a);
  if (size != type.map->size(b)) return false;
  for (size_t i = 0; i < size; ++i) {
    const auto [key, value] = type.map->at(a, i);
    const auto [other_key, other_value] = type.map->at(b, i);
    if (key != other_key || !IsSame(*type.element, value, other_value)) return false;
  }
  return true;
}

bool IsSameList(const Type& type, const void* a, const void* b) {
  const size_t size = type.list->size(a);
  if (size != type.list->size(b)) return false;
  for (size_t i = 0; i < size; ++i) {
    if (!IsSame(*type.element, type.list->at(a, i), type.list->at(b, i))) return false;
  }
  return true;
}

}  // namespace

bool IsSame(const Type& type, const void* a, const void* b) {
  using Kind = Type::Kind;
  switch (type.kind) {
    case Kind::kBool:
      return IsEqual<bool>(a, b);
    case Kind::kInt32:
    case Kind::kUint32:
      return IsEqual<uint32_t>(a, b);
    case Kind::kInt64:
    case Kind::kUint64:
    case Kind::kDouble:  // by its bits, as it is written
      return IsEqual<uint64_t>(a, b);
    case Kind::kString:
      return IsEqual<std::string>(a, b);
    case Kind::kSymbol:
      return IsEqual<Symbol>(a, b);
    case Kind::kCustom:
      return IsSameCustom(*type.custom, a, b);
    case Kind::kList:
      return IsSameList(type, a, b);
    case Kind::kMap:
      return IsSameMap(type, a, b);
    case Kind::kNullable: {
      const void* const first = type.nullable->get(a);
      const void* const second = type.nullable->get(b);
      if (first == second) return true;
      return first != nullptr && second != nullptr && IsSame(*type.element, first, second);
    }
    case Kind::kMessage:
      break;
  }
  return IsSame(type.message(), a, b);
}

bool IsSame(const Message& message, const void* a, const void* b) {
  const std::vector<FieldSpec>& fields = message.fields();
  return std::all_of(fields.begin(), fields.end(), [&](const FieldSpec& field) {
    return field.number == 0 || IsSame(*field.type, field.In(a), field.In(b));
  });
}

}  // namespace berth::codec
