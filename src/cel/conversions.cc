// int(x), string(x) and the like.
#include <fmt/format.h>

#include <cmath>

#include "cel/go_text.h"
#include "cel/operations.h"
#include "cel/time.h"
#include "cel/type.h"

namespace berth::cel {
namespace {

const Type* TypeOfKind(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return &types::kNull;
    case Kind::kBool:
      return &types::kBool;
    case Kind::kInt:
      return &types::kInt;
    case Kind::kUint:
      return &types::kUint;
    case Kind::kDouble:
      return &types::kDouble;
    case Kind::kString:
      return &types::kString;
    case Kind::kBytes:
      return &types::kBytes;
    case Kind::kList:
      return &types::kList;
    case Kind::kMap:
      return &types::kMap;
    case Kind::kDuration:
      return &types::kDuration;
    case Kind::kTimestamp:
      return &types::kTimestamp;
    case Kind::kType:
      return &types::kType;
    case Kind::kOptional:
      return &types::kOptional;
    case Kind::kQuantity:
      return &types::kQuantity;
    case Kind::kSemver:
      return &types::kSemver;
    case Kind::kIp:
      return &types::kIp;
    case Kind::kCidr:
      return &types::kCidr;
    case Kind::kUrl:
      return &types::kUrl;
    case Kind::kFormat:
      return &types::kFormat;
    case Kind::kError:
      return &types::kError;
  }
  return &types::kError;
}

Value CannotConvert(Evaluation& evaluation, const Value& value, Kind to) {
  return MakeError(evaluation.arena(), fmt::format("type conversion error from '{}' to '{}'",
                                                   TypeString(*TypeOfKind(value.kind())), TypeString(*TypeOfKind(to))));
}

Value TextToTimestamp(Evaluation& evaluation, const Value& value) {
  TimestampObject time{};
  if (!ParseRfc3339(value.text(), &time)) return CannotConvert(evaluation, value, Kind::kTimestamp);
  if (time.seconds < kMinUnixTime || time.seconds > kMaxUnixTime) return Value::Error("timestamp overflow");
  return MakeTimestamp(evaluation, time);
}

Value ConvertText(Evaluation& evaluation, const Value& value, Kind to) {
  int64_t integer = 0;
  uint64_t natural = 0;
  double number = 0;
  bool boolean = false;
  switch (to) {
    case Kind::kInt:
      if (ParseGoInt(value.text(), &integer)) return Value::Int(integer);
      break;
    case Kind::kUint:
      if (ParseGoUint(value.text(), &natural)) return Value::Uint(natural);
      break;
    case Kind::kDouble:
      if (ParseGoDouble(value.text(), &number)) return Value::Double(number);
      break;
    case Kind::kBool:
      if (ParseGoBool(value.text(), &boolean)) return Value::Bool(boolean);
      break;
    case Kind::kBytes:
      return Value::Bytes(value.text());
    case Kind::kDuration:
      if (ParseDuration(value.text(), &integer)) return Value::Duration(integer);
      break;
    case Kind::kTimestamp:
      return TextToTimestamp(evaluation, value);
    default:
      break;
  }
  return CannotConvert(evaluation, value, to);
}

Value ConvertInt(Evaluation& evaluation, const Value& value, Kind to) {
  const int64_t integer = value.as_int();
  switch (to) {
    case Kind::kUint:
      return integer < 0 ? Value::Error("unsigned integer overflow") : Value::Uint(value.as_uint());
    case Kind::kDouble:
      return Value::Double(static_cast<double>(integer));
    case Kind::kString:
      return MakeString(evaluation, fmt::format("{}", integer));
    case Kind::kTimestamp:
      if (integer < kMinUnixTime || integer > kMaxUnixTime) return Value::Error("timestamp overflow");
      return MakeTimestamp(evaluation, {integer, 0, 0});
    default:
      return CannotConvert(evaluation, value, to);
  }
}

Value ConvertUint(Evaluation& evaluation, const Value& value, Kind to) {
  switch (to) {
    case Kind::kInt:
      return value.as_int() < 0 ? Value::Error("integer overflow") : Value::Int(value.as_int());
    case Kind::kDouble:
      return Value::Double(static_cast<double>(value.as_uint()));
    case Kind::kString:
      return MakeString(evaluation, fmt::format("{}", value.as_uint()));
    default:
      return CannotConvert(evaluation, value, to);
  }
}

Value ConvertDouble(Evaluation& evaluation, const Value& value, Kind to) {
  const double number = value.as_double();
  switch (to) {
    case Kind::kInt:
      if (!(number > -9223372036854775808.0 && number < 9223372036854775807.0)) return Value::Error("integer overflow");
      return Value::Int(static_cast<int64_t>(number));
    case Kind::kUint:
      if (!(number >= 0 && number < 18446744073709551616.0)) return Value::Error("unsigned integer overflow");
      return Value::Uint(static_cast<uint64_t>(number));
    case Kind::kString:
      return MakeString(evaluation, FormatDoubleG(number));
    default:
      return CannotConvert(evaluation, value, to);
  }
}

Value ToText(Evaluation& evaluation, const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return Value::String("null");
    case Kind::kBool:
      return Value::String(value.as_bool() ? "true" : "false");
    case Kind::kBytes:
      if (!IsValidUtf8(value.text())) return Value::Error("invalid UTF-8 in bytes, cannot convert to string");
      return Value::String(value.text());
    case Kind::kDuration:
      return MakeString(evaluation, FormatDurationSeconds(value.as_duration()));
    case Kind::kTimestamp:
      return MakeString(evaluation, FormatRfc3339(value.timestamp()));
    case Kind::kType:
      return Value::String(value.type()->name);
    case Kind::kIp:
      return MakeString(evaluation, value.ip().ToString());
    case Kind::kCidr:
      return MakeString(evaluation, value.cidr().ToString());
    default:
      return CannotConvert(evaluation, value, Kind::kString);
  }
}

}  // namespace

Value Convert(Evaluation& evaluation, const Value& value, Kind to) {
  if (value.is_error()) return value;
  if (to == Kind::kType) return Value::TypeOf(TypeOfKind(value.kind()));
  if (value.kind() == to) return value;
  switch (value.kind()) {
    case Kind::kString:
      return ConvertText(evaluation, value, to);
    case Kind::kInt:
      return ConvertInt(evaluation, value, to);
    case Kind::kUint:
      return ConvertUint(evaluation, value, to);
    case Kind::kDouble:
      return ConvertDouble(evaluation, value, to);
    default:
      break;
  }
  if (to == Kind::kString) return ToText(evaluation, value);
  if (to == Kind::kInt && value.kind() == Kind::kDuration) return Value::Int(value.as_duration());
  if (to == Kind::kInt && value.kind() == Kind::kTimestamp) return Value::Int(value.timestamp().seconds);
  return CannotConvert(evaluation, value, to);
}

}  // namespace berth::cel
