#include "cel/checker.h"

#include <fmt/format.h>

#include "cel/messages.h"
#include "cel/unifier.h"

namespace berth::cel {
namespace {

class Checker {
 public:
  Checker(Ast& ast, const Environment& environment, Issues& issues, Checked& checked)
      : ast_(ast), environment_(environment), issues_(issues), checked_(checked), unifier_(checked.pool) {
    checked_.types.assign(static_cast<size_t>(ast.max_id()) + 1, nullptr);
    checked_.references.resize(static_cast<size_t>(ast.max_id()) + 1);
  }

  void Run() {
    CheckExpr(ast_.root());
    for (const Type*& type : checked_.types) {
      if (type != nullptr) type = unifier_.Substitute(type, true);
    }
    checked_.result = checked_.TypeOf(*ast_.root());
  }

 private:
  const Type* TypeOf(const Expr* expr) const { return checked_.TypeOf(*expr); }
  void SetType(const Expr* expr, const Type* type) { checked_.types[static_cast<size_t>(expr->id)] = type; }
  Reference& NewReference(const Expr* expr) {
    auto& slot = checked_.references[static_cast<size_t>(expr->id)];
    slot = std::make_unique<Reference>();
    return *slot;
  }

  void Report(int id, std::string message) { issues_.Add(ast_.LocationOf(id), std::move(message)); }
  void ReportUndeclared(const Expr* expr, const std::string& name) {
    Report(expr->id, fmt::format("undeclared reference to '{}' (in container '')", name));
  }
  void ReportMismatch(const Expr* expr, const Type& expected, const Type& found) {
    Report(expr->id, fmt::format("expected type '{}' but found '{}'", FormatType(expected), FormatType(found)));
  }

  void CheckExpr(Expr* expr) {
    switch (expr->kind) {
      case ExprKind::kLiteral:
        return SetType(expr, LiteralType(expr->literal.kind));
      case ExprKind::kIdent:
        return CheckIdent(expr);
      case ExprKind::kSelect:
        return CheckSelect(expr);
      case ExprKind::kCall:
        return CheckCall(expr);
      case ExprKind::kList:
        return CheckList(expr);
      case ExprKind::kMap:
        return CheckMap(expr);
      case ExprKind::kStruct:
        return CheckStruct(expr);
      case ExprKind::kComprehension:
        return CheckComprehension(expr);
      case ExprKind::kUnspecified:
        return SetType(expr, &types::kError);
    }
  }

  static const Type* LiteralType(Literal::Kind kind) {
    switch (kind) {
      case Literal::Kind::kNull:
        return &types::kNull;
      case Literal::Kind::kBool:
        return &types::kBool;
      case Literal::Kind::kInt:
        return &types::kInt;
      case Literal::Kind::kUint:
        return &types::kUint;
      case Literal::Kind::kDouble:
        return &types::kDouble;
      case Literal::Kind::kString:
        return &types::kString;
      case Literal::Kind::kBytes:
        return &types::kBytes;
    }
    return &types::kDyn;
  }

  // Innermost variables first, then those of the environment, then names of types.
  const Type* LookUp(std::string_view name) {
    if (name.starts_with('.')) name.remove_prefix(1);
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->first == name) return local->second;
    }
    if (const Type* type = environment_.FindVariable(name); type != nullptr) return type;
    const Environment::NamedType* named = environment_.FindType(name);
    return named == nullptr ? nullptr : named->type;
  }

  bool ResolveIdent(Expr* expr, const std::string& name) {
    const Type* type = LookUp(name);
    if (type == nullptr) return false;
    SetType(expr, type);
    const std::string resolved = name.starts_with('.') ? name.substr(1) : name;
    NewReference(expr).name = resolved;
    expr->kind = ExprKind::kIdent;
    expr->name = resolved;
    expr->target = nullptr;
    return true;
  }

  void CheckIdent(Expr* expr) {
    const std::string name = expr->name;
    if (ResolveIdent(expr, name)) return;
    SetType(expr, &types::kError);
    ReportUndeclared(expr, name);
  }

  void CheckSelect(Expr* expr) {
    std::string name;
    if (QualifiedName(*expr, &name) && ResolveIdent(expr, name)) return;
    const Type* type = SelectField(expr, expr->target, expr->name, false);
    SetType(expr, unifier_.Substitute(expr->test_only ? &types::kBool : type, false));
  }

  const Type* SelectField(Expr* expr, Expr* operand, const std::string& field, bool optional) {
    CheckExpr(operand);
    const Type* target = unifier_.Substitute(TypeOf(operand), false);
    if (IsOptionalType(*target)) {
      optional = true;
      target = target->parameters[0];
    }
    const Type* result = &types::kDyn;
    switch (target->kind) {
      case TypeKind::kMap:
        result = target->parameters[1];
        break;
      case TypeKind::kStruct:
        result = FieldType(expr->id, target->name, field);
        break;
      case TypeKind::kParameter:
        unifier_.Assign(types::kDyn, *target);
        break;
      case TypeKind::kDyn:
      case TypeKind::kAny:
      case TypeKind::kError:
        break;
      default:
        Report(expr->id, fmt::format("type '{}' does not support field selection", FormatType(*target)));
    }
    return optional ? checked_.pool.Optional(result) : result;
  }

  const Type* FieldType(int id, const std::string& type, const std::string& field) {
    if (!environment_.HasFields(type)) {
      Report(id, fmt::format("unexpected failed resolution of '{}'", type));
      return &types::kError;
    }
    if (const Type* found = environment_.FindField(type, field); found != nullptr) return found;
    Report(id, fmt::format("undefined field '{}'", field));
    return &types::kError;
  }

  void CheckCall(Expr* expr) {
    if (expr->name == operators::kOptionalSelect) return CheckOptionalSelect(expr);
    for (Expr* argument : expr->arguments) CheckExpr(argument);
    if (expr->target == nullptr) {
      const std::string name = expr->name.starts_with('.') ? expr->name.substr(1) : expr->name;
      const Function* function = environment_.FindFunction(name);
      if (function == nullptr) {
        ReportUndeclared(expr, expr->name);
        return SetType(expr, &types::kError);
      }
      expr->name = name;
      return Resolve(expr, *function);
    }
    // a.b.c(x) is a method of a.b, or the function "a.b.c".
    std::string prefix;
    if (QualifiedName(*expr->target, &prefix)) {
      if (prefix.starts_with('.')) prefix.erase(0, 1);
      const Function* function = environment_.FindFunction(prefix + "." + expr->name);
      if (function != nullptr) {
        expr->name = function->name;
        expr->target = nullptr;
        return Resolve(expr, *function);
      }
    }
    CheckExpr(expr->target);
    const Function* function = environment_.FindFunction(expr->name);
    if (function != nullptr) return Resolve(expr, *function);
    SetType(expr, &types::kError);
    ReportUndeclared(expr, expr->name);
  }

  void CheckOptionalSelect(Expr* expr) {
    const std::string field = expr->arguments[1]->literal.text;
    const Type* type = SelectField(expr, expr->arguments[0], field, true);
    SetType(expr->arguments[1], &types::kString);
    SetType(expr, unifier_.Substitute(type, false));
    NewReference(expr).function = environment_.FindFunction(operators::kOptionalSelect);
  }

  void Resolve(Expr* expr, const Function& function) {
    const Type* result = FindOverloads(expr, function);
    SetType(expr, result == nullptr ? &types::kError : result);
  }

  const Type* CheckLogical(Expr* expr, const Function& function) {
    bool good = true;
    for (Expr* argument : expr->arguments) {
      if (unifier_.Assign(*TypeOf(argument), types::kBool)) continue;
      ReportMismatch(argument, types::kBool, *TypeOf(argument));
      good = false;
    }
    if (!good) return nullptr;
    Reference& reference = NewReference(expr);
    reference.function = &function;
    reference.overloads.push_back(&function.overloads[0]);
    return &types::kBool;
  }

  const Type* FindOverloads(Expr* expr, const Function& function) {
    if (function.name == operators::kAnd || function.name == operators::kOr) return CheckLogical(expr, function);
    std::vector<const Type*> arguments;
    if (expr->target != nullptr) arguments.push_back(TypeOf(expr->target));
    for (const Expr* argument : expr->arguments) arguments.push_back(TypeOf(argument));
    const Type* result = nullptr;
    std::vector<const Overload*> matches;
    for (const Overload& overload : function.overloads) {
      if (overload.member != (expr->target != nullptr)) continue;
      const Type* type = TryOverload(overload, arguments);
      if (type == nullptr) continue;
      matches.push_back(&overload);
      if (result == nullptr) {
        result = type;
      } else if (!result->is_dynamic() && !IsExactType(*type, *result)) {
        result = &types::kDyn;
      }
    }
    if (result == nullptr) {
      ReportNoOverload(expr, function, arguments);
      return nullptr;
    }
    Reference& reference = NewReference(expr);
    reference.function = &function;
    reference.overloads = std::move(matches);
    return result;
  }

  // The result type if the arguments fit, otherwise null.
  const Type* TryOverload(const Overload& overload, const std::vector<const Type*>& arguments) {
    bool uses[2] = {false, false};
    FindParameters(*overload.result, uses);
    for (const Type* argument : overload.arguments) FindParameters(*argument, uses);
    const Type* fresh[2] = {nullptr, nullptr};
    for (int i = 0; i < 2; ++i) {
      if (uses[i]) fresh[i] = unifier_.NewVariable();
    }
    std::vector<const Type*> wanted;
    for (const Type* argument : overload.arguments) wanted.push_back(unifier_.Instantiate(argument, fresh));
    if (!unifier_.AssignAll(arguments, wanted)) return nullptr;
    return unifier_.Substitute(unifier_.Instantiate(overload.result, fresh), false);
  }

  static void FindParameters(const Type& type, bool* uses) {
    if (type.kind == TypeKind::kParameter) uses[type.variable] = true;
    for (const Type* parameter : type.parameters) FindParameters(*parameter, uses);
  }

  void ReportNoOverload(const Expr* expr, const Function& function, const std::vector<const Type*>& arguments) {
    std::string signature;
    size_t first = 0;
    if (expr->target != nullptr) {
      signature = FormatType(*unifier_.Substitute(arguments[0], true)) + ".";
      first = 1;
    }
    signature += "(";
    for (size_t i = first; i < arguments.size(); ++i) {
      if (i > first) signature += ", ";
      signature += FormatType(*unifier_.Substitute(arguments[i], true));
    }
    Report(expr->id, fmt::format("found no matching overload for '{}' applied to '{})'", function.name, signature));
  }

  // The type of an element written ?x.
  const Type* UnwrapOptional(const Expr* expr, const Type* type) {
    if (IsOptionalType(*type)) return type->parameters[0];
    if (!type->is_dynamic()) ReportMismatch(expr, *checked_.pool.Optional(type), *type);
    return type;
  }

  // Mixed elements are dyn here; a validator rejects them, except as arguments of format().
  const Type* Join(const Type* previous, const Type* current) {
    if (previous == nullptr) return current;
    return unifier_.Assign(*previous, *current) ? Unifier::MostGeneral(previous, current) : &types::kDyn;
  }

  void CheckList(Expr* expr) {
    const Type* element = nullptr;
    for (size_t i = 0; i < expr->arguments.size(); ++i) {
      Expr* argument = expr->arguments[i];
      CheckExpr(argument);
      const Type* type = TypeOf(argument);
      if (expr->optionals[i]) type = UnwrapOptional(argument, type);
      element = Join(element, type);
    }
    if (element == nullptr) element = unifier_.NewVariable();
    SetType(expr, checked_.pool.List(element));
  }

  void CheckMap(Expr* expr) {
    const Type* key = nullptr;
    const Type* value = nullptr;
    for (const Entry& entry : expr->entries) {
      CheckExpr(entry.key);
      key = Join(key, TypeOf(entry.key));
      CheckExpr(entry.value);
      const Type* type = TypeOf(entry.value);
      if (entry.optional) type = UnwrapOptional(entry.value, type);
      value = Join(value, type);
    }
    if (key == nullptr) {
      key = unifier_.NewVariable();
      value = unifier_.NewVariable();
    }
    SetType(expr, checked_.pool.Map(key, value));
  }

  void CheckStruct(Expr* expr) {
    const Type* found = LookUp(expr->name);
    if (found == nullptr) {
      ReportUndeclared(expr, expr->name);
      return SetType(expr, &types::kError);
    }
    if (expr->name.starts_with('.')) expr->name.erase(0, 1);
    NewReference(expr).name = expr->name;
    const Type* type = &types::kError;
    std::string message = expr->name;
    if (found->kind != TypeKind::kType) {
      if (found->kind != TypeKind::kError) Report(expr->id, fmt::format("'{}' is not a type", found->name));
    } else if (const std::string_view name = MessageNameOf(*found->parameters[0]); !name.empty()) {
      type = found->parameters[0];
      message = name;
    } else {
      Report(expr->id, fmt::format("'{}' is not a message type", found->parameters[0]->name));
    }
    SetType(expr, type);
    for (const Entry& entry : expr->entries) {
      CheckExpr(entry.value);
      const Type* field = FieldType(entry.id, message, entry.name);
      const Type* value = TypeOf(entry.value);
      if (entry.optional) value = UnwrapOptional(entry.value, value);
      if (!unifier_.Assign(*field, *value)) {
        Report(entry.id, fmt::format("expected type of field '{}' is '{}' but provided type is '{}'", entry.name,
                                     FormatType(*field), FormatType(*value)));
      }
    }
  }

  void CheckComprehension(Expr* expr) {
    const Comprehension& loop = *expr->comprehension;
    CheckExpr(loop.range);
    CheckExpr(loop.initial);
    const Type* range = unifier_.Substitute(TypeOf(loop.range), false);
    const Type* accumulator = TypeOf(loop.initial);
    const size_t outside = locals_.size();
    locals_.emplace_back(loop.accumulator, accumulator);
    const size_t inside = locals_.size();
    DeclareLoopVariables(loop, range);
    CheckExpr(loop.condition);
    Require(loop.condition, types::kBool);
    CheckExpr(loop.step);
    Require(loop.step, *accumulator);
    locals_.resize(inside);
    CheckExpr(loop.result);
    locals_.resize(outside);
    SetType(expr, unifier_.Substitute(TypeOf(loop.result), false));
  }

  void DeclareLoopVariables(const Comprehension& loop, const Type* range) {
    const bool two = !loop.second_variable.empty();
    const Type* first = &types::kDyn;
    const Type* second = &types::kDyn;
    switch (range->kind) {
      case TypeKind::kList:
        first = two ? &types::kInt : range->parameters[0];
        second = range->parameters[0];
        break;
      case TypeKind::kMap:
        first = range->parameters[0];
        second = range->parameters[1];
        break;
      case TypeKind::kDyn:
      case TypeKind::kError:
      case TypeKind::kParameter:
        unifier_.Assign(types::kDyn, *range);
        break;
      default:
        Report(loop.range->id,
               fmt::format("expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                           FormatType(*range)));
        first = second = &types::kError;
    }
    locals_.emplace_back(loop.variable, first);
    if (two) locals_.emplace_back(loop.second_variable, second);
  }

  void Require(const Expr* expr, const Type& type) {
    if (!unifier_.Assign(type, *TypeOf(expr))) ReportMismatch(expr, type, *TypeOf(expr));
  }

  Ast& ast_;
  const Environment& environment_;
  Issues& issues_;
  Checked& checked_;
  Unifier unifier_;
  std::vector<std::pair<std::string, const Type*>> locals_;
};

}  // namespace

std::unique_ptr<Checked> Check(Ast& ast, const Environment& environment, Issues& issues) {
  auto checked = std::make_unique<Checked>();
  try {
    Checker(ast, environment, issues, *checked).Run();
  } catch (const TypesTooComplex&) {
    issues.Add({}, "expression is too complex to be checked");
  }
  return checked;
}

}  // namespace berth::cel
