#include "cel/testing/unparse.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "cel/go_text.h"

namespace berth::cel {
namespace {

struct Binary {
  std::string_view function;
  std::string_view text;
  int precedence;
};

constexpr Binary kBinaries[] = {
    {operators::kOr, "||", 1},         {operators::kAnd, "&&", 2},       {operators::kLess, "<", 3},
    {operators::kLessEquals, "<=", 3}, {operators::kGreater, ">", 3},    {operators::kGreaterEquals, ">=", 3},
    {operators::kEquals, "==", 3},     {operators::kNotEquals, "!=", 3}, {operators::kIn, "in", 3},
    {operators::kAdd, "+", 4},         {operators::kSubtract, "-", 4},   {operators::kMultiply, "*", 5},
    {operators::kDivide, "/", 5},      {operators::kModulo, "%", 5},
};
constexpr int kTernary = 0;
constexpr int kUnary = 6;
constexpr int kMember = 7;

const Binary* FindBinary(const Expr& expr) {
  if (expr.kind != ExprKind::kCall || expr.macro != nullptr || expr.target != nullptr) return nullptr;
  for (const Binary& binary : kBinaries) {
    if (binary.function == expr.name && expr.arguments.size() == 2) return &binary;
  }
  return nullptr;
}

std::string QuoteLiteral(std::string_view text, bool bytes) {
  std::string out = bytes ? "b\"" : "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F || (bytes && byte >= 0x80)) {
      // Code points in a string, bytes in bytes: below 0x80 they are the same.
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string PrintDouble(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  // "1e22" prints with a sign in between, which is fine; "1.e5" is never printed.
  return text;
}

std::string PrintLiteral(const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::kNull:
      return "null";
    case Literal::Kind::kBool:
      return literal.boolean ? "true" : "false";
    case Literal::Kind::kInt:
      return fmt::format("{}", literal.integer);
    case Literal::Kind::kUint:
      return fmt::format("{}u", static_cast<uint64_t>(literal.integer));
    case Literal::Kind::kDouble:
      return PrintDouble(literal.number);
    case Literal::Kind::kString:
      return QuoteLiteral(literal.text, false);
    case Literal::Kind::kBytes:
      return QuoteLiteral(literal.text, true);
  }
  return "";
}

class Printer {
 public:
  std::string Print(const Expr& expr, int lowest) {
    const int precedence = PrecedenceOf(expr);
    std::string text = PrintBare(expr);
    return precedence < lowest ? "(" + text + ")" : text;
  }

 private:
  static int PrecedenceOf(const Expr& expr) {
    if (expr.macro != nullptr || expr.kind != ExprKind::kCall || expr.target != nullptr) return kMember;
    if (expr.name == operators::kConditional) return kTernary;
    if (expr.name == operators::kNot || expr.name == operators::kNegate) return kUnary;
    if (const Binary* binary = FindBinary(expr); binary != nullptr) return binary->precedence;
    return kMember;
  }

  std::string PrintBare(const Expr& expr) {
    if (expr.macro != nullptr) return PrintMacro(*expr.macro);
    switch (expr.kind) {
      case ExprKind::kLiteral:
        return PrintLiteral(expr.literal);
      case ExprKind::kIdent:
        return expr.name;
      case ExprKind::kSelect:
        return Print(*expr.target, kMember) + "." + expr.name;
      case ExprKind::kCall:
        return PrintCall(expr);
      case ExprKind::kList:
        return PrintList(expr);
      case ExprKind::kMap:
        return "{" + PrintEntries(expr) + "}";
      case ExprKind::kStruct:
        return expr.name + "{" + PrintEntries(expr) + "}";
      default:
        return "";
    }
  }

  std::string PrintMacro(const MacroCall& macro) {
    const std::string target = macro.target == nullptr ? "" : Print(*macro.target, kMember) + ".";
    return target + macro.function + "(" + PrintArguments(macro.arguments) + ")";
  }

  std::string PrintArguments(const std::vector<Expr*>& arguments) {
    std::string text;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (i > 0) text += ", ";
      text += Print(*arguments[i], kTernary);
    }
    return text;
  }

  std::string PrintList(const Expr& expr) {
    std::string text = "[";
    for (size_t i = 0; i < expr.arguments.size(); ++i) {
      if (i > 0) text += ", ";
      if (expr.optionals[i]) text += "?";
      text += Print(*expr.arguments[i], kTernary);
    }
    return text + "]";
  }

  std::string PrintEntries(const Expr& expr) {
    std::string text;
    for (const Entry& entry : expr.entries) {
      if (!text.empty()) text += ", ";
      if (entry.optional) text += "?";
      text += entry.key == nullptr ? entry.name : Print(*entry.key, kTernary);
      text += ": " + Print(*entry.value, kTernary);
    }
    return text;
  }

  // The operand of ! and -. A negative number must not merge with the minus before it.
  std::string PrintOperand(const Expr& expr) {
    const std::string text = Print(expr, kMember);
    return text.starts_with('-') || (text[0] >= '0' && text[0] <= '9') || text[0] == '.' ? "(" + text + ")" : text;
  }

  std::string PrintCall(const Expr& expr) {
    const std::vector<Expr*>& arguments = expr.arguments;
    if (expr.target != nullptr) {
      return Print(*expr.target, kMember) + "." + expr.name + "(" + PrintArguments(arguments) + ")";
    }
    if (expr.name == operators::kConditional) {
      return Print(*arguments[0], 1) + " ? " + Print(*arguments[1], 1) + " : " + Print(*arguments[2], kTernary);
    }
    if (expr.name == operators::kNot) return "!" + PrintOperand(*arguments[0]);
    if (expr.name == operators::kNegate) return "-" + PrintOperand(*arguments[0]);
    if (expr.name == operators::kIndex) {
      return Print(*arguments[0], kMember) + "[" + Print(*arguments[1], kTernary) + "]";
    }
    if (expr.name == operators::kOptionalIndex) {
      return Print(*arguments[0], kMember) + "[?" + Print(*arguments[1], kTernary) + "]";
    }
    if (expr.name == operators::kOptionalSelect) {
      return Print(*arguments[0], kMember) + ".?" + arguments[1]->literal.text;
    }
    if (const Binary* binary = FindBinary(expr); binary != nullptr) {
      // The parser balances && and ||, so parentheses keep their shape. The others are left-associative.
      const bool balanced = binary->precedence <= 2;
      const int left = balanced ? binary->precedence + 1 : binary->precedence;
      return fmt::format("{} {} {}", Print(*arguments[0], left), binary->text,
                         Print(*arguments[1], binary->precedence + 1));
    }
    return expr.name + "(" + PrintArguments(arguments) + ")";
  }
};

bool IsSameLiteral(const Literal& a, const Literal& b) {
  return a.kind == b.kind && a.boolean == b.boolean && a.integer == b.integer && a.text == b.text &&
         std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number);
}

bool IsSamePart(const Expr* a, const Expr* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return IsSameTree(*a, *b);
}

bool IsSameLoop(const Comprehension& a, const Comprehension& b) {
  return a.variable == b.variable && a.second_variable == b.second_variable && a.accumulator == b.accumulator &&
         IsSamePart(a.range, b.range) && IsSamePart(a.initial, b.initial) && IsSamePart(a.condition, b.condition) &&
         IsSamePart(a.step, b.step) && IsSamePart(a.result, b.result);
}

}  // namespace

std::string Unparse(const Expr& expr) { return Printer().Print(expr, kTernary); }

bool IsSameTree(const Expr& a, const Expr& b) {
  if (a.kind != b.kind || a.test_only != b.test_only || a.name != b.name || !IsSameLiteral(a.literal, b.literal)) {
    return false;
  }
  if (!IsSamePart(a.target, b.target) || a.arguments.size() != b.arguments.size() || a.optionals != b.optionals ||
      a.entries.size() != b.entries.size()) {
    return false;
  }
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    if (!IsSameTree(*a.arguments[i], *b.arguments[i])) return false;
  }
  for (size_t i = 0; i < a.entries.size(); ++i) {
    const Entry& x = a.entries[i];
    const Entry& y = b.entries[i];
    if (x.name != y.name || x.optional != y.optional || !IsSamePart(x.key, y.key) || !IsSamePart(x.value, y.value)) {
      return false;
    }
  }
  if ((a.comprehension == nullptr) != (b.comprehension == nullptr)) return false;
  return a.comprehension == nullptr || IsSameLoop(*a.comprehension, *b.comprehension);
}

}  // namespace berth::cel
