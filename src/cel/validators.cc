#include "cel/validators.h"

#include <fmt/format.h>

#include "cel/format_string.h"
#include "cel/plan.h"
#include "cel/regex.h"

namespace berth::cel {
namespace {

class Validator {
 public:
  Validator(const Ast& ast, const Checked& checked, const Environment& environment, Issues& issues)
      : ast_(ast), checked_(checked), environment_(environment), issues_(issues) {}

  void Visit(const Expr* expr, bool in_format) {
    if (expr == nullptr) return;
    switch (expr->kind) {
      case ExprKind::kCall:
        CheckCall(*expr);
        in_format = in_format || expr->name == "format";
        break;
      case ExprKind::kList:
        if (!in_format) CheckList(*expr);
        break;
      case ExprKind::kMap:
        if (!in_format) CheckMap(*expr);
        break;
      default:
        break;
    }
    Visit(expr->target, in_format);
    for (const Expr* argument : expr->arguments) Visit(argument, in_format);
    for (const Entry& entry : expr->entries) {
      Visit(entry.key, in_format);
      Visit(entry.value, in_format);
    }
    if (expr->comprehension == nullptr) return;
    const Comprehension& loop = *expr->comprehension;
    for (const Expr* part : {loop.range, loop.initial, loop.condition, loop.step, loop.result}) Visit(part, in_format);
  }

 private:
  void Report(int id, std::string message) { issues_.Add(ast_.LocationOf(id), std::move(message)); }

  void CheckCall(const Expr& expr) {
    if (expr.name == "duration" || expr.name == "timestamp") {
      const Expr* argument = expr.arguments.empty() ? nullptr : expr.arguments[0];
      if (argument != nullptr && argument->kind == ExprKind::kLiteral &&
          !TryConstantCall(environment_, expr.name, argument->literal).empty()) {
        Report(argument->id, fmt::format("invalid {} argument", expr.name));
      }
    }
    if (expr.name == "matches") CheckPattern(expr);
    if (expr.name == "format" && expr.target != nullptr) CheckFormat(expr);
  }

  void CheckPattern(const Expr& expr) {
    // The first argument, even where that is the text and not the pattern: matches(text, pattern).
    const Expr* argument = expr.arguments.empty() ? nullptr : expr.arguments[0];
    if (argument == nullptr || argument->kind != ExprKind::kLiteral) return;
    if (argument->literal.kind != Literal::Kind::kString) return;
    if (!Regex::Compile(argument->literal.text)) Report(argument->id, "invalid matches argument");
  }

  const Type* TypeOf(const Expr* expr, bool optional) const {
    const Type* type = checked_.TypeOf(*expr);
    return optional && !type->parameters.empty() ? type->parameters[0] : type;
  }

  // Reports and returns false if the types differ.
  bool RequireSame(const Type*& previous, const Type* type, int id) {
    if (previous == nullptr) {
      previous = type;
      return true;
    }
    if (IsEquivalentType(*previous, *type)) return true;
    Report(id, fmt::format("expected type '{}' but found '{}'", FormatType(*previous), FormatType(*type)));
    return false;
  }

  void CheckList(const Expr& expr) {
    const Type* element = nullptr;
    for (size_t i = 0; i < expr.arguments.size(); ++i) {
      if (!RequireSame(element, TypeOf(expr.arguments[i], expr.optionals[i]), expr.arguments[i]->id)) return;
    }
  }

  void CheckMap(const Expr& expr) {
    const Type* key = nullptr;
    const Type* value = nullptr;
    for (const Entry& entry : expr.entries) {
      RequireSame(key, TypeOf(entry.key, false), entry.key->id);
      RequireSame(value, TypeOf(entry.value, entry.optional), entry.value->id);
    }
  }

  bool HasKind(const Expr* expr, std::initializer_list<TypeKind> kinds) const {
    const TypeKind kind = checked_.TypeOf(*expr)->kind;
    if (kind == TypeKind::kDyn) return true;
    for (const TypeKind allowed : kinds) {
      if (kind == allowed) return true;
    }
    return false;
  }

  // The first part of the argument that %s cannot print; null if there is none.
  const Expr* FindUnprintable(const Expr* expr) const {
    const bool printable = HasKind(expr, {TypeKind::kList, TypeKind::kMap, TypeKind::kInt, TypeKind::kUint,
                                          TypeKind::kDouble, TypeKind::kBool, TypeKind::kString, TypeKind::kTimestamp,
                                          TypeKind::kBytes, TypeKind::kDuration, TypeKind::kType, TypeKind::kNull});
    if (!printable) return expr;
    if (expr->kind == ExprKind::kList) {
      for (const Expr* element : expr->arguments) {
        if (const Expr* bad = FindUnprintable(element); bad != nullptr) return bad;
      }
    }
    if (expr->kind == ExprKind::kMap) {
      for (const Entry& entry : expr->entries) {
        if (const Expr* bad = FindUnprintable(entry.key); bad != nullptr) return bad;
        if (const Expr* bad = FindUnprintable(entry.value); bad != nullptr) return bad;
      }
    }
    return nullptr;
  }

  const Expr* FindUnformattable(char letter, const Expr* argument) const {
    switch (letter) {
      case 's':
        return FindUnprintable(argument);
      case 'f':
      case 'e':
        return HasKind(argument, {TypeKind::kDouble, TypeKind::kString}) ? nullptr : argument;
      case 'b':
        return HasKind(argument, {TypeKind::kInt, TypeKind::kUint, TypeKind::kBool}) ? nullptr : argument;
      case 'x':
      case 'X':
        return HasKind(argument, {TypeKind::kInt, TypeKind::kUint, TypeKind::kString, TypeKind::kBytes}) ? nullptr
                                                                                                         : argument;
      default:
        return HasKind(argument, {TypeKind::kInt, TypeKind::kUint}) ? nullptr : argument;
    }
  }

  void CheckFormat(const Expr& expr) {
    const Expr* text = expr.target;
    if (text->kind != ExprKind::kLiteral || text->literal.kind != Literal::Kind::kString) return;
    if (expr.arguments.size() != 1 || expr.arguments[0]->kind != ExprKind::kList) return;
    const std::vector<Expr*>& arguments = expr.arguments[0]->arguments;
    int64_t seen = 0;
    int where = expr.id;
    Result<std::string> walked = WalkFormatString(
        text->literal.text,
        [&](int64_t index) -> Result<void> {
          ++seen;
          // A percent sign at the end is reported first.
          (void)index;
          return {};
        },
        [&](int64_t index, FormatClause clause) -> Result<std::string> {
          const Expr* bad = FindUnformattable(clause.letter, arguments[static_cast<size_t>(index)]);
          if (bad == nullptr) return std::string();
          where = bad->id;
          return Error::InvalidArgument(FormatTypeMessage(clause.letter, checked_.TypeOf(*bad)->name));
        },
        static_cast<int64_t>(arguments.size()));
    if (!walked) return Report(where, walked.error().message);
    if (static_cast<int64_t>(arguments.size()) > seen) {
      Report(expr.id,
             fmt::format("too many arguments supplied to string.format (expected {}, got {})", seen, arguments.size()));
    }
  }

  const Ast& ast_;
  const Checked& checked_;
  const Environment& environment_;
  Issues& issues_;
};

}  // namespace

void Validate(const Ast& ast, const Checked& checked, const Environment& environment, Issues& issues) {
  Validator(ast, checked, environment, issues).Visit(ast.root(), false);
}

}  // namespace berth::cel
