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
    AddCompared(field);
  }
  std::sort(by_name_.begin(), by_name_.end(), RowLess);
  auto same = [](const FieldSpec& a, const FieldSpec& b) { return a.json_name == b.json_name; };
  const bool unique = std::adjacent_find(by_name_.begin(), by_name_.end(), same) == by_name_.end();
  CHECK_WHY(unique, "two fields share a JSON name");
}

void Message::AddCompared(const FieldSpec& field) {
  if (field.type->kind != Type::Kind::kMessage) return compared_.push_back({field.type->is_same, field.offset});
  for (const Compared& inner : field.type->message().compared_) {
    compared_.push_back({inner.is_same, field.offset + inner.offset});
  }
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

bool IsSame(const Message& message, const void* a, const void* b) {
  const auto* const first = static_cast<const std::byte*>(a);
  const auto* const second = static_cast<const std::byte*>(b);
  for (const Message::Compared& member : message.compared()) {
    if (!member.is_same(first + member.offset, second + member.offset)) return false;
  }
  return true;
}

}  // namespace berth::codec
