// The one table of an API type: JSON name, protobuf field number, member. Decoding from JSON, YAML and protobuf and
// encoding to JSON and protobuf all walk this table; nothing else knows a field's name.
//
//   // beside the struct, in its namespace
//   const codec::Message& Describe(const Toleration*);
//   // in one source file
//   const codec::Message& Describe(const Toleration*) {
//     static const codec::Message message = codec::MessageOf<Toleration>("Toleration", {
//         codec::Field("key", 1, &Toleration::key),
//         codec::Field("operator", 2, &Toleration::op),
//         codec::Field("tolerationSeconds", 5, &Toleration::toleration_seconds),  // std::optional<int64_t>
//     });
//     return message;
//   }
//
// Member types: bool, int32_t, int64_t, uint32_t, uint64_t, double, std::string, Symbol; a type with ScalarTraits; a
// type with Describe; std::vector<T>; base::FlatMap<std::string or Symbol, T>; and, where absence matters,
// std::optional<T>, std::unique_ptr<T>, std::shared_ptr<const T>. They nest freely.
//
// Tables are built once, on first use, and are immutable: safe to share between threads.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/type.h"

namespace berth::codec {

// One row, with the struct's type forgotten.
struct FieldSpec {
  std::string_view json_name;
  uint32_t number = 0;  // 0: not in protobuf
  uint32_t offset = 0;  // of the member in the struct
  const Type* type = nullptr;
  bool (*drop_key)(std::string_view key) = nullptr;
  bool is_inline = false;  // JSON has the nested message's fields in the parent; protobuf nests it
  bool always = false;     // JSON shows it even when empty
  bool required = false;   // protobuf carries it even when empty
  // Of a row from an inlined nullable: its offset; `offset` then counts from the object it holds.
  const NullableAccess* holder = nullptr;
  uint32_t holder_offset = 0;

  void* In(void* object) const { return static_cast<std::byte*>(object) + offset; }
  const void* In(const void* object) const { return static_cast<const std::byte*>(object) + offset; }
};

// A row of T's table; what Field() and Inline() return.
template <class T>
struct FieldOf {
  FieldSpec spec;

  explicit FieldOf(FieldSpec from) : spec(from) {}
  // A member of a base class is a member.
  template <class Base>
  requires(std::derived_from<T, Base> && !std::same_as<T, Base>) FieldOf(const FieldOf<Base>& base)
      : spec(base.spec) {  // NOLINT: implicit, so that tables may mix both
    alignas(T) static std::byte storage[sizeof(T)];
    T* derived = reinterpret_cast<T*>(storage);
    spec.offset += static_cast<uint32_t>(reinterpret_cast<std::byte*>(static_cast<Base*>(derived)) - storage);
  }

  // Written to JSON even when empty: a zero, "", [], {}; null for an absent optional or pointer.
  FieldOf Always() const { return With(&FieldSpec::always); }
  // Written to protobuf even when empty, for readers that insist.
  FieldOf Required() const { return With(&FieldSpec::required); }
  // For maps: entries whose key `drop` accepts are skipped while decoding and never stored.
  FieldOf DropKeys(bool (*drop)(std::string_view key)) const {
    FieldOf copy = *this;
    copy.spec.drop_key = drop;
    return copy;
  }

 private:
  FieldOf With(bool FieldSpec::*flag) const {
    FieldOf copy = *this;
    copy.spec.*flag = true;
    return copy;
  }
};

namespace internal {

// Under the Itanium C++ ABI a pointer to data member is the member's offset; every compiler berth supports follows it.
template <class T, class M>
uint32_t OffsetOf(M T::*member) {
  static_assert(sizeof(member) == sizeof(std::ptrdiff_t));
  return static_cast<uint32_t>(std::bit_cast<std::ptrdiff_t>(member));
}

}  // namespace internal

// `json_name` must outlive the table (a literal). Number 0 keeps the field out of protobuf.
template <class T, class M>
FieldOf<T> Field(std::string_view json_name, uint32_t number, M T::*member) {
  const uint32_t offset = internal::OffsetOf(member);
  return FieldOf<T>({.json_name = json_name, .number = number, .offset = offset, .type = &kTypeOf<M>});
}

template <class M>
inline constexpr bool kCanBeInlined = Described<M>;
template <class M>
requires requires { typename internal::NullableTraits<M>::Element; }
inline constexpr bool kCanBeInlined<M> = Described<typename internal::NullableTraits<M>::Element>;

// A nested message whose JSON fields are among the parent's (Go's `json:",inline"`); the name is for reading only. It
// may be held by a nullable, which is then absent when none of its fields is there.
template <class T, class M>
FieldOf<T> Inline(std::string_view name, uint32_t number, M T::*member) {
  static_assert(kCanBeInlined<M>, "only a nested message can be inlined");
  FieldOf<T> field = Field(name, number, member);
  field.spec.is_inline = true;
  return field;
}

class Message {
 public:
  // Use MessageOf<T>.
  Message(std::string_view name, std::vector<FieldSpec> fields);

  // Names that are valid in JSON but not used here: strict decoding accepts them, none is stored. Literals.
  Message Ignore(std::initializer_list<std::string_view> names) &&;
  // Ignores every other name as well: for types of which only a small part is modelled.
  Message IgnoreOthers() &&;

  std::string_view name() const { return name_; }
  // In the order of the table.
  const std::vector<FieldSpec>& fields() const { return fields_; }

  // The members that IsSame compares: all that are in protobuf. Those of nested messages are in the same flat list.
  struct Compared {
    bool (*is_same)(const void* a, const void* b);
    uint32_t offset;
  };
  const std::vector<Compared>& compared() const { return compared_; }

  // The row for a JSON name, looking into inlined messages (the offset is then from the outer struct). Null when there
  // is none. Case-sensitive.
  const FieldSpec* FindJson(std::string_view json_name) const;
  const FieldSpec* FindNumber(uint32_t number) const {
    return number < by_number_.size() && by_number_[number] >= 0 ? &fields_[by_number_[number]] : nullptr;
  }
  bool IsIgnored(std::string_view json_name) const;
  // The known name that `json_name` was probably meant to be, or empty.
  std::string_view Suggest(std::string_view json_name) const;

 private:
  void AddCompared(const FieldSpec& field);

  std::string_view name_;
  std::vector<FieldSpec> fields_;
  std::vector<Compared> compared_;
  std::vector<FieldSpec> by_name_;  // flattened; sorted by length, then text
  std::vector<int16_t> by_number_;  // index into fields_, or -1
  std::vector<std::string_view> ignored_;
  bool ignores_others_ = false;
};

template <class T>
Message MessageOf(std::string_view name, std::initializer_list<FieldOf<T>> fields) {
  std::vector<FieldSpec> specs;
  specs.reserve(fields.size());
  for (const FieldOf<T>& field : fields) specs.push_back(field.spec);
  return Message(name, std::move(specs));
}

}  // namespace berth::codec
