// Value: one CEL value, 16 bytes, copied freely. Larger data is in an Arena that outlives the value: that of the
// evaluation, of the program (constants) or the caller's own input.
//
// An error is a value too: && and || absorb it, everything else passes it on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cel/arena.h"
#include "cel/network.h"
#include "cel/quantity.h"
#include "cel/semver.h"
#include "cel/url.h"

namespace berth::cel {

struct Type;
class Value;
struct NamedFormat;

enum class Kind : uint8_t {
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kDuration,   // nanoseconds
  kTimestamp,  // TimestampObject
  kType,
  kOptional,
  kQuantity,
  kSemver,
  kIp,
  kCidr,
  kUrl,
  kFormat,
  kError,
};

struct TimestampObject {
  int64_t seconds;  // since 1970
  int32_t nanos;
  int32_t offset_seconds;  // of the zone it was written in; visible only when printed
};

struct QuantityObject {
  Quantity quantity;
  bool computed;  // the result of add or sub: upstream's == does not recognize one on its right
};

class ListObject;
class MapObject;

class Value {
 public:
  constexpr Value() = default;

  static Value Null() { return {}; }
  static Value Bool(bool value) { return Value(Kind::kBool, 0, value ? 1 : 0); }
  static Value Int(int64_t value) { return Value(Kind::kInt, 0, value); }
  static Value Uint(uint64_t value) { return Value(Kind::kUint, 0, static_cast<int64_t>(value)); }
  static Value Double(double value);
  // Refers to the bytes, which must outlive the value.
  static Value String(std::string_view text) { return Text(Kind::kString, text); }
  static Value Bytes(std::string_view text) { return Text(Kind::kBytes, text); }
  static Value Duration(int64_t nanos) { return Value(Kind::kDuration, 0, nanos); }
  static Value List(const ListObject* list) { return Object(Kind::kList, list); }
  static Value Map(const MapObject* map) { return Object(Kind::kMap, map); }
  static Value Timestamp(const TimestampObject* time) { return Object(Kind::kTimestamp, time); }
  static Value TypeOf(const Type* type) { return Object(Kind::kType, type); }
  static Value OptionalNone() { return Object(Kind::kOptional, nullptr); }
  static Value OptionalOf(const Value* value) { return Object(Kind::kOptional, value); }
  static Value OfQuantity(const QuantityObject* q) { return Object(Kind::kQuantity, q); }
  static Value OfSemver(const Semver* version) { return Object(Kind::kSemver, version); }
  static Value OfIp(const IpAddress* address) { return Object(Kind::kIp, address); }
  static Value OfCidr(const Cidr* cidr) { return Object(Kind::kCidr, cidr); }
  static Value OfUrl(const Url* url) { return Object(Kind::kUrl, url); }
  static Value OfFormat(const NamedFormat* format) { return Object(Kind::kFormat, format); }
  // Refers to the text, which must outlive the value.
  static Value Error(std::string_view text) { return Text(Kind::kError, text); }

  Kind kind() const { return kind_; }
  bool is_error() const { return kind_ == Kind::kError; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_true() const { return kind_ == Kind::kBool && number_ != 0; }
  bool is_false() const { return kind_ == Kind::kBool && number_ == 0; }

  bool as_bool() const { return number_ != 0; }
  int64_t as_int() const { return number_; }
  uint64_t as_uint() const { return static_cast<uint64_t>(number_); }
  double as_double() const;
  int64_t as_duration() const { return number_; }
  // Of strings, bytes and errors.
  std::string_view text() const { return {bytes_, length_}; }
  const ListObject& list() const { return *static_cast<const ListObject*>(object_); }
  const MapObject& map() const { return *static_cast<const MapObject*>(object_); }
  const TimestampObject& timestamp() const { return *static_cast<const TimestampObject*>(object_); }
  const Type* type() const { return static_cast<const Type*>(object_); }
  // Null for optional.none().
  const Value* optional() const { return static_cast<const Value*>(object_); }
  const QuantityObject& quantity() const { return *static_cast<const QuantityObject*>(object_); }
  const Semver& semver() const { return *static_cast<const Semver*>(object_); }
  const IpAddress& ip() const { return *static_cast<const IpAddress*>(object_); }
  const Cidr& cidr() const { return *static_cast<const Cidr*>(object_); }
  const Url& url() const { return *static_cast<const Url*>(object_); }
  const NamedFormat& format() const { return *static_cast<const NamedFormat*>(object_); }
  const void* address() const { return object_; }

 private:
  Value(Kind kind, uint32_t length, int64_t number) : kind_(kind), length_(length), number_(number) {}
  static Value Text(Kind kind, std::string_view text) {
    Value value(kind, static_cast<uint32_t>(text.size()), 0);
    value.bytes_ = text.data();
    return value;
  }
  static Value Object(Kind kind, const void* object) {
    Value value(kind, 0, 0);
    value.object_ = object;
    return value;
  }

  Kind kind_ = Kind::kNull;
  uint32_t length_ = 0;
  union {
    int64_t number_ = 0;
    double double_;
    const char* bytes_;
    const void* object_;
  };
};

inline Value Value::Double(double number) {
  Value value(Kind::kDouble, 0, 0);
  value.double_ = number;
  return value;
}
inline double Value::as_double() const { return double_; }

static_assert(sizeof(Value) == 16 && std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);

// A list: consecutive elements, the lazy sum of two lists, or 0..n-1. Sums are lazy because upstream counts one unit
// for them: [1]+[1] doubled forty times must stay cheap.
class ListObject {
 public:
  static const ListObject* Of(Arena& arena, std::span<const Value> items) {
    return arena.New<ListObject>(Form::kItems, items, nullptr, nullptr, static_cast<int64_t>(items.size()));
  }
  static const ListObject* Range(Arena& arena, int64_t count) {
    return arena.New<ListObject>(Form::kRange, std::span<const Value>(), nullptr, nullptr, count > 0 ? count : 0);
  }
  static const ListObject* Concat(Arena& arena, const ListObject& a, const ListObject& b);

  int64_t size() const { return size_; }
  bool is_mutable() const { return mutable_; }
  bool is_concatenation() const { return form_ == Form::kConcat; }
  // `index` must be within the list.
  Value Get(int64_t index) const;

  enum class Form : uint8_t { kItems, kConcat, kRange };
  ListObject(Form form, std::span<const Value> items, const ListObject* first, const ListObject* second, int64_t size)
      : form_(form), items_(items), first_(first), second_(second), size_(size) {}

 protected:
  friend void AppendTo(Arena&, const class MutableList&, const ListObject&);
  void set_mutable() { mutable_ = true; }
  void set_items(std::span<const Value> items) const {
    items_ = items;
    size_ = static_cast<int64_t>(items.size());
  }

 private:
  Form form_;
  bool mutable_ = false;
  // Changed only by the loop that owns a mutable list.
  mutable std::span<const Value> items_;
  const ListObject* first_;
  const ListObject* second_;
  mutable int64_t size_;
};

// A map. Subclasses look keys up in the caller's data instead of copying it.
class MapObject {
 public:
  virtual int64_t size() const = 0;
  // What index and select see: may find more than KeyAt lists (an unknown domain is an empty map).
  virtual bool Find(const Value& key, Arena& arena, Value* found) const = 0;
  // What `in` sees.
  virtual bool Contains(const Value& key, Arena& arena) const {
    Value ignored;
    return Find(key, arena, &ignored);
  }
  // Entries in a fixed order, 0 <= index < size().
  virtual Value KeyAt(int64_t index) const = 0;
  virtual Value ValueAt(int64_t index, Arena& arena) const = 0;
  // The map as upstream sees it after passing through an optional: without special lookups.
  virtual const MapObject* Plain(Arena&) const { return this; }
  virtual bool is_mutable() const { return false; }
  // Upstream looks keys up by their hash, which some values do not have.
  virtual bool is_hashed() const { return true; }

 protected:
  ~MapObject() = default;
};

struct MapEntry {
  Value key;
  Value value;
};

// Entries are sorted by key and found by binary search.
class LiteralMap final : public MapObject {
 public:
  // Later entries with an equal key replace earlier ones.
  static const LiteralMap* Of(Arena& arena, std::span<const MapEntry> entries);

  int64_t size() const override { return static_cast<int64_t>(entries_.size()); }
  bool Find(const Value& key, Arena& arena, Value* found) const override;
  Value KeyAt(int64_t index) const override { return entries_[index].key; }
  Value ValueAt(int64_t index, Arena&) const override { return entries_[index].value; }

  explicit LiteralMap(std::span<const MapEntry> entries) : entries_(entries) {}

 private:
  bool FindExact(const Value& key, Value* found) const;

  std::span<const MapEntry> entries_;  // sorted by CompareKeys
};

// A total order of map keys in which keys are equal exactly when upstream's map treats them so: same type, same value.
int CompareKeys(const Value& a, const Value& b);
// Whether upstream can use the value as a key at all; otherwise `unhashable` is its type's name.
bool IsHashable(const Value& value, const char** unhashable);

// Name of the runtime type: "int", "kubernetes.Quantity".
std::string_view TypeName(const Value& value);
// Go's name of the value's type, as it appears in some messages: "types.Int".
std::string_view GoTypeName(const Value& value);
// As Go's %v prints it.
std::string Display(const Value& value, Arena& arena);

// Makes an error value whose text lives in the arena.
Value MakeError(Arena& arena, std::string_view text);
inline Value NoSuchOverload() { return Value::Error("no such overload"); }

// Number of code points.
int64_t CountRunes(std::string_view text);

}  // namespace berth::cel
