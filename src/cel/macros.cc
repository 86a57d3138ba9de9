#include "cel/macros.h"

#include <fmt/format.h>

namespace berth::cel {
namespace {

// Cannot be written in an expression, so that none can access the loop of a macro.
constexpr char kAccumulator[] = "@result";
constexpr char kVisibleAccumulator[] = "__result__";
constexpr char kUnused[] = "#unused";
// Upstream has no such limit: optMap copies its target, so a chain of them doubles with every link.
constexpr int kMaxNodes = 500000;

MacroExpander::Expansion Fail(const Expr* at, std::string message) { return {nullptr, at->id, std::move(message)}; }

bool IsReservedForLoops(const std::string& name) { return name == kAccumulator || name == kVisibleAccumulator; }

}  // namespace

MacroExpander::Expansion MacroExpander::Expand(int id, const std::string& function, Expr* target,
                                               const std::vector<Expr*>& arguments) {
  offset_ = ast_.OffsetOf(id);
  const size_t count = arguments.size();
  if (target == nullptr) return function == "has" && count == 1 ? Has(arguments[0]) : Expansion{};
  if (function == "bind" && count == 3 && target->kind == ExprKind::kIdent && target->name == "cel") {
    return Bind(arguments);
  }
  if (count == 2 || count == 3) {
    if (function == "all") return Quantify(Quantifier::kAll, target, arguments);
    if (function == "exists") return Quantify(Quantifier::kExists, target, arguments);
    // existsOne was introduced with two variables.
    if (function == "exists_one" || (function == "existsOne" && count == 3)) {
      return Quantify(Quantifier::kExistsOne, target, arguments);
    }
    if (function == "map") return Map(target, arguments);
  }
  if (count == 2) {
    if (function == "filter") return Filter(target, arguments);
    if (function == "optMap" || function == "optFlatMap") {
      return OptionalMap(function == "optFlatMap", target, arguments);
    }
    if (function == "sortBy") return SortBy(target, arguments);
  }
  if (count == 3 || count == 4) {
    if (function == "transformList" || function == "transformMap" || function == "transformMapEntry") {
      return Transform(function, target, arguments);
    }
  }
  return {};
}

MacroExpander::Expansion MacroExpander::Has(Expr* argument) {
  if (argument->kind != ExprKind::kSelect) return Fail(argument, "invalid argument to has() macro");
  Expr* test = New(ExprKind::kSelect);
  test->target = argument->target;
  test->name = argument->name;
  test->test_only = true;
  return {test};
}

Expr* MacroExpander::NewQuantifier(Quantifier kind, Expr* range, const std::string& first, const std::string& second,
                                   Expr* predicate) {
  if (kind == Quantifier::kExistsOne) {
    Expr* step = NewCall(operators::kConditional,
                         {predicate, NewCall(operators::kAdd, {NewAccumulator(), NewInt(1)}), NewAccumulator()});
    return NewLoop(range, first, second, kAccumulator, NewInt(0), NewBool(true), step,
                   NewCall(operators::kEquals, {NewAccumulator(), NewInt(1)}));
  }
  const bool all = kind == Quantifier::kAll;
  Expr* undecided = all ? NewAccumulator() : NewCall(operators::kNot, {NewAccumulator()});
  return NewLoop(range, first, second, kAccumulator, NewBool(all), NewCall(operators::kNotStrictlyFalse, {undecided}),
                 NewCall(all ? operators::kAnd : operators::kOr, {NewAccumulator(), predicate}), NewAccumulator());
}

MacroExpander::Expansion MacroExpander::Quantify(Quantifier kind, Expr* target, const std::vector<Expr*>& arguments) {
  if (arguments.size() == 2) {
    if (arguments[0]->kind != ExprKind::kIdent) return Fail(arguments[0], "argument must be a simple name");
    if (IsReservedForLoops(arguments[0]->name)) {
      return Fail(arguments[0], "iteration variable overwrites accumulator variable");
    }
    return {NewQuantifier(kind, target, arguments[0]->name, "", arguments[1])};
  }
  std::string first, second;
  if (Expansion failed = IterationVariables(arguments, &first, &second); !failed.message.empty()) return failed;
  return {NewQuantifier(kind, target, first, second, arguments[2])};
}

MacroExpander::Expansion MacroExpander::IterationVariables(const std::vector<Expr*>& arguments, std::string* first,
                                                           std::string* second) {
  for (size_t i = 0; i < 2; ++i) {
    if (arguments[i]->kind != ExprKind::kIdent) return Fail(arguments[i], "argument must be a simple name");
  }
  *first = arguments[0]->name;
  *second = arguments[1]->name;
  if (*first == *second) return Fail(arguments[1], fmt::format("duplicate variable name: {}", *first));
  for (size_t i = 0; i < 2; ++i) {
    if (IsReservedForLoops(arguments[i]->name)) {
      return Fail(arguments[i], "iteration variable overwrites accumulator variable");
    }
  }
  return {};
}

MacroExpander::Expansion MacroExpander::Map(Expr* target, const std::vector<Expr*>& arguments) {
  if (arguments[0]->kind != ExprKind::kIdent) return Fail(arguments[0], "argument is not an identifier");
  if (IsReservedForLoops(arguments[0]->name)) {
    return Fail(arguments[0], "iteration variable overwrites accumulator variable");
  }
  Expr* step = NewCall(operators::kAdd, {NewAccumulator(), NewList({arguments.back()})});
  if (arguments.size() == 3) step = NewCall(operators::kConditional, {arguments[1], step, NewAccumulator()});
  return {NewLoop(target, arguments[0]->name, "", kAccumulator, NewList({}), NewBool(true), step, NewAccumulator())};
}

MacroExpander::Expansion MacroExpander::Filter(Expr* target, const std::vector<Expr*>& arguments) {
  if (arguments[0]->kind != ExprKind::kIdent) return Fail(arguments[0], "argument is not an identifier");
  if (IsReservedForLoops(arguments[0]->name)) {
    return Fail(arguments[0], "iteration variable overwrites accumulator variable");
  }
  Expr* taken = NewCall(operators::kAdd, {NewAccumulator(), NewList({arguments[0]})});
  Expr* step = NewCall(operators::kConditional, {arguments[1], taken, NewAccumulator()});
  return {NewLoop(target, arguments[0]->name, "", kAccumulator, NewList({}), NewBool(true), step, NewAccumulator())};
}

MacroExpander::Expansion MacroExpander::Transform(const std::string& function, Expr* target,
                                                  const std::vector<Expr*>& arguments) {
  std::string first, second;
  if (Expansion failed = IterationVariables(arguments, &first, &second); !failed.message.empty()) return failed;
  Expr* step = nullptr;
  if (function == "transformList") {
    step = NewCall(operators::kAdd, {NewAccumulator(), NewList({arguments.back()})});
  } else if (function == "transformMap") {
    step = NewCall("cel.@mapInsert", {NewAccumulator(), NewIdent(first), arguments.back()});
  } else {
    step = NewCall("cel.@mapInsert", {NewAccumulator(), arguments.back()});
  }
  if (arguments.size() == 4) step = NewCall(operators::kConditional, {arguments[2], step, NewAccumulator()});
  Expr* initial = function == "transformList" ? NewList({}) : New(ExprKind::kMap);
  return {NewLoop(target, first, second, kAccumulator, initial, NewBool(true), step, NewAccumulator())};
}

MacroExpander::Expansion MacroExpander::Bind(const std::vector<Expr*>& arguments) {
  if (arguments[0]->kind != ExprKind::kIdent) {
    return Fail(arguments[0], "cel.bind() variable names must be simple identifiers");
  }
  const std::string& name = arguments[0]->name;
  return {NewLoop(NewList({}), kUnused, "", name, arguments[1], NewBool(false), NewIdent(name), arguments[2])};
}

MacroExpander::Expansion MacroExpander::OptionalMap(bool flat, Expr* target, const std::vector<Expr*>& arguments) {
  if (arguments[0]->kind != ExprKind::kIdent) {
    return Fail(arguments[0],
                fmt::format("{}() variable name must be a simple identifier", flat ? "optFlatMap" : "optMap"));
  }
  const std::string& name = arguments[0]->name;
  Expr* has_value = NewCall("hasValue", {}, target);
  Expr* value = NewCall("value", {}, Copy(target));
  Expr* mapped = NewLoop(NewList({}), kUnused, "", name, value, NewBool(false), NewIdent(name), arguments[1]);
  if (!flat) mapped = NewCall("optional.of", {mapped});
  return {NewCall(operators::kConditional, {has_value, mapped, NewCall("optional.none", {})})};
}

MacroExpander::Expansion MacroExpander::SortBy(Expr* target, const std::vector<Expr*>& arguments) {
  const bool sortable = target->kind == ExprKind::kList || target->kind == ExprKind::kSelect ||
                        target->kind == ExprKind::kIdent || target->kind == ExprKind::kComprehension ||
                        target->kind == ExprKind::kCall;
  if (!sortable) {
    return Fail(target, "sortBy can only be applied to a list, identifier, comprehension, call or select expression");
  }
  const std::string input = "@__sortBy_input__";
  Expansion keys = Map(NewIdent(input), arguments);
  if (keys.expr == nullptr) return keys;
  Expr* sorted = NewCall("@sortByAssociatedKeys", {keys.expr}, NewIdent(input));
  return {NewLoop(NewList({}), kUnused, "", input, target, NewBool(false), NewIdent(input), sorted)};
}

Expr* MacroExpander::New(ExprKind kind) {
  if (ast_.max_id() >= kMaxNodes) throw TooManyNodes{};
  return ast_.NewExpr(kind, ast_.NewId(offset_));
}

Expr* MacroExpander::NewBool(bool value) {
  Expr* expr = New(ExprKind::kLiteral);
  expr->literal.kind = Literal::Kind::kBool;
  expr->literal.boolean = value;
  return expr;
}

Expr* MacroExpander::NewInt(int64_t value) {
  Expr* expr = New(ExprKind::kLiteral);
  expr->literal.kind = Literal::Kind::kInt;
  expr->literal.integer = value;
  return expr;
}

Expr* MacroExpander::NewIdent(const std::string& name) {
  Expr* expr = New(ExprKind::kIdent);
  expr->name = name;
  return expr;
}

Expr* MacroExpander::NewAccumulator() { return NewIdent(kAccumulator); }

Expr* MacroExpander::NewList(std::vector<Expr*> elements) {
  Expr* expr = New(ExprKind::kList);
  expr->optionals.assign(elements.size(), false);
  expr->arguments = std::move(elements);
  return expr;
}

Expr* MacroExpander::NewCall(std::string_view function, std::vector<Expr*> arguments, Expr* target) {
  Expr* expr = New(ExprKind::kCall);
  expr->name = function;
  expr->target = target;
  expr->arguments = std::move(arguments);
  return expr;
}

Expr* MacroExpander::NewLoop(Expr* range, const std::string& variable, const std::string& second,
                             const std::string& accumulator, Expr* initial, Expr* condition, Expr* step, Expr* result) {
  Expr* expr = New(ExprKind::kComprehension);
  expr->comprehension = std::make_unique<Comprehension>(
      Comprehension{range, variable, second, accumulator, initial, condition, step, result});
  return expr;
}

Expr* MacroExpander::Copy(const Expr* expr) {
  if (expr == nullptr) return nullptr;
  if (ast_.max_id() >= kMaxNodes) throw TooManyNodes{};
  Expr* copy = ast_.NewExpr(expr->kind, ast_.NewId(ast_.OffsetOf(expr->id)));
  copy->test_only = expr->test_only;
  copy->height = expr->height;
  copy->literal = expr->literal;
  copy->name = expr->name;
  copy->target = Copy(expr->target);
  copy->optionals = expr->optionals;
  for (const Expr* argument : expr->arguments) copy->arguments.push_back(Copy(argument));
  for (const Entry& entry : expr->entries) {
    copy->entries.push_back({ast_.NewId(offset_), Copy(entry.key), entry.name, Copy(entry.value), entry.optional});
  }
  if (expr->comprehension != nullptr) {
    const Comprehension& loop = *expr->comprehension;
    copy->comprehension = std::make_unique<Comprehension>(
        Comprehension{Copy(loop.range), loop.variable, loop.second_variable, loop.accumulator, Copy(loop.initial),
                      Copy(loop.condition), Copy(loop.step), Copy(loop.result)});
  }
  if (expr->macro != nullptr) copy->macro = std::make_unique<MacroCall>(*expr->macro);
  return copy;
}

}  // namespace berth::cel
