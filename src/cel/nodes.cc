#include "cel/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cel/messages.h"
#include "cel/mutable_values.h"
#include "cel/operations.h"
#include "cel/type.h"

namespace berth::cel {
namespace {

// Ids of arguments, for the cost stack. Most calls have few.
class Ids {
 public:
  explicit Ids(std::span<const Node* const> nodes) {
    if (nodes.size() > few_.size()) many_.resize(nodes.size());
    int* ids = many_.empty() ? few_.data() : many_.data();
    for (size_t i = 0; i < nodes.size(); ++i) ids[i] = nodes[i]->id();
    ids_ = {ids, nodes.size()};
  }
  std::span<const int> get() const { return ids_; }

 private:
  std::array<int, 4> few_;
  std::vector<int> many_;
  std::span<const int> ids_;
};

class Values {
 public:
  explicit Values(size_t count) {
    if (count > few_.size()) many_.resize(count);
    values_ = {many_.empty() ? few_.data() : many_.data(), count};
  }
  std::span<Value> get() { return values_; }

 private:
  std::array<Value, 4> few_;
  std::vector<Value> many_;
  std::span<Value> values_;
};

void ObserveCall(Evaluation& evaluation, int id, CostRule cost, std::span<const Node* const> arguments,
                 const Value& result) {
  const Ids ids(arguments);
  Values values(arguments.size());
  if (evaluation.DropArguments(ids.get(), values.get().data())) {
    evaluation.AddCost(CallCost(evaluation, cost, values.get(), result));
  }
  evaluation.Push(id, result);
}

void ObserveConstructor(Evaluation& evaluation, int id, uint64_t cost, std::span<const Node* const> parts,
                        const Value& result) {
  const Ids ids(parts);
  Values values(parts.size());
  evaluation.DropArguments(ids.get(), values.get().data());
  evaluation.AddCost(cost);
  evaluation.Push(id, result);
}

}  // namespace

Value ConstantNode::Eval(Evaluation& evaluation) const {
  evaluation.Push(id(), value_);
  return value_;
}

Value LogicNode::Eval(Evaluation& evaluation) const {
  Value result = Value::Bool(!decisive_);
  Value error;
  for (const Node* term : {left_, right_}) {
    const Value value = term->Eval(evaluation);
    if (value.kind() == Kind::kBool) {
      if (value.as_bool() != decisive_) continue;
      result = value;
      error = Value();
      break;
    }
    if (error.is_null()) error = value.is_error() ? value : NoSuchOverload();
  }
  if (error.is_error()) result = error;
  evaluation.Drop(left_->id());
  evaluation.Drop(right_->id());
  evaluation.Push(id(), result);
  return result;
}

Value EqualityNode::Eval(Evaluation& evaluation) const {
  const Value left = left_->Eval(evaluation);
  const Value right = right_->Eval(evaluation);
  Value result;
  if (left.is_error()) {
    result = left;
  } else if (right.is_error()) {
    result = right;
  } else {
    result = Equal(evaluation, left, right);
    // Values that cannot be compared are not equal.
    if (negated_) result = Value::Bool(!result.is_true());
  }
  const std::array<const Node*, 2> arguments = {left_, right_};
  ObserveCall(evaluation, id(), negated_ ? CostRule::kSmallerSize : CostRule::kEquality, arguments, result);
  return result;
}

bool IsRuntimeType(const Type& type, const Value& value, Arena& arena) {
  if (type.is_dynamic() || type.kind == TypeKind::kParameter) return true;
  if (type.name != TypeName(value)) return false;
  if (type.kind == TypeKind::kList) {
    return value.list().size() == 0 || IsRuntimeType(*type.parameters[0], value.list().Get(0), arena);
  }
  if (type.kind == TypeKind::kMap) {
    if (value.map().size() == 0) return true;
    return IsRuntimeType(*type.parameters[0], value.map().KeyAt(0), arena) &&
           IsRuntimeType(*type.parameters[1], value.map().ValueAt(0, arena), arena);
  }
  return true;
}

namespace {

bool FitsSignature(const Function& function, const Overload& overload, std::span<const Value> arguments, Arena& arena) {
  if (arguments.size() != overload.arguments.size()) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_error()) {
      if (!overload.non_strict) return false;
      continue;
    }
    if (!function.unguarded && !IsRuntimeType(*overload.arguments[i], arguments[i], arena)) return false;
  }
  return true;
}

Value NoOverload(Evaluation& evaluation, const Function& function, std::span<const Value> arguments) {
  std::string types;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_error()) return arguments[i];
    if (i > 0) types += ", ";
    types += TypeName(arguments[i]);
  }
  return MakeError(evaluation.arena(), fmt::format("no such overload: {}({})", function.name, types));
}

Value InvokeSingleton(Evaluation& evaluation, const Function& function, std::span<const Value> arguments) {
  const uint32_t have = TraitsOf(arguments[0]);
  if ((have & function.singleton_trait) == function.singleton_trait) return function.singleton(evaluation, arguments);
  // Strings and times handle their own calls, and have no operators.
  if ((have & traits::kReceiver) != 0) return NoSuchOverload();
  return MakeError(evaluation.arena(), fmt::format("no such overload: {}", function.name));
}

}  // namespace

Value Callee::Invoke(Evaluation& evaluation, std::span<const Value> arguments) const {
  if (function->singleton != nullptr) return InvokeSingleton(evaluation, *function, arguments);
  if (overload != nullptr && overload->implementation != nullptr) {
    if (!FitsSignature(*function, *overload, arguments, evaluation.arena())) {
      return NoOverload(evaluation, *function, arguments);
    }
    return overload->implementation(evaluation, arguments);
  }
  for (const Overload& candidate : function->overloads) {
    if (candidate.implementation == nullptr) continue;
    if (FitsSignature(*function, candidate, arguments, evaluation.arena())) {
      return candidate.implementation(evaluation, arguments);
    }
  }
  return NoOverload(evaluation, *function, arguments);
}

Value CallNode::Call(Evaluation& evaluation) const {
  Values values(arguments_.size());
  const std::span<Value> arguments = values.get();
  for (size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = arguments_[i]->Eval(evaluation);
    if (callee_.style == CallStyle::kVariadic && !callee_.non_strict && arguments[i].is_error()) return arguments[i];
  }
  if (!callee_.non_strict) {
    for (const Value& argument : arguments) {
      if (argument.is_error()) return argument;
    }
  }
  return callee_.Invoke(evaluation, arguments);
}

Value CallNode::Eval(Evaluation& evaluation) const {
  const Value result = Call(evaluation);
  ObserveCall(evaluation, id(), callee_.cost, arguments_, result);
  return result;
}

namespace {

// The values that Go's Value() turns into a string.
bool NativeText(const Value& value, std::string_view* text) {
  switch (value.kind()) {
    case Kind::kString:
      *text = value.text();
      return true;
    case Kind::kType:
      *text = value.type()->name;
      return true;
    case Kind::kOptional:
      return value.optional() != nullptr && NativeText(*value.optional(), text);
    default:
      return false;
  }
}

}  // namespace

Value RegexNode::Call(Evaluation& evaluation) const {
  Values values(arguments_.size());
  const std::span<Value> arguments = values.get();
  for (size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = arguments_[i]->Eval(evaluation);
    if (arguments[i].is_error()) return arguments[i];
  }
  std::string_view text;
  if (!NativeText(arguments[0], &text)) return NoSuchOverload();
  if (operation_ == Operation::kMatches) return Value::Bool(regex_->Matches(text));
  if (operation_ == Operation::kFind) return Value::String(regex_->Find(text));
  int64_t limit = -1;
  if (arguments.size() == 3) {
    if (arguments[2].kind() != Kind::kInt) return NoSuchOverload();
    limit = arguments[2].as_int();
  }
  std::vector<Value> found;
  for (const std::string_view match : regex_->FindAll(text, limit)) found.push_back(Value::String(match));
  return MakeList(evaluation, found);
}

Value RegexNode::Eval(Evaluation& evaluation) const {
  const Value result = Call(evaluation);
  ObserveCall(evaluation, id(), cost_, arguments_, result);
  return result;
}

Value ListNode::Build(Evaluation& evaluation) const {
  const std::span<Value> items = evaluation.arena().NewArray<Value>(elements_.size());
  size_t size = 0;
  for (size_t i = 0; i < elements_.size(); ++i) {
    Value value = elements_[i]->Eval(evaluation);
    if (value.is_error()) return value;
    if (optionals_[i]) {
      if (value.kind() != Kind::kOptional) {
        return MakeError(evaluation.arena(),
                         fmt::format("cannot initialize optional list element from non-optional value {}",
                                     Display(value, evaluation.arena())));
      }
      if (value.optional() == nullptr) continue;
      value = *value.optional();
    }
    items[size++] = value;
  }
  return Value::List(ListObject::Of(evaluation.arena(), items.first(size)));
}

Value ListNode::Eval(Evaluation& evaluation) const {
  const Value result = Build(evaluation);
  ObserveConstructor(evaluation, id(), kListCost, elements_, result);
  return result;
}

Value MapNode::Build(Evaluation& evaluation) const {
  const std::span<MapEntry> entries = evaluation.arena().NewArray<MapEntry>(entries_.size());
  size_t size = 0;
  for (const Entry& entry : entries_) {
    const Value key = entry.key->Eval(evaluation);
    if (key.is_error()) return key;
    Value value = entry.value->Eval(evaluation);
    if (value.is_error()) return value;
    if (entry.optional) {
      if (value.kind() != Kind::kOptional) {
        return MakeError(evaluation.arena(),
                         fmt::format("cannot initialize optional entry '{}' from non-optional value {}",
                                     Display(key, evaluation.arena()), Display(value, evaluation.arena())));
      }
      if (value.optional() == nullptr) {
        // Removes an earlier entry with that key.
        size_t kept = 0;
        for (size_t i = 0; i < size; ++i) {
          if (CompareKeys(entries[i].key, key) != 0) entries[kept++] = entries[i];
        }
        size = kept;
        continue;
      }
      value = *value.optional();
    }
    const char* type = nullptr;
    if (!IsHashable(key, &type)) Panic(evaluation, fmt::format("runtime error: hash of unhashable type {}", type));
    entries[size++] = {key, value};
  }
  return Value::Map(LiteralMap::Of(evaluation.arena(), entries.first(size)));
}

Value MapNode::Eval(Evaluation& evaluation) const {
  const Value result = Build(evaluation);
  std::vector<const Node*> parts;
  for (const Entry& entry : entries_) {
    parts.push_back(entry.key);
    parts.push_back(entry.value);
  }
  ObserveConstructor(evaluation, id(), kMapCost, parts, result);
  return result;
}

Value StructNode::Build(Evaluation& evaluation) const {
  std::vector<FieldValue> fields;
  for (size_t i = 0; i < values_.size(); ++i) {
    Value value = values_[i]->Eval(evaluation);
    if (value.is_error()) return value;
    if (fields_[i].optional) {
      if (value.kind() != Kind::kOptional) {
        return MakeError(evaluation.arena(),
                         fmt::format("cannot initialize optional entry '{}' from non-optional value {}",
                                     fields_[i].name, Display(value, evaluation.arena())));
      }
      if (value.optional() == nullptr) continue;
      value = *value.optional();
    }
    fields.push_back({fields_[i].name, value});
  }
  return MakeMessage(evaluation, type_, fields);
}

Value StructNode::Eval(Evaluation& evaluation) const {
  const Value result = Build(evaluation);
  ObserveConstructor(evaluation, id(), kStructCost, values_, result);
  return result;
}

MembershipNode::MembershipNode(int id, const Node* element, std::vector<Value> members)
    : Node(id), element_(element), members_(std::move(members)) {
  std::sort(members_.begin(), members_.end(), KeyLess());
}

Value MembershipNode::Eval(Evaluation& evaluation) const {
  const Value element = element_->Eval(evaluation);
  Value result = element;
  if (!element.is_error()) {
    const char* type = nullptr;
    if (!IsHashable(element, &type)) Panic(evaluation, fmt::format("runtime error: hash of unhashable type {}", type));
    const bool is_nan = element.kind() == Kind::kDouble && std::isnan(element.as_double());
    result = Value::Bool(!is_nan && std::binary_search(members_.begin(), members_.end(), element, KeyLess()));
  }
  evaluation.Push(id(), result);
  return result;
}

Value OptionalOrNode::Eval(Evaluation& evaluation) const {
  Value result = left_->Eval(evaluation);
  if (result.kind() == Kind::kOptional) {
    if (result.optional() == nullptr) {
      result = right_->Eval(evaluation);
    } else if (unwrap_) {
      result = *result.optional();
    }
  }
  evaluation.Push(id(), result);
  return result;
}

Value FoldNode::Accumulator(Evaluation& evaluation, Frame& frame) {
  if (frame.initialized) return frame.accumulator;
  frame.initialized = true;
  const FoldNode& fold = *frame.fold;
  Value initial = fold.parts_.initial->Eval(evaluation);
  if (initial.kind() == Kind::kList && initial.list().size() == 0) {
    initial = NewMutableList(evaluation);
    frame.mutable_accumulator = true;
  } else if (initial.kind() == Kind::kMap && initial.map().size() == 0) {
    initial = NewMutableMap(evaluation);
    frame.mutable_accumulator = true;
  }
  frame.accumulator = initial;
  return initial;
}

bool FoldNode::Iterate(Evaluation& evaluation, Frame& frame) const {
  const Value condition = parts_.condition->Eval(evaluation);
  if (condition.is_false()) return false;
  frame.accumulator = parts_.step->Eval(evaluation);
  frame.initialized = true;
  return true;
}

Value FoldNode::Result(Evaluation& evaluation, Frame& frame) const {
  const Value result = parts_.result->Eval(evaluation);
  return frame.mutable_accumulator ? Freeze(evaluation, result) : result;
}

Value FoldNode::Run(Evaluation& evaluation, Frame& frame) const {
  const Value range = parts_.range->Eval(evaluation);
  if (range.is_error()) return range;
  if (range.kind() == Kind::kList) {
    const ListObject& list = range.list();
    const int64_t size = list.size();
    for (int64_t i = 0; i < size; ++i) {
      frame.first = parts_.two_variables ? Value::Int(i) : list.Get(i);
      if (parts_.two_variables) frame.second = list.Get(i);
      if (!Iterate(evaluation, frame)) break;
    }
    return Result(evaluation, frame);
  }
  if (range.kind() == Kind::kMap) {
    const MapObject& map = range.map();
    for (int64_t i = 0; i < map.size(); ++i) {
      frame.first = map.KeyAt(i);
      if (parts_.two_variables) frame.second = map.ValueAt(i, evaluation.arena());
      if (!Iterate(evaluation, frame)) break;
    }
    return Result(evaluation, frame);
  }
  if (parts_.two_variables) {
    return MakeError(evaluation.arena(), fmt::format("unsupported comprehension range type: {}", GoTypeName(range)));
  }
  return MakeError(evaluation.arena(), fmt::format("got '{}', expected iterable type", GoTypeName(range)));
}

Value FoldNode::Eval(Evaluation& evaluation) const {
  Frame frame;
  frame.fold = this;
  Frame*& slot = evaluation.frame(parts_.index);
  slot = &frame;
  const Value result = Run(evaluation, frame);
  slot = nullptr;
  evaluation.Drop(parts_.range->id());
  evaluation.Push(id(), result);
  return result;
}

}  // namespace berth::cel
