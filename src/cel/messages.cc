#include "cel/messages.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/base64.h"
#include "cel/operations.h"
#include "cel/time.h"

namespace berth::cel {
namespace {

const Type kBoolWrapper{TypeKind::kBool, "bool", {}, -1, 1, true};
const Type kBytesWrapper{TypeKind::kBytes, "bytes", {}, -1, 1, true};
const Type kDoubleWrapper{TypeKind::kDouble, "double", {}, -1, 1, true};
const Type kIntWrapper{TypeKind::kInt, "int", {}, -1, 1, true};
const Type kUintWrapper{TypeKind::kUint, "uint", {}, -1, 1, true};
const Type kStringWrapper{TypeKind::kString, "string", {}, -1, 1, true};
const Type kListValue{TypeKind::kList, "list", {&types::kDyn}};
const Type kStruct{TypeKind::kMap, "map", {&types::kString, &types::kDyn}};

constexpr int64_t kMaxExactInt = (int64_t{1} << 53) - 1;
constexpr int kMaxJsonDepth = 512;

// As a JSON value: numbers become doubles, and types unknown to JSON become text.
Value ToJson(Evaluation& evaluation, const Value& value, int depth) {
  evaluation.Work(1);
  if (depth > kMaxJsonDepth) throw Cancelled{kCostLimitExceeded};
  switch (value.kind()) {
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kDouble:
    case Kind::kString:
      return value;
    case Kind::kInt:
      if (std::abs(static_cast<double>(value.as_int())) > static_cast<double>(kMaxExactInt)) {
        return MakeString(evaluation, fmt::format("{}", value.as_int()));
      }
      return Value::Double(static_cast<double>(value.as_int()));
    case Kind::kUint:
      if (value.as_uint() > static_cast<uint64_t>(kMaxExactInt)) {
        return MakeString(evaluation, fmt::format("{}", value.as_uint()));
      }
      return Value::Double(static_cast<double>(value.as_uint()));
    case Kind::kBytes:
      return MakeString(evaluation, base::EncodeBase64(value.text()));
    case Kind::kDuration:
    case Kind::kTimestamp:
      return Convert(evaluation, value, Kind::kString);
    case Kind::kList: {
      const std::span<Value> items = evaluation.arena().NewArray<Value>(static_cast<size_t>(value.list().size()));
      for (size_t i = 0; i < items.size(); ++i) {
        items[i] = ToJson(evaluation, value.list().Get(static_cast<int64_t>(i)), depth + 1);
        if (items[i].is_error()) return items[i];
      }
      return Value::List(ListObject::Of(evaluation.arena(), items));
    }
    case Kind::kMap: {
      const std::span<MapEntry> entries =
          evaluation.arena().NewArray<MapEntry>(static_cast<size_t>(value.map().size()));
      for (size_t i = 0; i < entries.size(); ++i) {
        const int64_t index = static_cast<int64_t>(i);
        entries[i] = {Convert(evaluation, value.map().KeyAt(index), Kind::kString),
                      ToJson(evaluation, value.map().ValueAt(index, evaluation.arena()), depth + 1)};
        if (entries[i].key.is_error()) return entries[i].key;
        if (entries[i].value.is_error()) return entries[i].value;
      }
      return Value::Map(LiteralMap::Of(evaluation.arena(), entries));
    }
    default:
      return MakeError(evaluation.arena(),
                       fmt::format("type conversion error from '{}' to 'google.protobuf.Value'", TypeName(value)));
  }
}

// Why a value does not fit into a field of Go type `native`.
std::string NativeMessage(const Value& value, std::string_view native) {
  switch (value.kind()) {
    case Kind::kString:
      return fmt::format("unsupported native conversion from string to '{}'", native);
    case Kind::kInt:
      return fmt::format("unsupported type conversion from 'int' to {}", native);
    case Kind::kUint:
      return fmt::format("unsupported type conversion from 'uint' to {}", native);
    case Kind::kBool:
      return fmt::format("type conversion error from bool to '{}'", native);
    case Kind::kDouble:
      return fmt::format("type conversion error from Double to '{}'", native);
    case Kind::kBytes:
      return fmt::format("type conversion error from Bytes to '{}'", native);
    case Kind::kList:
      return fmt::format("type conversion error from list to '{}'", native);
    case Kind::kMap:
      return fmt::format("type conversion error from map to '{}'", native);
    default:
      return fmt::format("type conversion error from '{}' to '{}'", TypeName(value), native);
  }
}

Value FieldError(Evaluation& evaluation, std::string_view message, std::string_view field, std::string_view why) {
  return MakeError(evaluation.arena(),
                   fmt::format("field type conversion error for {}.{} value type: {}", message, field, why));
}

const Value* FindField(std::span<const FieldValue> fields, std::string_view name) {
  for (size_t i = fields.size(); i-- > 0;) {
    if (fields[i].name == name) return &fields[i].value;
  }
  return nullptr;
}

struct Wrapper {
  std::string_view name;
  Kind kind;
  std::string_view native;
};
constexpr Wrapper kWrappers[] = {
    {"google.protobuf.BoolValue", Kind::kBool, "bool"},        {"google.protobuf.BytesValue", Kind::kBytes, "[]uint8"},
    {"google.protobuf.DoubleValue", Kind::kDouble, "float64"}, {"google.protobuf.FloatValue", Kind::kDouble, "float32"},
    {"google.protobuf.Int32Value", Kind::kInt, "int32"},       {"google.protobuf.Int64Value", Kind::kInt, "int64"},
    {"google.protobuf.StringValue", Kind::kString, "string"},  {"google.protobuf.UInt32Value", Kind::kUint, "uint32"},
    {"google.protobuf.UInt64Value", Kind::kUint, "uint64"},
};

Value DefaultOf(Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return Value::Bool(false);
    case Kind::kBytes:
      return Value::Bytes("");
    case Kind::kDouble:
      return Value::Double(0);
    case Kind::kInt:
      return Value::Int(0);
    case Kind::kUint:
      return Value::Uint(0);
    default:
      return Value::String("");
  }
}

Value MakeWrapper(Evaluation& evaluation, const Wrapper& wrapper, const Value* value) {
  if (value == nullptr) return DefaultOf(wrapper.kind);
  if (value->kind() != wrapper.kind) {
    return FieldError(evaluation, wrapper.name, "value", NativeMessage(*value, wrapper.native));
  }
  if (wrapper.native == "float32") return Value::Double(static_cast<double>(static_cast<float>(value->as_double())));
  if (wrapper.native == "int32" && value->as_int() != static_cast<int32_t>(value->as_int())) {
    return FieldError(evaluation, wrapper.name, "value", "integer overflow");
  }
  if (wrapper.native == "uint32" && value->as_uint() != static_cast<uint32_t>(value->as_uint())) {
    return FieldError(evaluation, wrapper.name, "value", "unsigned integer overflow");
  }
  return *value;
}

// An integer field; false with an error if the value does not fit.
bool ReadInteger(Evaluation& evaluation, std::string_view message, std::string_view field, std::string_view native,
                 std::span<const FieldValue> fields, int64_t* number, Value* error) {
  const Value* value = FindField(fields, field);
  *number = 0;
  if (value == nullptr) return true;
  if (value->kind() != Kind::kInt) {
    *error = FieldError(evaluation, message, field, NativeMessage(*value, native));
    return false;
  }
  *number = value->as_int();
  if (native == "int32" && *number != static_cast<int32_t>(*number)) {
    *error = FieldError(evaluation, message, field, "integer overflow");
    return false;
  }
  return true;
}

Value MakeTime(Evaluation& evaluation, std::string_view message, std::span<const FieldValue> fields) {
  int64_t seconds = 0, nanos = 0;
  Value error;
  if (!ReadInteger(evaluation, message, "seconds", "int64", fields, &seconds, &error)) return error;
  if (!ReadInteger(evaluation, message, "nanos", "int32", fields, &nanos, &error)) return error;
  if (message == "google.protobuf.Timestamp") {
    int64_t rest = nanos % 1000000000;
    if (rest < 0) rest += 1000000000;
    const int64_t carried = (nanos - rest) / 1000000000;
    if (seconds < kMinUnixTime || seconds > kMaxUnixTime) return Value::Error("timestamp overflow");
    return MakeTimestamp(evaluation, {seconds + carried, static_cast<int32_t>(rest), 0});
  }
  int64_t total = 0;
  if (__builtin_mul_overflow(seconds, int64_t{1000000000}, &total) || __builtin_add_overflow(total, nanos, &total)) {
    total = seconds < 0 ? INT64_MIN : INT64_MAX;
  }
  return Value::Duration(total);
}

}  // namespace

std::string_view MessageNameOf(const Type& type) {
  if (type.nullable) {
    switch (type.kind) {
      case TypeKind::kBool:
        return "google.protobuf.BoolValue";
      case TypeKind::kBytes:
        return "google.protobuf.BytesValue";
      case TypeKind::kDouble:
        return "google.protobuf.DoubleValue";
      case TypeKind::kInt:
        return "google.protobuf.Int64Value";
      case TypeKind::kString:
        return "google.protobuf.StringValue";
      default:
        return "google.protobuf.UInt64Value";
    }
  }
  switch (type.kind) {
    case TypeKind::kAny:
      return "google.protobuf.Any";
    case TypeKind::kDuration:
      return "google.protobuf.Duration";
    case TypeKind::kTimestamp:
      return "google.protobuf.Timestamp";
    case TypeKind::kDyn:
      return "google.protobuf.Value";
    case TypeKind::kList:
      return &type == &kListValue ? "google.protobuf.ListValue" : "";
    case TypeKind::kMap:
      return &type == &kStruct ? "google.protobuf.Struct" : "";
    case TypeKind::kStruct:
      return type.name;
    default:
      return "";
  }
}

void AddMessages(Environment& environment) {
  using namespace types;
  const auto wrapper = [&](std::string_view name, const Type& type, const Type& value) {
    environment.DeclareMessage(name, &type);
    environment.DeclareField(name, "value", &value);
  };
  wrapper("google.protobuf.BoolValue", kBoolWrapper, kBool);
  wrapper("google.protobuf.BytesValue", kBytesWrapper, kBytes);
  wrapper("google.protobuf.DoubleValue", kDoubleWrapper, kDouble);
  wrapper("google.protobuf.FloatValue", kDoubleWrapper, kDouble);
  wrapper("google.protobuf.Int32Value", kIntWrapper, kInt);
  wrapper("google.protobuf.Int64Value", kIntWrapper, kInt);
  wrapper("google.protobuf.StringValue", kStringWrapper, kString);
  wrapper("google.protobuf.UInt32Value", kUintWrapper, kUint);
  wrapper("google.protobuf.UInt64Value", kUintWrapper, kUint);
  for (const char* name : {"google.protobuf.Duration", "google.protobuf.Timestamp"}) {
    environment.DeclareField(name, "seconds", &kInt);
    environment.DeclareField(name, "nanos", &kInt);
  }
  environment.DeclareMessage("google.protobuf.Struct", &kStruct);
  environment.DeclareField("google.protobuf.Struct", "fields", &kStruct);
  environment.DeclareMessage("google.protobuf.ListValue", &kListValue);
  environment.DeclareField("google.protobuf.ListValue", "values", &kListValue);
  environment.DeclareMessage("google.protobuf.Value", &kDyn);
  for (const auto& [field, type] :
       std::initializer_list<std::pair<const char*, const Type*>>{{"null_value", &kInt},
                                                                  {"number_value", &kDouble},
                                                                  {"string_value", &kString},
                                                                  {"bool_value", &kBool},
                                                                  {"struct_value", &kStruct},
                                                                  {"list_value", &kListValue}}) {
    environment.DeclareField("google.protobuf.Value", field, type);
  }
  environment.DeclareMessage("google.protobuf.Any", &kAny);
  environment.DeclareField("google.protobuf.Any", "type_url", &kString);
  environment.DeclareField("google.protobuf.Any", "value", &kBytes);
}

Value MakeMessage(Evaluation& evaluation, std::string_view name, std::span<const FieldValue> fields) {
  for (const Wrapper& wrapper : kWrappers) {
    if (wrapper.name == name) return MakeWrapper(evaluation, wrapper, FindField(fields, "value"));
  }
  if (name == "google.protobuf.Duration" || name == "google.protobuf.Timestamp") {
    return MakeTime(evaluation, name, fields);
  }
  if (name == "google.protobuf.Struct") {
    const Value* content = FindField(fields, "fields");
    return ToJson(evaluation, content == nullptr ? Value::Map(LiteralMap::Of(evaluation.arena(), {})) : *content, 0);
  }
  if (name == "google.protobuf.ListValue") {
    const Value* content = FindField(fields, "values");
    return ToJson(evaluation, content == nullptr ? MakeList(evaluation, {}) : *content, 0);
  }
  if (name == "google.protobuf.Value") {
    // A oneof: the last one set counts.
    if (fields.empty() || fields.back().name == "null_value") return Value::Null();
    return ToJson(evaluation, fields.back().value, 0);
  }
  if (name == "google.protobuf.Any") {
    std::string shown;
    for (const FieldValue& field : fields) {
      shown += fmt::format("{}{}:\"{}\"", shown.empty() ? "" : " ", field.name, field.value.text());
    }
    return MakeError(evaluation.arena(),
                     fmt::format("unsupported conversion to ref.Val: (*dynamicpb.Message){}", shown));
  }
  return MakeError(evaluation.arena(), fmt::format("unknown type '{}'", name));
}

}  // namespace berth::cel
