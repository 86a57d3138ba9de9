#include "cel/operations.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "cel/go_text.h"
#include "cel/mutable_values.h"
#include "cel/named_format.h"
#include "cel/order.h"
#include "cel/time.h"
#include "cel/type.h"

namespace berth::cel {
namespace {

int CompareDoubleInt(double a, int64_t b) {
  if (a < -9223372036854775808.0) return -1;
  if (a > 9223372036854775807.0) return 1;
  return Order(a, static_cast<double>(b));
}

int CompareDoubleUint(double a, uint64_t b) {
  if (a < 0) return -1;
  if (a > 18446744073709551615.0) return 1;
  return Order(a, static_cast<double>(b));
}

int CompareIntUint(int64_t a, uint64_t b) {
  if (a < 0 || b > static_cast<uint64_t>(INT64_MAX)) return -1;
  return a < static_cast<int64_t>(b) ? -1 : a > static_cast<int64_t>(b) ? 1 : 0;
}

bool IsNumber(const Value& value) {
  return value.kind() == Kind::kInt || value.kind() == Kind::kUint || value.kind() == Kind::kDouble;
}
bool IsNan(const Value& value) { return value.kind() == Kind::kDouble && std::isnan(value.as_double()); }

int CompareNumbers(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Kind::kInt:
      if (b.kind() == Kind::kInt) return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int() ? 1 : 0;
      if (b.kind() == Kind::kUint) return CompareIntUint(a.as_int(), b.as_uint());
      return -CompareDoubleInt(b.as_double(), a.as_int());
    case Kind::kUint:
      if (b.kind() == Kind::kUint) return a.as_uint() < b.as_uint() ? -1 : a.as_uint() > b.as_uint() ? 1 : 0;
      if (b.kind() == Kind::kInt) return -CompareIntUint(b.as_int(), a.as_uint());
      return -CompareDoubleUint(b.as_double(), a.as_uint());
    default:
      if (b.kind() == Kind::kDouble) return Order(a.as_double(), b.as_double());
      if (b.kind() == Kind::kInt) return CompareDoubleInt(a.as_double(), b.as_int());
      return CompareDoubleUint(a.as_double(), b.as_uint());
  }
}

// Elements that cannot be compared count as equal in a plain list, but are an error in a concatenation, as upstream.
Value EqualLists(Evaluation& evaluation, const ListObject& a, const ListObject& b) {
  if (a.size() != b.size()) return Value::Bool(false);
  Value error;
  for (int64_t i = 0; i < a.size(); ++i) {
    evaluation.Work(1);
    const Value equal = Equal(evaluation, a.Get(i), b.Get(i));
    if (equal.is_false()) return equal;
    if (equal.is_error() && error.is_null()) error = equal;
  }
  return a.is_concatenation() && error.is_error() ? error : Value::Bool(true);
}

Value EqualMaps(Evaluation& evaluation, const MapObject& a, const MapObject& b) {
  if (a.size() != b.size()) return Value::Bool(false);
  for (int64_t i = 0; i < a.size(); ++i) {
    evaluation.Work(1);
    Value other;
    if (!b.Find(a.KeyAt(i), evaluation.arena(), &other)) return Value::Bool(false);
    if (Equal(evaluation, a.ValueAt(i, evaluation.arena()), other).is_false()) return Value::Bool(false);
  }
  return Value::Bool(true);
}

Value EqualOptionals(Evaluation& evaluation, const Value& a, const Value& b) {
  if (b.kind() != Kind::kOptional) return Value::Bool(false);
  if (a.optional() == nullptr || b.optional() == nullptr) return Value::Bool(a.optional() == b.optional());
  return Equal(evaluation, *a.optional(), *b.optional());
}

}  // namespace

Value Equal(Evaluation& evaluation, const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) return Value::Bool(a.is_null() && b.is_null());
  const bool same_kind = a.kind() == b.kind();
  switch (a.kind()) {
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      if (!IsNumber(b) || IsNan(a) || IsNan(b)) return Value::Bool(false);
      return Value::Bool(CompareNumbers(a, b) == 0);
    case Kind::kBool:
    case Kind::kDuration:
      return Value::Bool(same_kind && a.as_int() == b.as_int());
    case Kind::kString:
    case Kind::kBytes:
      return Value::Bool(same_kind && a.text() == b.text());
    case Kind::kList:
      return same_kind ? EqualLists(evaluation, a.list(), b.list()) : Value::Bool(false);
    case Kind::kMap:
      return same_kind ? EqualMaps(evaluation, a.map(), b.map()) : Value::Bool(false);
    case Kind::kTimestamp:
      return Value::Bool(same_kind && a.timestamp().seconds == b.timestamp().seconds &&
                         a.timestamp().nanos == b.timestamp().nanos);
    case Kind::kType:
      return Value::Bool(same_kind && a.type()->name == b.type()->name);
    case Kind::kOptional:
      return EqualOptionals(evaluation, a, b);
    case Kind::kQuantity:
      if (!same_kind || b.quantity().computed) return NoSuchOverload();
      return Value::Bool(a.quantity().quantity.Compare(b.quantity().quantity) == 0);
    case Kind::kSemver:
      return same_kind ? Value::Bool(a.semver().Compare(b.semver()) == 0) : NoSuchOverload();
    case Kind::kIp:
      return same_kind ? Value::Bool(a.ip() == b.ip()) : NoSuchOverload();
    case Kind::kCidr:
      return same_kind ? Value::Bool(a.cidr() == b.cidr()) : NoSuchOverload();
    case Kind::kUrl:
      return same_kind ? Value::Bool(a.url().ToString() == b.url().ToString()) : NoSuchOverload();
    case Kind::kFormat:
      return same_kind ? Value::Bool(a.format().name == b.format().name) : NoSuchOverload();
    default:
      return a;  // an error
  }
}

Value Compare(Evaluation&, const Value& a, const Value& b) {
  const bool same_kind = a.kind() == b.kind();
  switch (a.kind()) {
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      if (IsNan(a)) return Value::Error("NaN values cannot be ordered");
      if (!IsNumber(b)) return NoSuchOverload();
      if (IsNan(b)) return Value::Error("NaN values cannot be ordered");
      return Value::Int(CompareNumbers(a, b));
    case Kind::kBool:
    case Kind::kDuration:
      if (!same_kind) return NoSuchOverload();
      return Value::Int(a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int() ? 1 : 0);
    case Kind::kString:
    case Kind::kBytes: {
      if (!same_kind) return NoSuchOverload();
      const int order = a.text().compare(b.text());
      return Value::Int(order < 0 ? -1 : order > 0 ? 1 : 0);
    }
    case Kind::kTimestamp: {
      if (!same_kind) return NoSuchOverload();
      const TimestampObject& x = a.timestamp();
      const TimestampObject& y = b.timestamp();
      if (x.seconds != y.seconds) return Value::Int(x.seconds < y.seconds ? -1 : 1);
      return Value::Int(x.nanos < y.nanos ? -1 : x.nanos > y.nanos ? 1 : 0);
    }
    default:
      return NoSuchOverload();
  }
}

namespace {

constexpr char kIntOverflow[] = "integer overflow";
constexpr char kUintOverflow[] = "unsigned integer overflow";
constexpr int64_t kSecond = 1000000000;

Value AddToTime(Evaluation& evaluation, const TimestampObject& time, int64_t nanos) {
  int64_t seconds = 0;
  if (__builtin_add_overflow(time.seconds, nanos / kSecond, &seconds)) return Value::Error(kIntOverflow);
  int64_t rest = time.nanos + nanos % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  } else if (rest >= kSecond) {
    rest -= kSecond;
    ++seconds;
  }
  if (seconds < kMinUnixTime || seconds > kMaxUnixTime) return Value::Error("timestamp overflow");
  return MakeTimestamp(evaluation, {seconds, static_cast<int32_t>(rest), time.offset_seconds});
}

Value SubtractTimes(const TimestampObject& a, const TimestampObject& b) {
  int64_t nanos = 0;
  if (__builtin_mul_overflow(a.seconds - b.seconds, kSecond, &nanos) ||
      __builtin_add_overflow(nanos, int64_t{a.nanos} - b.nanos, &nanos)) {
    return Value::Error(kIntOverflow);
  }
  return Value::Duration(nanos);
}

Value Concatenate(Evaluation& evaluation, const Value& a, const Value& b) {
  const std::string_view first = a.text(), second = b.text();
  evaluation.Work(first.size() / 64 + second.size() / 64);
  const std::span<char> joined = evaluation.arena().NewArray<char>(first.size() + second.size());
  std::copy(first.begin(), first.end(), joined.begin());
  std::copy(second.begin(), second.end(), joined.begin() + static_cast<std::ptrdiff_t>(first.size()));
  const std::string_view text(joined.data(), joined.size());
  return a.kind() == Kind::kString ? Value::String(text) : Value::Bytes(text);
}

Value AddLists(Evaluation& evaluation, const ListObject& a, const ListObject& b) {
  if (a.is_mutable()) {
    evaluation.Work(static_cast<uint64_t>(b.size()));
    AppendTo(evaluation.arena(), static_cast<const MutableList&>(a), b);
    return Value::List(&a);
  }
  return Value::List(ListObject::Concat(evaluation.arena(), a, b));
}

}  // namespace

Value Add(Evaluation& evaluation, const Value& a, const Value& b) {
  if (a.kind() == Kind::kTimestamp && b.kind() == Kind::kDuration) {
    return AddToTime(evaluation, a.timestamp(), b.as_duration());
  }
  if (a.kind() == Kind::kDuration && b.kind() == Kind::kTimestamp) {
    return AddToTime(evaluation, b.timestamp(), a.as_duration());
  }
  if (a.kind() != b.kind()) return NoSuchOverload();
  int64_t sum = 0;
  uint64_t natural = 0;
  switch (a.kind()) {
    case Kind::kInt:
      return __builtin_add_overflow(a.as_int(), b.as_int(), &sum) ? Value::Error(kIntOverflow) : Value::Int(sum);
    case Kind::kUint:
      return __builtin_add_overflow(a.as_uint(), b.as_uint(), &natural) ? Value::Error(kUintOverflow)
                                                                        : Value::Uint(natural);
    case Kind::kDouble:
      return Value::Double(a.as_double() + b.as_double());
    case Kind::kDuration:
      return __builtin_add_overflow(a.as_int(), b.as_int(), &sum) ? Value::Error(kIntOverflow) : Value::Duration(sum);
    case Kind::kString:
    case Kind::kBytes:
      return Concatenate(evaluation, a, b);
    case Kind::kList:
      return AddLists(evaluation, a.list(), b.list());
    default:
      return NoSuchOverload();
  }
}

Value Subtract(Evaluation& evaluation, const Value& a, const Value& b) {
  int64_t difference = 0;
  if (a.kind() == Kind::kTimestamp && b.kind() == Kind::kDuration) {
    if (b.as_duration() == INT64_MIN) return Value::Error(kIntOverflow);
    return AddToTime(evaluation, a.timestamp(), -b.as_duration());
  }
  if (a.kind() != b.kind()) return NoSuchOverload();
  switch (a.kind()) {
    case Kind::kInt:
      return __builtin_sub_overflow(a.as_int(), b.as_int(), &difference) ? Value::Error(kIntOverflow)
                                                                         : Value::Int(difference);
    case Kind::kUint:
      return b.as_uint() > a.as_uint() ? Value::Error(kUintOverflow) : Value::Uint(a.as_uint() - b.as_uint());
    case Kind::kDouble:
      return Value::Double(a.as_double() - b.as_double());
    case Kind::kDuration:
      return __builtin_sub_overflow(a.as_int(), b.as_int(), &difference) ? Value::Error(kIntOverflow)
                                                                         : Value::Duration(difference);
    case Kind::kTimestamp:
      return SubtractTimes(a.timestamp(), b.timestamp());
    default:
      return NoSuchOverload();
  }
}

Value Multiply(Evaluation&, const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return NoSuchOverload();
  int64_t product = 0;
  uint64_t natural = 0;
  switch (a.kind()) {
    case Kind::kInt:
      return __builtin_mul_overflow(a.as_int(), b.as_int(), &product) ? Value::Error(kIntOverflow)
                                                                      : Value::Int(product);
    case Kind::kUint:
      return __builtin_mul_overflow(a.as_uint(), b.as_uint(), &natural) ? Value::Error(kUintOverflow)
                                                                        : Value::Uint(natural);
    case Kind::kDouble:
      return Value::Double(a.as_double() * b.as_double());
    default:
      return NoSuchOverload();
  }
}

Value Divide(Evaluation&, const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return NoSuchOverload();
  switch (a.kind()) {
    case Kind::kInt:
      if (b.as_int() == 0) return Value::Error("division by zero");
      if (a.as_int() == INT64_MIN && b.as_int() == -1) return Value::Error(kIntOverflow);
      return Value::Int(a.as_int() / b.as_int());
    case Kind::kUint:
      return b.as_uint() == 0 ? Value::Error("division by zero") : Value::Uint(a.as_uint() / b.as_uint());
    case Kind::kDouble:
      return Value::Double(a.as_double() / b.as_double());
    default:
      return NoSuchOverload();
  }
}

Value Modulo(Evaluation&, const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return NoSuchOverload();
  switch (a.kind()) {
    case Kind::kInt:
      if (b.as_int() == 0) return Value::Error("modulus by zero");
      if (a.as_int() == INT64_MIN && b.as_int() == -1) return Value::Error(kIntOverflow);
      return Value::Int(a.as_int() % b.as_int());
    case Kind::kUint:
      return b.as_uint() == 0 ? Value::Error("modulus by zero") : Value::Uint(a.as_uint() % b.as_uint());
    default:
      return NoSuchOverload();
  }
}

Value Negate(Evaluation&, const Value& a) {
  switch (a.kind()) {
    case Kind::kInt:
      return a.as_int() == INT64_MIN ? Value::Error(kIntOverflow) : Value::Int(-a.as_int());
    case Kind::kDouble:
      return Value::Double(-a.as_double());
    case Kind::kDuration:
      return a.as_int() == INT64_MIN ? Value::Error(kIntOverflow) : Value::Duration(-a.as_int());
    default:
      return NoSuchOverload();
  }
}

bool ListContains(Evaluation& evaluation, const ListObject& list, const Value& element) {
  evaluation.Work(static_cast<uint64_t>(list.size()));
  for (int64_t i = 0; i < list.size(); ++i) {
    if (IsEqual(evaluation, element, list.Get(i))) return true;
  }
  return false;
}

Value Contains(Evaluation& evaluation, const Value& container, const Value& element) {
  if (container.kind() == Kind::kList) return Value::Bool(ListContains(evaluation, container.list(), element));
  if (container.kind() != Kind::kMap) return NoSuchOverload();
  RequireHashable(evaluation, container.map(), element);
  return Value::Bool(container.map().Contains(element, evaluation.arena()));
}

bool IsZeroValue(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDuration:
      return value.as_int() == 0;
    case Kind::kDouble:
      return value.as_double() == 0;
    case Kind::kString:
    case Kind::kBytes:
      return value.text().empty();
    case Kind::kList:
      return value.list().size() == 0;
    case Kind::kMap:
      return value.map().size() == 0;
    case Kind::kTimestamp:
      return value.timestamp().seconds == kMinUnixTime && value.timestamp().nanos == 0;
    default:
      return false;
  }
}

Value MakeString(Evaluation& evaluation, std::string_view text) { return Value::String(evaluation.arena().Copy(text)); }

Value MakeTimestamp(Evaluation& evaluation, const TimestampObject& time) {
  return Value::Timestamp(evaluation.arena().New<TimestampObject>(time));
}

Value MakeOptional(Evaluation& evaluation, const Value& value) {
  return Value::OptionalOf(evaluation.arena().New<Value>(value));
}

Value MakeList(Evaluation& evaluation, std::span<const Value> items) {
  const std::span<Value> copy = evaluation.arena().NewArray<Value>(items.size());
  std::copy(items.begin(), items.end(), copy.begin());
  return Value::List(ListObject::Of(evaluation.arena(), copy));
}

Value MakeStringList(Evaluation& evaluation, std::span<const std::string> items) {
  const std::span<Value> copy = evaluation.arena().NewArray<Value>(items.size());
  for (size_t i = 0; i < items.size(); ++i) copy[i] = MakeString(evaluation, items[i]);
  return Value::List(ListObject::Of(evaluation.arena(), copy));
}

}  // namespace berth::cel
