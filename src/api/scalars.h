// The encodings of quantities, times and IntOrString: one value in JSON, a small message of their own in protobuf.
// Every schema table that has such a member includes this.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/int_or_string.h"
#include "api/quantity.h"
#include "api/time.h"
#include "codec/type.h"

namespace berth::codec {

template <>
struct ScalarTraits<api::Quantity> {
  // Accepts bare numbers as well as strings: `cpu: 2` is common.
  static std::string FromJson(const Value& value, api::Quantity& out);
  static void ToJson(const api::Quantity& value, JsonWriter& writer);
  static bool FromProtobuf(std::string_view payload, api::Quantity& out);
  static void ToProtobuf(const api::Quantity& value, std::string& payload);
  static bool IsSame(const api::Quantity& a, const api::Quantity& b) { return a == b && a.format() == b.format(); }
};

template <>
struct ScalarTraits<api::IntOrString> {
  static std::string FromJson(const Value& value, api::IntOrString& out);
  static void ToJson(const api::IntOrString& value, JsonWriter& writer);
  static bool FromProtobuf(std::string_view payload, api::IntOrString& out);
  static void ToProtobuf(const api::IntOrString& value, std::string& payload);
};

template <>
struct ScalarTraits<api::Time> {
  static std::string FromJson(const Value& value, api::Time& out);
  static void ToJson(const api::Time& value, JsonWriter& writer);
  static bool FromProtobuf(std::string_view payload, api::Time& out);
  static void ToProtobuf(const api::Time& value, std::string& payload);
};

template <>
struct ScalarTraits<api::MicroTime> {
  static std::string FromJson(const Value& value, api::MicroTime& out);
  static void ToJson(const api::MicroTime& value, JsonWriter& writer);
  static bool FromProtobuf(std::string_view payload, api::MicroTime& out);
  static void ToProtobuf(const api::MicroTime& value, std::string& payload);
};

// An optional time is a scalar in its own right: Kubernetes writes a time that is not set (every pod template has a
// creationTimestamp like that) as null in JSON but as an empty message in protobuf, which must not become 1970.
template <class T>
struct OptionalTimeTraits {
  static std::string FromJson(const Value& value, std::optional<T>& out) {
    return ScalarTraits<T>::FromJson(value, out.emplace());
  }
  static void ToJson(const std::optional<T>& value, JsonWriter& writer);
  static bool FromProtobuf(std::string_view payload, std::optional<T>& out) {
    out.reset();
    return payload.empty() || ScalarTraits<T>::FromProtobuf(payload, out.emplace());
  }
  static void ToProtobuf(const std::optional<T>& value, std::string& payload) {
    if (value) ScalarTraits<T>::ToProtobuf(*value, payload);
  }
  static bool IsEmpty(const std::optional<T>& value) { return !value.has_value(); }
  static bool IsSame(const std::optional<T>& a, const std::optional<T>& b) { return a == b; }
};

template <>
struct ScalarTraits<std::optional<api::Time>> : OptionalTimeTraits<api::Time> {};
template <>
struct ScalarTraits<std::optional<api::MicroTime>> : OptionalTimeTraits<api::MicroTime> {};

}  // namespace berth::codec
