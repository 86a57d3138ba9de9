// Variables, fields and elements.
#include <fmt/format.h>

#include "cel/mutable_values.h"
#include "cel/nodes.h"
#include "cel/operations.h"
#include "cel/type.h"

namespace berth::cel {
namespace {

Value Variable(Evaluation& evaluation, const VariableReference& reference) {
  if (reference.kind == VariableReference::Kind::kEnvironment) return evaluation.variable();
  Frame& frame = *evaluation.frame(reference.fold);
  switch (reference.kind) {
    case VariableReference::Kind::kAccumulator:
      return FoldNode::Accumulator(evaluation, frame);
    case VariableReference::Kind::kFirst:
      return frame.first;
    default:
      return frame.second;
  }
}

Value MissingKey(Evaluation& evaluation, const Value& key) {
  return MakeError(evaluation.arena(), fmt::format("no such key: {}", Display(key, evaluation.arena())));
}

Value UnsupportedConversion(Evaluation& evaluation, std::string_view go_type, const Value& value) {
  return MakeError(evaluation.arena(), fmt::format("unsupported conversion to ref.Val: ({}){}", go_type,
                                                   Display(value, evaluation.arena())));
}

// The content of an optional as upstream gets it after converting it to a Go value and back.
Value Unwrapped(Evaluation& evaluation, const Value& value) {
  switch (value.kind()) {
    case Kind::kOptional:
      return value.optional() == nullptr ? Value::Null() : Unwrapped(evaluation, *value.optional());
    case Kind::kType:
      return Value::String(value.type()->name);
    case Kind::kQuantity:
      return UnsupportedConversion(evaluation, "*resource.Quantity", value);
    case Kind::kSemver:
      return UnsupportedConversion(evaluation, "semver.Version", value);
    case Kind::kIp:
      return UnsupportedConversion(evaluation, "netip.Addr", value);
    case Kind::kCidr:
      return UnsupportedConversion(evaluation, "netip.Prefix", value);
    case Kind::kUrl:
      return UnsupportedConversion(evaluation, "*url.URL", value);
    case Kind::kMap:
      return Value::Map(value.map().Plain(evaluation.arena()));
    default:
      return value;
  }
}

// Reads an index into a list. False with an error if the key cannot be one.
bool ListIndex(Evaluation& evaluation, const Value& key, int64_t* index, Value* error) {
  switch (key.kind()) {
    case Kind::kInt:
      *index = key.as_int();
      return true;
    case Kind::kUint:
      if (key.as_int() >= 0) {
        *index = key.as_int();
        return true;
      }
      break;
    case Kind::kDouble: {
      const double number = key.as_double();
      if (number > -9223372036854775808.0 && number < 9223372036854775807.0 &&
          static_cast<double>(static_cast<int64_t>(number)) == number) {
        *index = static_cast<int64_t>(number);
        return true;
      }
      break;
    }
    default:
      *error = MakeError(evaluation.arena(), fmt::format("unsupported index type '{}' in list", TypeName(key)));
      return false;
  }
  *error = MakeError(evaluation.arena(),
                     fmt::format("unsupported index value {} in list", Display(key, evaluation.arena())));
  return false;
}

// One step. With `test`, reports in `present` whether there is something instead of failing.
Value Qualify(Evaluation& evaluation, const Value& object, const Value& key, bool test, bool* present) {
  *present = true;
  Value found;
  if (object.is_error()) return object;
  if (object.kind() == Kind::kMap) {
    RequireHashable(evaluation, object.map(), key);
    if (object.map().Find(key, evaluation.arena(), &found)) return found;
  } else if (object.kind() == Kind::kList) {
    int64_t index = 0;
    Value error;
    if (!ListIndex(evaluation, key, &index, &error)) return error;
    if (index >= 0 && index < object.list().size()) return object.list().Get(index);
    if (!test) {
      return MakeError(evaluation.arena(), fmt::format("index out of bounds: {}", Display(key, evaluation.arena())));
    }
  }
  *present = false;
  return test ? Value() : MissingKey(evaluation, key);
}

bool CanQualify(const Value& key) {
  switch (key.kind()) {
    case Kind::kString:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kBool:
    case Kind::kDouble:
      return true;
    default:
      return false;
  }
}

// Applies one qualifier, counts it, and reports whether it was present.
Value Apply(Evaluation& evaluation, const Qualifier& qualifier, const Value& object, bool optional, bool* present) {
  Value key = qualifier.key;
  Value result;
  *present = true;
  if (qualifier.attribute != nullptr) {
    key = qualifier.attribute->Resolve(evaluation);
    if (key.is_error()) {
      result = key;
    } else if (!CanQualify(key)) {
      result = MakeError(evaluation.arena(), fmt::format("invalid qualifier type: {}", GoTypeName(key)));
    }
  }
  const bool test = optional || qualifier.test_only;
  if (!result.is_error()) result = Qualify(evaluation, object, key, test, present);
  // A test on its own returns its answer; in an optional chain it returns what it found.
  if (qualifier.test_only && !optional && !result.is_error()) {
    result = Value::Bool(*present);
    *present = true;
  }
  // In an optional chain only what is present is counted; elsewhere failures are counted, too.
  if (optional && (result.is_error() || !*present)) return result;
  evaluation.AddCost(1);
  evaluation.Push(qualifier.id, result);
  return result;
}

Value ApplyAll(Evaluation& evaluation, const std::vector<Qualifier>& qualifiers, Value object) {
  bool optional = false;
  if (object.kind() == Kind::kOptional) {
    if (object.optional() == nullptr) return object;
    optional = true;
    object = Unwrapped(evaluation, *object.optional());
  }
  for (const Qualifier& qualifier : qualifiers) {
    optional = optional || qualifier.optional;
    bool present = true;
    object = Apply(evaluation, qualifier, object, optional, &present);
    if (object.is_error()) return object;
    if (!present) return Value::OptionalNone();
  }
  return optional ? MakeOptional(evaluation, object) : object;
}

}  // namespace

int Attribute::id() const {
  if (kind == Kind::kConditional) return if_true->id() == if_false->id() ? if_true->id() : own_id;
  return qualifiers.empty() ? own_id : qualifiers.back().id;
}

void Attribute::Add(const Qualifier& qualifier) {
  if (kind == Kind::kConditional) {
    if_true->Add(qualifier);
    if_false->Add(qualifier);
  } else {
    qualifiers.push_back(qualifier);
  }
}

Value Attribute::Resolve(Evaluation& evaluation) const {
  if (kind == Kind::kConditional) {
    const Value condition = operand->Eval(evaluation);
    if (condition.is_true()) return if_true->Resolve(evaluation);
    if (condition.is_false()) return if_false->Resolve(evaluation);
    return condition.is_error() ? condition : NoSuchOverload();
  }
  const Value object = kind == Kind::kOperand ? operand->Eval(evaluation) : Variable(evaluation, variable);
  if (object.is_error()) return object;
  return ApplyAll(evaluation, qualifiers, object);
}

Value AttributeNode::Eval(Evaluation& evaluation) const {
  Value result = attribute_->Resolve(evaluation);
  if (test_only_ && result.kind() == Kind::kOptional) result = Value::Bool(result.optional() != nullptr);
  if (attribute_->kind == Attribute::Kind::kConditional) {
    evaluation.Drop(attribute_->if_false->id());
    evaluation.Drop(attribute_->if_true->id());
    evaluation.Drop(attribute_->operand->id());
    // Upstream subtracts the unit of a test even where none was added.
    if (test_only_) evaluation.AddCost(static_cast<uint64_t>(-1));
  } else {
    evaluation.Drop(attribute_->id());
    if (!test_only_) evaluation.AddCost(1);
  }
  evaluation.Push(id(), result);
  return result;
}

}  // namespace berth::cel
