#include "cel/plan.h"

#include <fmt/format.h>

#include "cel/operations.h"

namespace berth::cel {

Value LiteralValue(const Literal& literal, Arena& arena) {
  switch (literal.kind) {
    case Literal::Kind::kNull:
      return Value::Null();
    case Literal::Kind::kBool:
      return Value::Bool(literal.boolean);
    case Literal::Kind::kInt:
      return Value::Int(literal.integer);
    case Literal::Kind::kUint:
      return Value::Uint(static_cast<uint64_t>(literal.integer));
    case Literal::Kind::kDouble:
      return Value::Double(literal.number);
    case Literal::Kind::kString:
      return Value::String(arena.Copy(literal.text));
    case Literal::Kind::kBytes:
      return Value::Bytes(arena.Copy(literal.text));
  }
  return Value::Null();
}

namespace {

// Ends planning with a message.
struct PlanFailed {
  std::string message;
};

bool IsConversion(std::string_view function) {
  static constexpr std::string_view kConversions[] = {"bool", "bytes",  "double",    "dyn",  "duration",
                                                      "int",  "string", "timestamp", "type", "uint"};
  for (const std::string_view name : kConversions) {
    if (name == function) return true;
  }
  return false;
}

bool IsPlainKey(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
    case Kind::kDouble:
    case Kind::kInt:
    case Kind::kString:
    case Kind::kUint:
      return true;
    default:
      return false;
  }
}

class Planner {
 public:
  Planner(const Checked& checked, const Environment& environment, Plan& plan)
      : checked_(checked), environment_(environment), plan_(plan) {
    evaluation_.Begin(0, 0, Value());
  }

  void Run(const Ast& ast) {
    plan_.max_id = ast.max_id();
    plan_.root = PlanExpr(*ast.root());
  }

 private:
  template <class T, class... Args>
  T* New(Args&&... args) {
    auto node = std::make_unique<T>(std::forward<Args>(args)...);
    T* raw = node.get();
    plan_.nodes.push_back(std::move(node));
    return raw;
  }
  Attribute* NewAttribute(Attribute attribute) { return &plan_.attributes.emplace_back(std::move(attribute)); }

  Node* PlanExpr(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kLiteral:
        return New<ConstantNode>(expr.id, LiteralValue(expr.literal, plan_.arena));
      case ExprKind::kIdent:
        return PlanIdent(expr);
      case ExprKind::kSelect:
        return PlanSelect(expr);
      case ExprKind::kCall:
        return PlanCall(expr);
      case ExprKind::kList:
        return PlanList(expr);
      case ExprKind::kMap:
        return PlanMap(expr);
      case ExprKind::kStruct:
        return PlanStruct(expr);
      case ExprKind::kComprehension:
        return PlanFold(expr);
      case ExprKind::kUnspecified:
        break;
    }
    throw PlanFailed{"unsupported expression"};
  }

  Node* PlanIdent(const Expr& expr) {
    // Any name whose type is a type counts as the name of a type, even a loop variable.
    if (checked_.TypeOf(expr)->kind == TypeKind::kType) {
      const Environment::NamedType* named = environment_.FindType(expr.name);
      if (named == nullptr || named->value == nullptr) {
        throw PlanFailed{fmt::format("reference to undefined type: {}", expr.name)};
      }
      return New<ConstantNode>(expr.id, Value::TypeOf(named->value));
    }
    Attribute attribute;
    attribute.own_id = expr.id;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (scope->name == expr.name) {
        attribute.variable = scope->variable;
        break;
      }
    }
    return New<AttributeNode>(NewAttribute(std::move(attribute)));
  }

  // The node itself if it is an attribute; else one that starts from its value.
  AttributeNode* AsAttribute(Node* node, int id) {
    if (node->attribute() != nullptr) return static_cast<AttributeNode*>(node);
    Attribute attribute;
    attribute.kind = Attribute::Kind::kOperand;
    attribute.own_id = id;
    attribute.operand = node;
    return New<AttributeNode>(NewAttribute(std::move(attribute)));
  }

  Node* PlanSelect(const Expr& expr) {
    Node* operand = PlanExpr(*expr.target);
    AttributeNode* node = AsAttribute(operand, operand->id());
    Qualifier qualifier;
    qualifier.id = expr.id;
    qualifier.test_only = expr.test_only;
    qualifier.key = Value::String(plan_.arena.Copy(expr.name));
    if (!expr.test_only) {
      node->attribute()->Add(qualifier);
      return node;
    }
    AttributeNode* test = New<AttributeNode>(node->attribute());
    test->MakeTest(expr.id);
    test->attribute()->Add(qualifier);
    return test;
  }

  Node* PlanIndex(const Expr& expr, bool optional) {
    Node* operand = PlanExpr(*expr.arguments[0]);
    Node* index = PlanExpr(*expr.arguments[1]);
    AttributeNode* node = AsAttribute(operand, operand->id());
    Qualifier qualifier;
    qualifier.id = expr.id;
    qualifier.optional = optional;
    if (index->constant() != nullptr) {
      qualifier.key = *index->constant();
      if (!IsPlainKey(qualifier.key)) {
        throw PlanFailed{fmt::format("invalid qualifier type: {}", GoTypeName(qualifier.key))};
      }
    } else {
      qualifier.attribute = AsAttribute(index, expr.id)->attribute();
    }
    node->attribute()->Add(qualifier);
    return node;
  }

  Node* PlanConditional(const Expr& expr) {
    Attribute attribute;
    attribute.kind = Attribute::Kind::kConditional;
    attribute.own_id = expr.id;
    attribute.operand = PlanExpr(*expr.arguments[0]);
    Node* if_true = PlanExpr(*expr.arguments[1]);
    Node* if_false = PlanExpr(*expr.arguments[2]);
    attribute.if_true = AsAttribute(if_true, if_true->id())->attribute();
    attribute.if_false = AsAttribute(if_false, if_false->id())->attribute();
    return New<AttributeNode>(NewAttribute(std::move(attribute)));
  }

  Node* PlanCall(const Expr& expr) {
    const std::string& name = expr.name;
    if (name == operators::kIndex) return PlanIndex(expr, false);
    if (name == operators::kOptionalIndex || name == operators::kOptionalSelect) return PlanIndex(expr, true);
    if (name == operators::kConditional) return PlanConditional(expr);
    std::vector<const Node*> arguments;
    if (expr.target != nullptr) arguments.push_back(PlanExpr(*expr.target));
    for (const Expr* argument : expr.arguments) arguments.push_back(PlanExpr(*argument));
    if (name == operators::kAnd || name == operators::kOr) {
      return New<LogicNode>(expr.id, name == operators::kOr, arguments[0], arguments[1]);
    }
    if (name == operators::kEquals || name == operators::kNotEquals) {
      return New<EqualityNode>(expr.id, name == operators::kNotEquals, arguments[0], arguments[1]);
    }
    if (name == "or" || name == "orValue") {
      return New<OptionalOrNode>(expr.id, name == "orValue", arguments[0], arguments[1]);
    }
    return PlanFunction(expr, std::move(arguments));
  }

  Node* PlanFunction(const Expr& expr, std::vector<const Node*> arguments) {
    const Reference& reference = *checked_.ReferenceOf(expr);
    Callee callee;
    callee.function = reference.function;
    if (reference.overloads.size() == 1) callee.overload = reference.overloads[0];
    const std::string_view overload = callee.overload == nullptr ? std::string_view() : callee.overload->id;
    callee.cost = FindCostRule(expr.name, overload);
    SetStyle(callee);
    if (overload == "in_list" && arguments[1]->constant() != nullptr) {
      if (Node* node = PlanMembership(expr.id, arguments); node != nullptr) return node;
    }
    if (IsConversion(expr.name) && arguments.size() == 1 && arguments[0]->constant() != nullptr) {
      return FoldCall(expr.id, callee, *arguments[0]->constant());
    }
    if (Node* node = PlanRegex(expr, arguments, callee.cost); node != nullptr) return node;
    return New<CallNode>(expr.id, callee, std::move(arguments));
  }

  static void SetStyle(Callee& callee) {
    const Function& function = *callee.function;
    if (function.singleton != nullptr) {
      callee.style = function.singleton_style;
      return;
    }
    const Overload* chosen = callee.overload;
    if (chosen == nullptr || chosen->implementation == nullptr) {
      chosen = function.overloads.size() == 1 ? &function.overloads[0] : nullptr;
    }
    if (chosen != nullptr) {
      callee.style = chosen->style;
      callee.non_strict = chosen->non_strict;
    }
  }

  // Null if members are not all plain values.
  Node* PlanMembership(int id, const std::vector<const Node*>& arguments) {
    const ListObject& list = arguments[1]->constant()->list();
    if (list.size() == 0) return New<ConstantNode>(id, Value::Bool(false));
    std::vector<Value> members;
    for (int64_t i = 0; i < list.size(); ++i) {
      const Value member = list.Get(i);
      if (!IsPlainKey(member)) return nullptr;
      members.push_back(member);
      AddOtherNumbers(member, members);
    }
    return New<MembershipNode>(id, arguments[0], std::move(members));
  }

  // A number is also a member as a number of any other type that can represent it.
  void AddOtherNumbers(const Value& member, std::vector<Value>& members) {
    if (member.kind() != Kind::kInt && member.kind() != Kind::kUint && member.kind() != Kind::kDouble) return;
    for (const Kind kind : {Kind::kInt, Kind::kUint, Kind::kDouble}) {
      if (kind == member.kind()) continue;
      const Value converted = Convert(evaluation_, member, kind);
      if (converted.is_error()) continue;
      if (member.kind() == Kind::kDouble && !IsEqual(evaluation_, converted, member)) continue;
      members.push_back(converted);
    }
  }

  Node* FoldCall(int id, const Callee& callee, const Value& argument) {
    const std::array<Value, 1> arguments = {argument};
    const Value value = callee.Invoke(evaluation_, arguments);
    if (value.is_error()) throw PlanFailed{std::string(value.text())};
    return New<ConstantNode>(id, Keep(value));
  }

  // A copy that lives as long as the plan.
  Value Keep(const Value& value) {
    switch (value.kind()) {
      case Kind::kString:
        return Value::String(plan_.arena.Copy(value.text()));
      case Kind::kBytes:
        return Value::Bytes(plan_.arena.Copy(value.text()));
      case Kind::kTimestamp:
        return Value::Timestamp(plan_.arena.New<TimestampObject>(value.timestamp()));
      default:
        return value;  // numbers, and lists and maps that are constants already
    }
  }

  Node* PlanRegex(const Expr& expr, const std::vector<const Node*>& arguments, CostRule cost) {
    RegexNode::Operation operation;
    if (expr.name == "matches")
      operation = RegexNode::Operation::kMatches;
    else if (expr.name == "find")
      operation = RegexNode::Operation::kFind;
    else if (expr.name == "findAll")
      operation = RegexNode::Operation::kFindAll;
    else
      return nullptr;
    if (arguments.size() < 2 || arguments[1]->constant() == nullptr) return nullptr;
    const Value& pattern = *arguments[1]->constant();
    if (pattern.kind() != Kind::kString) return nullptr;
    Result<std::shared_ptr<const Regex>> regex = Regex::Compile(pattern.text());
    if (!regex) throw PlanFailed{regex.error().message};
    return New<RegexNode>(expr.id, operation, *regex, cost, arguments);
  }

  Node* PlanList(const Expr& expr) {
    std::vector<const Node*> elements;
    bool constant = true;
    for (size_t i = 0; i < expr.arguments.size(); ++i) {
      elements.push_back(PlanExpr(*expr.arguments[i]));
      constant = constant && elements.back()->constant() != nullptr && !expr.optionals[i];
    }
    if (!constant) return New<ListNode>(expr.id, std::move(elements), expr.optionals);
    const std::span<Value> values = plan_.arena.NewArray<Value>(elements.size());
    for (size_t i = 0; i < elements.size(); ++i) values[i] = *elements[i]->constant();
    return New<ConstantNode>(expr.id, Value::List(ListObject::Of(plan_.arena, values)));
  }

  Node* PlanMap(const Expr& expr) {
    std::vector<MapNode::Entry> entries;
    bool constant = true;
    for (const Entry& entry : expr.entries) {
      const Node* key = PlanExpr(*entry.key);
      const Node* value = PlanExpr(*entry.value);
      entries.push_back({key, value, entry.optional});
      constant = constant && key->constant() != nullptr && value->constant() != nullptr && !entry.optional;
    }
    if (!constant) return New<MapNode>(expr.id, std::move(entries));
    std::vector<MapEntry> values;
    for (const MapNode::Entry& entry : entries) {
      const char* type = nullptr;
      if (!IsHashable(*entry.key->constant(), &type)) {
        throw PlanFailed{fmt::format("runtime error: hash of unhashable type {}", type)};
      }
      values.push_back({*entry.key->constant(), *entry.value->constant()});
    }
    return New<ConstantNode>(expr.id, Value::Map(LiteralMap::Of(plan_.arena, values)));
  }

  Node* PlanStruct(const Expr& expr) {
    std::vector<StructNode::Field> fields;
    std::vector<const Node*> values;
    for (const Entry& entry : expr.entries) {
      fields.push_back({entry.name, entry.optional});
      values.push_back(PlanExpr(*entry.value));
    }
    return New<StructNode>(expr.id, expr.name, std::move(fields), std::move(values));
  }

  Node* PlanFold(const Expr& expr) {
    const Comprehension& loop = *expr.comprehension;
    FoldNode::Parts parts;
    parts.index = plan_.folds++;
    plan_.bindings.push_back(nullptr);
    parts.two_variables = !loop.second_variable.empty();
    parts.initial = PlanExpr(*loop.initial);
    parts.range = PlanExpr(*loop.range);
    const size_t outside = scopes_.size();
    const auto declare = [&](const std::string& name, VariableReference::Kind kind) {
      scopes_.push_back({name, {kind, parts.index}});
    };
    // The accumulator is looked up before the variables of the loop.
    if (parts.two_variables) declare(loop.second_variable, VariableReference::Kind::kSecond);
    declare(loop.variable, VariableReference::Kind::kFirst);
    declare(loop.accumulator, VariableReference::Kind::kAccumulator);
    parts.condition = PlanExpr(*loop.condition);
    parts.step = PlanExpr(*loop.step);
    scopes_.resize(outside);
    declare(loop.accumulator, VariableReference::Kind::kAccumulator);
    parts.result = PlanExpr(*loop.result);
    scopes_.resize(outside);
    FoldNode* fold = New<FoldNode>(expr.id, parts);
    const Value* range = parts.range->constant();
    if (range != nullptr && range->kind() == Kind::kList && range->list().size() == 0) {
      plan_.bindings[static_cast<size_t>(parts.index)] = fold;
    }
    return fold;
  }

  struct Scope {
    std::string name;
    VariableReference variable;
  };

  const Checked& checked_;
  const Environment& environment_;
  Plan& plan_;
  std::vector<Scope> scopes_;
  Evaluation evaluation_;  // for constant folding
};

}  // namespace

Result<std::unique_ptr<Plan>> MakePlan(const Ast& ast, const Checked& checked, const Environment& environment) {
  auto plan = std::make_unique<Plan>();
  try {
    Planner(checked, environment, *plan).Run(ast);
  } catch (const PlanFailed& failed) {
    return Error::InvalidArgument(failed.message);
  } catch (const Cancelled& cancelled) {
    return Error::InvalidArgument(cancelled.text);
  }
  return plan;
}

std::string TryConstantCall(const Environment& environment, std::string_view function, const Literal& argument) {
  Evaluation evaluation;
  evaluation.Begin(0, 0, Value());
  Callee callee;
  callee.function = environment.FindFunction(function);
  const std::array<Value, 1> arguments = {LiteralValue(argument, evaluation.arena())};
  const Value value = callee.Invoke(evaluation, arguments);
  return value.is_error() ? std::string(value.text()) : std::string();
}

}  // namespace berth::cel
