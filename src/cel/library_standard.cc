// Operators, conversions, size, string predicates.
#include <fmt/format.h>

#include "cel/ast.h"
#include "cel/environment.h"
#include "cel/operations.h"
#include "cel/regex.h"

namespace berth::cel {
namespace {

using Arguments = std::span<const Value>;

Value NotFunction(Evaluation&, Arguments arguments) {
  return arguments[0].kind() == Kind::kBool ? Value::Bool(!arguments[0].as_bool()) : NoSuchOverload();
}
Value NotStrictlyFalse(Evaluation&, Arguments arguments) {
  return arguments[0].kind() == Kind::kBool ? arguments[0] : Value::Bool(true);
}
Value AddFunction(Evaluation& evaluation, Arguments arguments) { return Add(evaluation, arguments[0], arguments[1]); }
Value SubtractFunction(Evaluation& evaluation, Arguments arguments) {
  return Subtract(evaluation, arguments[0], arguments[1]);
}
Value MultiplyFunction(Evaluation& evaluation, Arguments arguments) {
  return Multiply(evaluation, arguments[0], arguments[1]);
}
Value DivideFunction(Evaluation& evaluation, Arguments arguments) {
  return Divide(evaluation, arguments[0], arguments[1]);
}
Value ModuloFunction(Evaluation& evaluation, Arguments arguments) {
  return Modulo(evaluation, arguments[0], arguments[1]);
}
Value NegateFunction(Evaluation& evaluation, Arguments arguments) { return Negate(evaluation, arguments[0]); }

template <bool (*kHolds)(int64_t)>
Value Relation(Evaluation& evaluation, Arguments arguments) {
  const Value order = Compare(evaluation, arguments[0], arguments[1]);
  return order.is_error() ? order : Value::Bool(kHolds(order.as_int()));
}
bool IsLess(int64_t order) { return order < 0; }
bool IsLessOrEqual(int64_t order) { return order <= 0; }
bool IsGreater(int64_t order) { return order > 0; }
bool IsGreaterOrEqual(int64_t order) { return order >= 0; }

Value InFunction(Evaluation& evaluation, Arguments arguments) {
  return Contains(evaluation, arguments[1], arguments[0]);
}

Value SizeFunction(Evaluation&, Arguments arguments) {
  const Value& value = arguments[0];
  switch (value.kind()) {
    case Kind::kString:
      return Value::Int(CountRunes(value.text()));
    case Kind::kBytes:
      return Value::Int(static_cast<int64_t>(value.text().size()));
    case Kind::kList:
      return Value::Int(value.list().size());
    default:
      return Value::Int(value.map().size());
  }
}

Value Identity(Evaluation&, Arguments arguments) { return arguments[0]; }

template <Kind kTo>
Value ConvertTo(Evaluation& evaluation, Arguments arguments) {
  return Convert(evaluation, arguments[0], kTo);
}

bool AreStrings(Arguments arguments) {
  return arguments[0].kind() == Kind::kString && arguments[1].kind() == Kind::kString;
}
Value ContainsFunction(Evaluation& evaluation, Arguments arguments) {
  if (!AreStrings(arguments)) return NoSuchOverload();
  evaluation.Work(arguments[0].text().size());
  return Value::Bool(arguments[0].text().find(arguments[1].text()) != std::string_view::npos);
}
Value EndsWith(Evaluation&, Arguments arguments) {
  return AreStrings(arguments) ? Value::Bool(arguments[0].text().ends_with(arguments[1].text())) : NoSuchOverload();
}
Value StartsWith(Evaluation&, Arguments arguments) {
  return AreStrings(arguments) ? Value::Bool(arguments[0].text().starts_with(arguments[1].text())) : NoSuchOverload();
}
Value MatchesFunction(Evaluation& evaluation, Arguments arguments) {
  if (arguments[1].kind() != Kind::kString) return NoSuchOverload();
  Result<std::shared_ptr<const Regex>> regex = Regex::Compile(arguments[1].text());
  if (!regex) return MakeError(evaluation.arena(), regex.error().message);
  return Value::Bool((*regex)->Matches(arguments[0].text()));
}

void AddRelation(Environment& environment, std::string_view function, std::string_view id,
                 Implementation implementation) {
  using namespace types;
  struct Pair {
    const char* suffix;
    const Type* first;
    const Type* second;
  };
  const Pair pairs[] = {
      {"bool", &kBool, &kBool},
      {"int64", &kInt, &kInt},
      {"int64_double", &kInt, &kDouble},
      {"int64_uint64", &kInt, &kUint},
      {"uint64", &kUint, &kUint},
      {"uint64_double", &kUint, &kDouble},
      {"uint64_int64", &kUint, &kInt},
      {"double", &kDouble, &kDouble},
      {"double_int64", &kDouble, &kInt},
      {"double_uint64", &kDouble, &kUint},
      {"string", &kString, &kString},
      {"bytes", &kBytes, &kBytes},
      {"timestamp", &kTimestamp, &kTimestamp},
      {"duration", &kDuration, &kDuration},
  };
  for (const Pair& pair : pairs) {
    environment.Global(function, fmt::format("{}_{}", id, pair.suffix), {pair.first, pair.second}, &kBool);
  }
  environment.Singleton(function, CallStyle::kBinary, traits::kComparer, implementation);
}

void AddLogic(Environment& environment) {
  using namespace types;
  environment.Global(operators::kConditional, "conditional", {&kBool, &kA, &kA}, &kA);
  environment.Global(operators::kAnd, "logical_and", {&kBool, &kBool}, &kBool);
  environment.Global(operators::kOr, "logical_or", {&kBool, &kBool}, &kBool);
  environment.Global(operators::kNot, "logical_not", {&kBool}, &kBool);
  environment.Singleton(operators::kNot, CallStyle::kUnary, traits::kNone, NotFunction);
  environment.Global(operators::kNotStrictlyFalse, "not_strictly_false", {&kBool}, &kBool, NotStrictlyFalse);
  environment.Add(operators::kNotStrictlyFalse).overloads[0].non_strict = true;
  environment.Global(operators::kEquals, "equals", {&kA, &kA}, &kBool);
  environment.Global(operators::kNotEquals, "not_equals", {&kA, &kA}, &kBool);
  AddRelation(environment, operators::kLess, "less", Relation<IsLess>);
  AddRelation(environment, operators::kLessEquals, "less_equals", Relation<IsLessOrEqual>);
  AddRelation(environment, operators::kGreater, "greater", Relation<IsGreater>);
  AddRelation(environment, operators::kGreaterEquals, "greater_equals", Relation<IsGreaterOrEqual>);
}

void AddArithmetic(Environment& environment) {
  using namespace types;
  const Type* list = environment.pool().List(&kA);
  environment.Global("_+_", "add_bytes", {&kBytes, &kBytes}, &kBytes)
      .Global("_+_", "add_double", {&kDouble, &kDouble}, &kDouble)
      .Global("_+_", "add_duration_duration", {&kDuration, &kDuration}, &kDuration)
      .Global("_+_", "add_duration_timestamp", {&kDuration, &kTimestamp}, &kTimestamp)
      .Global("_+_", "add_timestamp_duration", {&kTimestamp, &kDuration}, &kTimestamp)
      .Global("_+_", "add_int64", {&kInt, &kInt}, &kInt)
      .Global("_+_", "add_list", {list, list}, list)
      .Global("_+_", "add_string", {&kString, &kString}, &kString)
      .Global("_+_", "add_uint64", {&kUint, &kUint}, &kUint);
  environment.Singleton("_+_", CallStyle::kBinary, traits::kAdder, AddFunction);
  environment.Global("_-_", "subtract_double", {&kDouble, &kDouble}, &kDouble)
      .Global("_-_", "subtract_duration_duration", {&kDuration, &kDuration}, &kDuration)
      .Global("_-_", "subtract_int64", {&kInt, &kInt}, &kInt)
      .Global("_-_", "subtract_timestamp_duration", {&kTimestamp, &kDuration}, &kTimestamp)
      .Global("_-_", "subtract_timestamp_timestamp", {&kTimestamp, &kTimestamp}, &kDuration)
      .Global("_-_", "subtract_uint64", {&kUint, &kUint}, &kUint);
  environment.Singleton("_-_", CallStyle::kBinary, traits::kSubtractor, SubtractFunction);
  environment.Global("_*_", "multiply_double", {&kDouble, &kDouble}, &kDouble)
      .Global("_*_", "multiply_int64", {&kInt, &kInt}, &kInt)
      .Global("_*_", "multiply_uint64", {&kUint, &kUint}, &kUint);
  environment.Singleton("_*_", CallStyle::kBinary, traits::kMultiplier, MultiplyFunction);
  environment.Global("_/_", "divide_double", {&kDouble, &kDouble}, &kDouble)
      .Global("_/_", "divide_int64", {&kInt, &kInt}, &kInt)
      .Global("_/_", "divide_uint64", {&kUint, &kUint}, &kUint);
  environment.Singleton("_/_", CallStyle::kBinary, traits::kDivider, DivideFunction);
  environment.Global("_%_", "modulo_int64", {&kInt, &kInt}, &kInt)
      .Global("_%_", "modulo_uint64", {&kUint, &kUint}, &kUint);
  environment.Singleton("_%_", CallStyle::kBinary, traits::kModder, ModuloFunction);
  environment.Global("-_", "negate_double", {&kDouble}, &kDouble).Global("-_", "negate_int64", {&kInt}, &kInt);
  environment.Singleton("-_", CallStyle::kUnary, traits::kNegator, NegateFunction);
}

void AddCollections(Environment& environment) {
  using namespace types;
  const Type* list = environment.pool().List(&kA);
  const Type* map = environment.pool().Map(&kA, &kB);
  environment.Global(operators::kIndex, "index_list", {list, &kInt}, &kA)
      .Global(operators::kIndex, "index_map", {map, &kA}, &kB);
  environment.Global(operators::kIn, "in_list", {&kA, list}, &kBool)
      .Global(operators::kIn, "in_map", {&kA, map}, &kBool);
  environment.Singleton(operators::kIn, CallStyle::kBinary, traits::kNone, InFunction);
  environment.Global("size", "size_bytes", {&kBytes}, &kInt)
      .Member("size", "bytes_size", {&kBytes}, &kInt)
      .Global("size", "size_list", {list}, &kInt)
      .Member("size", "list_size", {list}, &kInt)
      .Global("size", "size_map", {map}, &kInt)
      .Member("size", "map_size", {map}, &kInt)
      .Global("size", "size_string", {&kString}, &kInt)
      .Member("size", "string_size", {&kString}, &kInt);
  environment.Singleton("size", CallStyle::kUnary, traits::kSizer, SizeFunction);
}

void AddConversions(Environment& environment) {
  using namespace types;
  environment.Global("type", "type", {&kA}, environment.pool().TypeOf(&kA));
  environment.Singleton("type", CallStyle::kUnary, traits::kNone, ConvertTo<Kind::kType>);
  environment.Global("bool", "bool_to_bool", {&kBool}, &kBool, Identity)
      .Global("bool", "string_to_bool", {&kString}, &kBool, ConvertTo<Kind::kBool>);
  environment.Global("bytes", "bytes_to_bytes", {&kBytes}, &kBytes, Identity)
      .Global("bytes", "string_to_bytes", {&kString}, &kBytes, ConvertTo<Kind::kBytes>);
  environment.Global("double", "double_to_double", {&kDouble}, &kDouble, Identity)
      .Global("double", "int64_to_double", {&kInt}, &kDouble, ConvertTo<Kind::kDouble>)
      .Global("double", "string_to_double", {&kString}, &kDouble, ConvertTo<Kind::kDouble>)
      .Global("double", "uint64_to_double", {&kUint}, &kDouble, ConvertTo<Kind::kDouble>);
  environment.Global("duration", "duration_to_duration", {&kDuration}, &kDuration, Identity)
      .Global("duration", "int64_to_duration", {&kInt}, &kDuration, ConvertTo<Kind::kDuration>)
      .Global("duration", "string_to_duration", {&kString}, &kDuration, ConvertTo<Kind::kDuration>);
  environment.Global("dyn", "to_dyn", {&kA}, &kDyn);
  environment.Singleton("dyn", CallStyle::kUnary, traits::kNone, Identity);
  environment.Global("int", "int64_to_int64", {&kInt}, &kInt, Identity)
      .Global("int", "double_to_int64", {&kDouble}, &kInt, ConvertTo<Kind::kInt>)
      .Global("int", "duration_to_int64", {&kDuration}, &kInt, ConvertTo<Kind::kInt>)
      .Global("int", "string_to_int64", {&kString}, &kInt, ConvertTo<Kind::kInt>)
      .Global("int", "timestamp_to_int64", {&kTimestamp}, &kInt, ConvertTo<Kind::kInt>)
      .Global("int", "uint64_to_int64", {&kUint}, &kInt, ConvertTo<Kind::kInt>);
  environment.Global("string", "string_to_string", {&kString}, &kString, Identity)
      .Global("string", "bool_to_string", {&kBool}, &kString, ConvertTo<Kind::kString>)
      .Global("string", "bytes_to_string", {&kBytes}, &kString, ConvertTo<Kind::kString>)
      .Global("string", "double_to_string", {&kDouble}, &kString, ConvertTo<Kind::kString>)
      .Global("string", "duration_to_string", {&kDuration}, &kString, ConvertTo<Kind::kString>)
      .Global("string", "int64_to_string", {&kInt}, &kString, ConvertTo<Kind::kString>)
      .Global("string", "timestamp_to_string", {&kTimestamp}, &kString, ConvertTo<Kind::kString>)
      .Global("string", "uint64_to_string", {&kUint}, &kString, ConvertTo<Kind::kString>);
  environment.Global("timestamp", "timestamp_to_timestamp", {&kTimestamp}, &kTimestamp, Identity)
      .Global("timestamp", "int64_to_timestamp", {&kInt}, &kTimestamp, ConvertTo<Kind::kTimestamp>)
      .Global("timestamp", "string_to_timestamp", {&kString}, &kTimestamp, ConvertTo<Kind::kTimestamp>);
  environment.Global("uint", "uint64_to_uint64", {&kUint}, &kUint, Identity)
      .Global("uint", "double_to_uint64", {&kDouble}, &kUint, ConvertTo<Kind::kUint>)
      .Global("uint", "int64_to_uint64", {&kInt}, &kUint, ConvertTo<Kind::kUint>)
      .Global("uint", "string_to_uint64", {&kString}, &kUint, ConvertTo<Kind::kUint>);
}

}  // namespace

void AddStandardLibrary(Environment& environment) {
  using namespace types;
  AddLogic(environment);
  AddArithmetic(environment);
  AddCollections(environment);
  AddConversions(environment);
  environment.Member("contains", "contains_string", {&kString, &kString}, &kBool, ContainsFunction);
  environment.Add("contains").unguarded = true;
  environment.Member("endsWith", "ends_with_string", {&kString, &kString}, &kBool, EndsWith);
  environment.Add("endsWith").unguarded = true;
  environment.Member("startsWith", "starts_with_string", {&kString, &kString}, &kBool, StartsWith);
  environment.Add("startsWith").unguarded = true;
  environment.Global("matches", "matches", {&kString, &kString}, &kBool)
      .Member("matches", "matches_string", {&kString, &kString}, &kBool);
  environment.Singleton("matches", CallStyle::kBinary, traits::kMatcher, MatchesFunction);

  TypePool& pool = environment.pool();
  for (const Type* type : {&kBool, &kBytes, &kDouble, &kDuration, &kInt, &kNull, &kString, &kTimestamp, &kUint}) {
    environment.DeclareType(type, type);
  }
  environment.DeclareType(pool.List(&kA), &types::kList);
  environment.DeclareType(pool.Map(&kA, &kB), &types::kMap);
  environment.DeclareType(&types::kType, &types::kType);
}

}  // namespace berth::cel
