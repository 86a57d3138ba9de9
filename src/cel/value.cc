#include "cel/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/go_text.h"
#include "cel/go_text.h"
#include "cel/named_format.h"
#include "cel/order.h"
#include "cel/time.h"
#include "cel/type.h"

namespace berth::cel {

const ListObject* ListObject::Concat(Arena& arena, const ListObject& a, const ListObject& b) {
  if (a.size() == 0) return &b;
  if (b.size() == 0) return &a;
  int64_t size = 0;
  if (__builtin_add_overflow(a.size(), b.size(), &size)) throw Cancelled{kCostLimitExceeded};
  return arena.New<ListObject>(Form::kConcat, std::span<const Value>(), &a, &b, size);
}

Value ListObject::Get(int64_t index) const {
  const ListObject* list = this;
  while (list->form_ == Form::kConcat) {
    const int64_t before = list->first_->size_;
    if (index < before) {
      list = list->first_;
    } else {
      index -= before;
      list = list->second_;
    }
  }
  if (list->form_ == Form::kRange) return Value::Int(index);
  return list->items_[static_cast<size_t>(index)];
}

namespace {

// Whether the double is exactly an integer, for map keys and range checks.
bool LosslessInt(double value, int64_t* result) {
  if (!(value > -9223372036854775808.0 && value < 9223372036854775807.0)) return false;
  *result = static_cast<int64_t>(value);
  return static_cast<double>(*result) == value;
}

bool LosslessUint(double value, uint64_t* result) {
  if (!(value >= 0 && value < 18446744073709551616.0)) return false;
  *result = static_cast<uint64_t>(value);
  return static_cast<double>(*result) == value;
}

}  // namespace

int CompareKeys(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return Order(static_cast<int>(a.kind()), static_cast<int>(b.kind()));
  switch (a.kind()) {
    case Kind::kNull:
      return 0;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kDuration:
      return Order(a.as_int(), b.as_int());
    case Kind::kUint:
      return Order(a.as_uint(), b.as_uint());
    case Kind::kDouble:
      // NaN sorts last; it is never looked up.
      if (std::isnan(a.as_double()) || std::isnan(b.as_double())) {
        return Order(std::isnan(a.as_double()), std::isnan(b.as_double()));
      }
      return Order(a.as_double(), b.as_double());
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kError:
      return Order(a.text().compare(b.text()), 0);
    case Kind::kTimestamp: {
      const int order = Order(a.timestamp().seconds, b.timestamp().seconds);
      return order != 0 ? order : Order(a.timestamp().nanos, b.timestamp().nanos);
    }
    case Kind::kType:
      return Order(a.type()->name.compare(b.type()->name), 0);
    case Kind::kIp:
      return Order(a.ip().bytes, b.ip().bytes);
    case Kind::kCidr: {
      const int order = Order(a.cidr().address.bytes, b.cidr().address.bytes);
      return order != 0 ? order : Order(a.cidr().bits, b.cidr().bits);
    }
    default:
      return Order(a.address(), b.address());
  }
}

bool IsHashable(const Value& value, const char** unhashable) {
  switch (value.kind()) {
    case Kind::kBytes:
      *unhashable = "types.Bytes";
      return false;
    case Kind::kSemver:
      *unhashable = "cel.Semver";
      return false;
    case Kind::kFormat:
      *unhashable = "func(string) []string";
      return false;
    default:
      return true;
  }
}

const LiteralMap* LiteralMap::Of(Arena& arena, std::span<const MapEntry> entries) {
  const std::span<MapEntry> sorted = arena.NewArray<MapEntry>(entries.size());
  std::copy(entries.begin(), entries.end(), sorted.begin());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const MapEntry& a, const MapEntry& b) { return CompareKeys(a.key, b.key) < 0; });
  // The last of equal keys is kept.
  size_t kept = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i + 1 < sorted.size() && CompareKeys(sorted[i].key, sorted[i + 1].key) == 0) continue;
    sorted[kept++] = sorted[i];
  }
  return arena.New<LiteralMap>(std::span<const MapEntry>(sorted.first(kept)));
}

bool LiteralMap::FindExact(const Value& key, Value* found) const {
  const auto entry = std::lower_bound(
      entries_.begin(), entries_.end(), key,
      [](const MapEntry& candidate, const Value& wanted) { return CompareKeys(candidate.key, wanted) < 0; });
  if (entry == entries_.end() || CompareKeys(entry->key, key) != 0) return false;
  if (key.kind() == Kind::kDouble && std::isnan(key.as_double())) return false;
  *found = entry->value;
  return true;
}

bool LiteralMap::Find(const Value& key, Arena&, Value* found) const {
  if (entries_.empty()) return false;
  if (FindExact(key, found)) return true;
  // Numbers match keys of other number types.
  int64_t integer = 0;
  uint64_t natural = 0;
  switch (key.kind()) {
    case Kind::kDouble:
      if (LosslessInt(key.as_double(), &integer) && FindExact(Value::Int(integer), found)) return true;
      return LosslessUint(key.as_double(), &natural) && FindExact(Value::Uint(natural), found);
    case Kind::kInt:
      return key.as_int() >= 0 && FindExact(Value::Uint(key.as_uint()), found);
    case Kind::kUint:
      return key.as_int() >= 0 && FindExact(Value::Int(key.as_int()), found);
    default:
      return false;
  }
}

std::string_view TypeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "null_type";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kDuration:
      return "google.protobuf.Duration";
    case Kind::kTimestamp:
      return "google.protobuf.Timestamp";
    case Kind::kType:
      return "type";
    case Kind::kOptional:
      return "optional_type";
    case Kind::kQuantity:
      return "kubernetes.Quantity";
    case Kind::kSemver:
      return "kubernetes.Semver";
    case Kind::kIp:
      return "net.IP";
    case Kind::kCidr:
      return "net.CIDR";
    case Kind::kUrl:
      return "kubernetes.URL";
    case Kind::kFormat:
      return "kubernetes.NamedFormat";
    case Kind::kError:
      return "error";
  }
  return "";
}

std::string_view GoTypeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "types.Null";
    case Kind::kBool:
      return "types.Bool";
    case Kind::kInt:
      return "types.Int";
    case Kind::kUint:
      return "types.Uint";
    case Kind::kDouble:
      return "types.Double";
    case Kind::kString:
      return "types.String";
    case Kind::kBytes:
      return "types.Bytes";
    case Kind::kList:
      return value.list().is_concatenation() ? "*types.concatList" : "*types.baseList";
    case Kind::kMap:
      return "*types.baseMap";
    case Kind::kDuration:
      return "types.Duration";
    case Kind::kTimestamp:
      return "types.Timestamp";
    case Kind::kType:
      return "*types.Type";
    case Kind::kOptional:
      return "*types.Optional";
    case Kind::kQuantity:
      return value.quantity().computed ? "*cel.Quantity" : "cel.Quantity";
    case Kind::kSemver:
      return "cel.Semver";
    case Kind::kIp:
      return "cel.IP";
    case Kind::kCidr:
      return "cel.CIDR";
    case Kind::kUrl:
      return "cel.URL";
    case Kind::kFormat:
      return "cel.Format";
    case Kind::kError:
      return "*types.Err";
  }
  return "";
}

namespace {

std::string GoDuration(int64_t nanos) {
  std::string text;
  base::AppendDuration(text, base::Duration(nanos));
  return text;
}

std::string GoTime(const TimestampObject& time) {
  const CivilTime civil = ToCivil(time.seconds + time.offset_seconds);
  std::string text = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", civil.year, civil.month, civil.day, civil.hour,
                                 civil.minute, civil.second);
  if (time.nanos != 0) {
    std::string rest = fmt::format(".{:09}", time.nanos);
    rest.erase(rest.find_last_not_of('0') + 1);
    text += rest;
  }
  if (time.offset_seconds == 0) return text + " +0000 UTC";
  const int minutes = std::abs(time.offset_seconds) / 60;
  const std::string offset =
      fmt::format("{}{:02}{:02}", time.offset_seconds < 0 ? '-' : '+', minutes / 60, minutes % 60);
  return text + " " + offset + " " + offset;
}

std::string DisplayBytes(std::string_view bytes) {
  std::string text = "[";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) text += ' ';
    text += fmt::format("{}", static_cast<unsigned char>(bytes[i]));
  }
  return text + "]";
}

// Longer texts are useless in a message.
constexpr size_t kMaxDisplay = 65536;

std::string DisplayList(const ListObject& list, Arena& arena) {
  std::string text = "[";
  for (int64_t i = 0; i < list.size() && text.size() < kMaxDisplay; ++i) {
    if (i > 0) text += ", ";
    text += Display(list.Get(i), arena);
  }
  return text + "]";
}

std::string DisplayMap(const MapObject& map, Arena& arena) {
  std::string text = "{";
  for (int64_t i = 0; i < map.size() && text.size() < kMaxDisplay; ++i) {
    if (i > 0) text += ", ";
    text += Display(map.KeyAt(i), arena) + ": " + Display(map.ValueAt(i, arena), arena);
  }
  return text + "}";
}

}  // namespace

std::string Display(const Value& value, Arena& arena) {
  switch (value.kind()) {
    case Kind::kNull:
      return "NULL_VALUE";
    case Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case Kind::kInt:
      return fmt::format("{}", value.as_int());
    case Kind::kUint:
      return fmt::format("{}", value.as_uint());
    case Kind::kDouble:
      return FormatDoubleG(value.as_double());
    case Kind::kString:
    case Kind::kError:
      return std::string(value.text());
    case Kind::kBytes:
      return DisplayBytes(value.text());
    case Kind::kList:
      return DisplayList(value.list(), arena);
    case Kind::kMap:
      return DisplayMap(value.map(), arena);
    case Kind::kDuration:
      return GoDuration(value.as_duration());
    case Kind::kTimestamp:
      return GoTime(value.timestamp());
    case Kind::kType:
      return TypeString(*value.type());
    case Kind::kOptional:
      if (value.optional() == nullptr) return "optional.none()";
      return "optional(" + Display(*value.optional(), arena) + ")";
    case Kind::kQuantity:
      return value.quantity().quantity.ToString();
    case Kind::kSemver:
      return std::string(value.semver().text);
    case Kind::kIp:
      return value.ip().ToString();
    case Kind::kCidr:
      return value.cidr().ToString();
    case Kind::kUrl:
      return value.url().ToString();
    case Kind::kFormat:
      return std::string(value.format().name);
  }
  return "";
}

Value MakeError(Arena& arena, std::string_view text) { return Value::Error(arena.Copy(text)); }

int64_t CountRunes(std::string_view text) {
  int64_t count = 0;
  bool ascii = true;
  for (const char c : text) {
    ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  }
  if (ascii) return static_cast<int64_t>(text.size());
  if (IsValidUtf8(text)) return count;
  // Every invalid byte counts as one code point.
  count = 0;
  for (size_t i = 0, size = 0; i < text.size(); i += size, ++count) DecodeRune(text.substr(i), &size);
  return count;
}

}  // namespace berth::cel
