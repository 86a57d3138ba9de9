// What the codecs know about a C++ member type: its kind and a handful of function pointers to reach into it.
// The codecs themselves are ordinary functions over this description, so a new API type costs a table, not code.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/symbol.h"

namespace berth::codec {

class JsonWriter;
class Message;
class Value;

// Specialise for a type that is one value on the wire but more than a primitive here (quantities, times, enums):
//
//   template <> struct ScalarTraits<Quantity> {
//     // Empty on success, else what was wanted: "expected a quantity". The decoder adds path, place and what was
//     // found. Never called with null.
//     static std::string FromJson(const Value& value, Quantity& out);
//     static void ToJson(const Quantity& value, JsonWriter& writer);
//     // Optional; without them the type may only be used in JSON-only fields. The payload is what the length-delimited
//     // field holds: text, or a nested message to be read with WireReader.
//     static bool FromProtobuf(std::string_view payload, Quantity& out);
//     static void ToProtobuf(const Quantity& value, std::string& payload);
//     // Optional; without it, empty means equal to Quantity{}.
//     static bool IsEmpty(const Quantity& value);
//     // Optional, for speed: whether they are written alike. Without it, both are written and compared.
//     static bool IsSame(const Quantity& a, const Quantity& b);
//   };
template <class T>
struct ScalarTraits;

template <class T>
concept CustomScalar = requires(const Value& value, T& out) {
  { ScalarTraits<T>::FromJson(value, out) } -> std::same_as<std::string>;
};

// A type whose namespace has `const codec::Message& Describe(const T*)`. Declare it right beside the struct: the answer
// to this question must be the same everywhere.
template <class T>
concept Described = requires(const T* object) {
  { Describe(object) } -> std::same_as<const Message&>;
};

template <Described T>
const Message& DescriptionOf() {
  return Describe(static_cast<const T*>(nullptr));
}

// Whether two objects of a message are written to protobuf alike. Never true when they are not.
bool IsSame(const Message& message, const void* a, const void* b);

struct ListAccess {
  size_t (*size)(const void* list);
  const void* (*at)(const void* list, size_t index);
  void* (*append)(void* list);
  void (*reserve)(void* list, size_t count);
  void (*clear)(void* list);
};

struct MapAccess {
  size_t (*size)(const void* map);
  std::pair<std::string_view, const void*> (*at)(const void* map, size_t index);  // in key order
  void* (*insert)(void* map, std::string_view key);
  void (*reserve)(void* map, size_t count);
};

struct NullableAccess {
  const void* (*get)(const void* nullable);  // null when absent
  void* (*emplace)(void* nullable);          // an object to decode into
  void (*reset)(void* nullable);
};

struct CustomAccess {
  std::string (*from_json)(const Value& value, void* out);
  void (*to_json)(const void* value, JsonWriter& writer);
  bool (*from_protobuf)(std::string_view payload, void* out);  // null: not in protobuf
  void (*to_protobuf)(const void* value, std::string& payload);
  bool (*is_empty)(const void* value);
};

struct Type {
  enum class Kind : uint8_t {
    kBool,
    kInt32,
    kInt64,
    kUint32,
    kUint64,
    kDouble,
    kString,
    kSymbol,
    kCustom,
    kMessage,
    kList,
    kMap,
    kNullable,
  };

  Kind kind;
  // Whether two values are written to protobuf alike; never true when they are not. There is one function per type, so
  // that comparing two empty members, the usual case, takes a single call.
  bool (*is_same)(const void* a, const void* b) = nullptr;
  const Type* element = nullptr;          // of a list, a map's values, a nullable
  const Message& (*message)() = nullptr;  // a function, so that messages may contain themselves
  const ListAccess* list = nullptr;
  const MapAccess* map = nullptr;
  const NullableAccess* nullable = nullptr;
  const CustomAccess* custom = nullptr;
};

namespace internal {

template <class List>
inline constexpr ListAccess kListAccess = {
    .size = [](const void* list) { return static_cast<const List*>(list)->size(); },
    .at = [](const void* list, size_t index) -> const void* { return &(*static_cast<const List*>(list))[index]; },
    .append = [](void* list) -> void* { return &static_cast<List*>(list)->emplace_back(); },
    .reserve = [](void* list, size_t count) { static_cast<List*>(list)->reserve(count); },
    .clear = [](void* list) { static_cast<List*>(list)->clear(); },
};

inline std::string_view TextOf(const std::string& key) { return key; }
inline std::string_view TextOf(const Symbol& key) { return key.str(); }

template <class Map>
inline constexpr MapAccess kMapAccess = {
    .size = [](const void* map) { return static_cast<const Map*>(map)->size(); },
    .at = [](const void* map, size_t index) -> std::pair<std::string_view, const void*> {
      const auto& entry = *(static_cast<const Map*>(map)->begin() + static_cast<std::ptrdiff_t>(index));
      return {TextOf(entry.first), &entry.second};
    },
    .insert = [](void* map, std::string_view key) -> void* {
      return &(*static_cast<Map*>(map))[typename Map::key_type(key)];
    },
    .reserve = [](void* map, size_t count) { static_cast<Map*>(map)->reserve(count); },
};

template <class N>
struct NullableTraits;

template <class T>
struct NullableTraits<std::optional<T>> {
  using Element = T;
  static const void* Get(const std::optional<T>& value) { return value ? &*value : nullptr; }
  static void* Emplace(std::optional<T>& value) { return value ? &*value : &value.emplace(); }
};

template <class T>
struct NullableTraits<std::unique_ptr<T>> {
  using Element = T;
  static const void* Get(const std::unique_ptr<T>& value) { return value.get(); }
  static void* Emplace(std::unique_ptr<T>& value) {
    if (!value) value = std::make_unique<T>();
    return value.get();
  }
};

template <class T>
struct NullableTraits<std::shared_ptr<const T>> {
  using Element = T;
  static const void* Get(const std::shared_ptr<const T>& value) { return value.get(); }
  // Always a new object: the old one may be shared, and shared objects are frozen.
  static void* Emplace(std::shared_ptr<const T>& value) {
    auto fresh = std::make_shared<T>();
    void* object = fresh.get();
    value = std::move(fresh);
    return object;
  }
};

template <class N>
inline constexpr NullableAccess kNullableAccess = {
    .get = [](const void* value) { return NullableTraits<N>::Get(*static_cast<const N*>(value)); },
    .emplace = [](void* value) { return NullableTraits<N>::Emplace(*static_cast<N*>(value)); },
    .reset = [](void* value) { static_cast<N*>(value)->reset(); },
};

template <class T>
bool IsEmptyCustom(const void* value) {
  const T& typed = *static_cast<const T*>(value);
  if constexpr (requires { ScalarTraits<T>::IsEmpty(typed); }) {
    return ScalarTraits<T>::IsEmpty(typed);
  } else {
    return typed == T{};
  }
}

template <class T>
constexpr CustomAccess MakeCustomAccess() {
  CustomAccess access{};
  access.from_json = [](const Value& value, void* out) {
    return ScalarTraits<T>::FromJson(value, *static_cast<T*>(out));
  };
  access.to_json = [](const void* value, JsonWriter& writer) {
    ScalarTraits<T>::ToJson(*static_cast<const T*>(value), writer);
  };
  if constexpr (requires(std::string_view payload, T & out) { ScalarTraits<T>::FromProtobuf(payload, out); }) {
    access.from_protobuf = [](std::string_view payload, void* out) {
      return ScalarTraits<T>::FromProtobuf(payload, *static_cast<T*>(out));
    };
    access.to_protobuf = [](const void* value, std::string& payload) {
      ScalarTraits<T>::ToProtobuf(*static_cast<const T*>(value), payload);
    };
  }
  access.is_empty = &IsEmptyCustom<T>;
  return access;
}

template <class T>
inline constexpr CustomAccess kCustomAccess = MakeCustomAccess<T>();

template <class T>
bool IsSameCustom(const T& a, const T& b) {
  if constexpr (requires { ScalarTraits<T>::IsSame(a, b); }) {
    return ScalarTraits<T>::IsSame(a, b);
  } else if constexpr (requires(std::string & out) { ScalarTraits<T>::ToProtobuf(a, out); }) {
    std::string first, second;
    ScalarTraits<T>::ToProtobuf(a, first);
    ScalarTraits<T>::ToProtobuf(b, second);
    return first == second;
  } else {
    return false;
  }
}

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <class T>
bool IsSameValue(const T& a, const T& b) {
  if constexpr (CustomScalar<T>) {
    return IsSameCustom(a, b);
  } else if constexpr (Described<T>) {
    return IsSame(DescriptionOf<T>(), &a, &b);
  } else if constexpr (requires { typename NullableTraits<T>::Element; }) {
    using Element = typename NullableTraits<T>::Element;
    const auto* const first = static_cast<const Element*>(NullableTraits<T>::Get(a));
    const auto* const second = static_cast<const Element*>(NullableTraits<T>::Get(b));
    if (first == second) return true;
    return first != nullptr && second != nullptr && IsSameValue(*first, *second);
  } else if constexpr (requires { typename T::mapped_type; }) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
      return one.first == other.first && IsSameValue(one.second, other.second);
    });
  } else if constexpr (kIsList<T>) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& one, const auto& other) { return IsSameValue(one, other); });
  } else if constexpr (std::same_as<T, double>) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);  // as it is written
  } else {
    return a == b;
  }
}

template <class T>
struct TypeMaker {
  static constexpr Type Make() {
    using Kind = Type::Kind;
    if constexpr (std::same_as<T, bool>) {
      return {.kind = Kind::kBool};
    } else if constexpr (std::same_as<T, int32_t>) {
      return {.kind = Kind::kInt32};
    } else if constexpr (std::same_as<T, int64_t>) {
      return {.kind = Kind::kInt64};
    } else if constexpr (std::same_as<T, uint32_t>) {
      return {.kind = Kind::kUint32};
    } else if constexpr (std::same_as<T, uint64_t>) {
      return {.kind = Kind::kUint64};
    } else if constexpr (std::same_as<T, double>) {
      return {.kind = Kind::kDouble};
    } else if constexpr (std::same_as<T, std::string>) {
      return {.kind = Kind::kString};
    } else if constexpr (std::same_as<T, Symbol>) {
      return {.kind = Kind::kSymbol};
    } else {
      static_assert(Described<T>, "this member type has neither Describe() nor ScalarTraits");
      return {.kind = Kind::kMessage, .message = &DescriptionOf<T>};
    }
  }
};

// ScalarTraits come first, so that even an optional or a list may be one value with a form of its own.
template <class T>
constexpr Type MakeType() {
  Type type{};
  if constexpr (CustomScalar<T>) {
    type = {.kind = Type::Kind::kCustom, .custom = &kCustomAccess<T>};
  } else {
    type = TypeMaker<T>::Make();
  }
  type.is_same = [](const void* a, const void* b) {
    return IsSameValue(*static_cast<const T*>(a), *static_cast<const T*>(b));
  };
  return type;
}

}  // namespace internal

// The description of a member type; constant data, no start-up cost.
template <class T>
inline constexpr Type kTypeOf = internal::MakeType<T>();

namespace internal {

template <class T>
struct TypeMaker<std::vector<T>> {
  static_assert(!std::same_as<T, bool>, "std::vector<bool> has no addressable elements");
  static constexpr Type Make() {
    return {.kind = Type::Kind::kList, .element = &kTypeOf<T>, .list = &kListAccess<std::vector<T>>};
  }
};

template <class K, class V>
struct TypeMaker<base::FlatMap<K, V>> {
  static constexpr Type Make() {
    return {.kind = Type::Kind::kMap, .element = &kTypeOf<V>, .map = &kMapAccess<base::FlatMap<K, V>>};
  }
};

template <class N>
requires requires { typename NullableTraits<N>::Element; }
struct TypeMaker<N> {
  static constexpr Type Make() {
    return {.kind = Type::Kind::kNullable,
            .element = &kTypeOf<typename NullableTraits<N>::Element>,
            .nullable = &kNullableAccess<N>};
  }
};

}  // namespace internal

// Whether a value is what an absent field would decode to, and so may be left out: zero, "", no entries, no object, or
// a message of nothing but such fields.
bool IsEmpty(const Type& type, const void* value);

}  // namespace berth::codec
