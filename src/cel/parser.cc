#include "cel/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cel/go_text.h"
#include "cel/lexer.h"
#include "cel/macros.h"

namespace berth::cel {
namespace {

constexpr size_t kMaxRunes = 100000;
constexpr int kMaxDepth = 250;

// Ends the parse; the issue has been added already.
struct Stop {};

constexpr std::array<std::string_view, 21> kReserved = {
    "as",  "break", "const",   "continue",  "else", "false",  "for",  "function", "if",   "import", "in",
    "let", "loop",  "package", "namespace", "null", "return", "true", "var",      "void", "while"};

bool IsReserved(std::string_view name) {
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

class Parser {
 public:
  Parser(Ast& ast, Issues& issues) : ast_(ast), issues_(issues), macros_(ast) {}

  void Run(bool* syntax_error) {
    const size_t size = ast_.source().runes().size();
    if (size > kMaxRunes) {
      issues_.Add({}, fmt::format("expression code point size exceeds limit: size: {}, limit {}", size, kMaxRunes));
      return;
    }
    tokens_ = Lex(ast_.source(), issues_);
    *syntax_error = !issues_.empty();
    try {
      Expr* root = ParseExpr();
      if (!At(Token::kEnd)) Unexpected("<EOF>");
      if (root->height > kMaxDepth) issues_.Add({}, "max recursion depth exceeded");
      ast_.set_root(root);
    } catch (const Stop&) {
      *syntax_error = *syntax_error || syntax_error_;
    } catch (const TooManyNodes&) {
      issues_.Add({}, "expression size limit exceeded: macros expand to too many nodes");
    }
  }

 private:
  // Counts one more nesting level of a grammar rule during its lifetime.
  class Level {
   public:
    explicit Level(Parser& parser, int& depth) : depth_(depth) {
      if (++depth_ > kMaxDepth) {
        parser.issues_.Add({}, fmt::format("expression recursion limit exceeded: {}", kMaxDepth));
        throw Stop{};
      }
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  const LexedToken& Now() const { return tokens_[at_]; }
  const LexedToken& Ahead(size_t count) const { return tokens_[std::min(at_ + count, tokens_.size() - 1)]; }
  bool At(Token token) const { return Now().token == token; }
  const LexedToken& Take() { return tokens_[At(Token::kEnd) ? at_ : at_++]; }
  bool TakeIf(Token token) {
    if (!At(token)) return false;
    Take();
    return true;
  }
  std::string TextOf(const LexedToken& token) const {
    return EncodeRunes(
        ast_.source().runes().substr(static_cast<size_t>(token.offset), static_cast<size_t>(token.length)));
  }

  [[noreturn]] void Unexpected(std::string_view wanted) {
    syntax_error_ = true;
    const std::string found = At(Token::kEnd) ? "<EOF>" : TextOf(Now());
    issues_.Add(ast_.source().LocationOf(Now().offset),
                fmt::format("Syntax error: mismatched input '{}' expecting {}", found, wanted));
    throw Stop{};
  }
  const LexedToken& Expect(Token token, std::string_view wanted) {
    if (!At(token)) Unexpected(wanted);
    return Take();
  }

  int IdAt(const LexedToken& token) { return ast_.NewId(token.offset); }
  Expr* New(ExprKind kind, const LexedToken& token) { return ast_.NewExpr(kind, IdAt(token)); }
  Expr* Report(int offset, std::string message) {
    issues_.Add(ast_.source().LocationOf(offset), std::move(message));
    return ast_.NewExpr(ExprKind::kUnspecified, ast_.NewId(offset));
  }

  static int MaxHeight(const std::vector<Expr*>& list) {
    int height = 0;
    for (const Expr* expr : list) height = std::max(height, expr->height);
    return height;
  }

  Expr* NewCall(int id, std::string_view function, std::vector<Expr*> arguments, int extra) {
    Expr* call = ast_.NewExpr(ExprKind::kCall, id);
    call->name = function;
    call->height = MaxHeight(arguments) + extra;
    call->arguments = std::move(arguments);
    return call;
  }

  Expr* ParseExpr() {
    const Level level(*this, expr_depth_);
    Expr* condition = ParseOr();
    if (!At(Token::kQuestion)) return condition;
    const int id = IdAt(Take());
    Expr* if_true = ParseOr();
    Expect(Token::kColon, "':'");
    Expr* if_false = ParseExpr();
    return NewCall(id, operators::kConditional, {condition, if_true, if_false}, 1);
  }

  Expr* ParseOr() {
    std::vector<Expr*> terms = {ParseAnd()};
    std::vector<int> ids;
    while (At(Token::kOr)) {
      const LexedToken& token = Take();
      terms.push_back(ParseAnd());
      ids.push_back(IdAt(token));
    }
    return Balance(operators::kOr, terms, ids);
  }

  Expr* ParseAnd() {
    std::vector<Expr*> terms = {ParseRelation()};
    std::vector<int> ids;
    while (At(Token::kAnd)) {
      const LexedToken& token = Take();
      terms.push_back(ParseRelation());
      ids.push_back(IdAt(token));
    }
    return Balance(operators::kAnd, terms, ids);
  }

  Expr* Balance(std::string_view function, const std::vector<Expr*>& terms, const std::vector<int>& ids) {
    if (terms.size() == 1) return terms[0];
    return Balance(function, terms, ids, 0, ids.size() - 1);
  }

  // A tree of logarithmic depth, shaped as upstream's.
  Expr* Balance(std::string_view function, const std::vector<Expr*>& terms, const std::vector<int>& ids, size_t low,
                size_t high) {
    const size_t middle = (low + high + 1) / 2;
    Expr* left = middle == low ? terms[middle] : Balance(function, terms, ids, low, middle - 1);
    Expr* right = middle == high ? terms[middle + 1] : Balance(function, terms, ids, middle + 1, high);
    return NewCall(ids[middle], function, {left, right}, 0);
  }

  static std::string_view RelationOf(Token token) {
    switch (token) {
      case Token::kLess:
        return operators::kLess;
      case Token::kLessEqual:
        return operators::kLessEquals;
      case Token::kGreater:
        return operators::kGreater;
      case Token::kGreaterEqual:
        return operators::kGreaterEquals;
      case Token::kEqual:
        return operators::kEquals;
      case Token::kNotEqual:
        return operators::kNotEquals;
      case Token::kIn:
        return operators::kIn;
      default:
        return {};
    }
  }

  Expr* ParseRelation() {
    const Level level(*this, relation_depth_);
    Expr* left = ParseCalculation(1);
    for (std::string_view function; !(function = RelationOf(Now().token)).empty();) {
      const int id = IdAt(Take());
      const Level right_level(*this, relation_depth_);
      Expr* right = ParseCalculation(1);
      left = NewCall(id, function, {left, right}, 1);
    }
    return left;
  }

  static std::string_view CalculationOf(Token token, int* precedence) {
    *precedence = 2;
    switch (token) {
      case Token::kStar:
        return operators::kMultiply;
      case Token::kSlash:
        return operators::kDivide;
      case Token::kPercent:
        return operators::kModulo;
      default:
        break;
    }
    *precedence = 1;
    if (token == Token::kPlus) return operators::kAdd;
    if (token == Token::kMinus) return operators::kSubtract;
    *precedence = 0;
    return {};
  }

  Expr* ParseCalculation(int lowest) {
    const Level level(*this, calculation_depth_);
    Expr* left = ParseUnary();
    for (;;) {
      int precedence = 0;
      const std::string_view function = CalculationOf(Now().token, &precedence);
      if (function.empty() || precedence < lowest) return left;
      const int id = IdAt(Take());
      Expr* right = ParseCalculation(precedence + 1);
      left = NewCall(id, function, {left, right}, 1);
    }
  }

  bool AtNumber(size_t ahead) const {
    return Ahead(ahead).token == Token::kInt || Ahead(ahead).token == Token::kDouble;
  }

  Expr* ParseUnary() {
    const Token sign = Now().token;
    if (sign != Token::kNot && sign != Token::kMinus) return ParseMember();
    // A minus right before a number belongs to the number.
    if (sign == Token::kMinus && AtNumber(1)) return ParseMember();
    const LexedToken& first = Now();
    size_t count = 0;
    while (At(sign)) {
      Take();
      ++count;
    }
    if (count % 2 == 0) return ParseMember();
    const int id = IdAt(first);
    Expr* operand = ParseMember();
    return NewCall(id, sign == Token::kNot ? operators::kNot : operators::kNegate, {operand}, 0);
  }

  Expr* ParseMember() {
    // Only a plain chain of names can turn out to be the name of a type: a.b.C{…}.
    bool names_only = false;
    const LexedToken& start = Now();
    Expr* expr = ParsePrimary(&names_only);
    for (;;) {
      if (At(Token::kDot)) {
        expr = ParseDot(expr, &names_only);
      } else if (At(Token::kLeftBracket)) {
        names_only = false;
        expr = ParseIndex(expr);
      } else if (At(Token::kLeftBrace) && names_only) {
        names_only = false;
        expr = ParseStruct(expr, start);
      } else {
        return expr;
      }
    }
  }

  Expr* ParseDot(Expr* operand, bool* names_only) {
    const LexedToken& dot = Take();
    const bool optional = TakeIf(Token::kQuestion);
    if (!At(Token::kIdentifier) && !At(Token::kEscapedIdentifier)) Unexpected("IDENTIFIER");
    const LexedToken& name = Take();
    const bool escaped = name.token == Token::kEscapedIdentifier;
    if (!optional && !escaped && At(Token::kLeftParen)) {
      *names_only = false;
      const int id = IdAt(Take());
      std::vector<Expr*> arguments = ParseArguments();
      return CallOrMacro(id, TextOf(name), operand, std::move(arguments));
    }
    *names_only = *names_only && !optional && !escaped;
    if (escaped) Report(name.offset, "unsupported syntax: '`'");
    const std::string field = escaped ? std::string() : TextOf(name);
    if (optional) {
      const int id = IdAt(dot);
      Expr* literal = New(ExprKind::kLiteral, name);
      literal->literal.kind = Literal::Kind::kString;
      literal->literal.text = field;
      return NewCall(id, operators::kOptionalSelect, {operand, literal}, 1);
    }
    Expr* select = New(ExprKind::kSelect, dot);
    select->target = operand;
    select->name = field;
    select->height = operand->height + 1;
    return select;
  }

  Expr* ParseIndex(Expr* operand) {
    const int id = IdAt(Take());
    const bool optional = TakeIf(Token::kQuestion);
    Expr* index = ParseExpr();
    Expect(Token::kRightBracket, "']'");
    return NewCall(id, optional ? operators::kOptionalIndex : operators::kIndex, {operand, index}, 1);
  }

  std::vector<Expr*> ParseArguments() {
    std::vector<Expr*> arguments;
    if (TakeIf(Token::kRightParen)) return arguments;
    do {
      arguments.push_back(ParseExpr());
    } while (TakeIf(Token::kComma));
    Expect(Token::kRightParen, "')'");
    return arguments;
  }

  Expr* CallOrMacro(int id, const std::string& function, Expr* target, std::vector<Expr*> arguments) {
    int height = MaxHeight(arguments);
    if (target != nullptr) height = std::max(height, target->height) + 1;
    MacroExpander::Expansion expansion = macros_.Expand(id, function, target, arguments);
    Expr* expr = expansion.expr;
    if (expr != nullptr) {
      expr->macro = std::make_unique<MacroCall>(MacroCall{function, target, std::move(arguments)});
    } else if (!expansion.message.empty()) {
      expr = Report(ast_.OffsetOf(expansion.error_id), std::move(expansion.message));
    } else {
      expr = ast_.NewExpr(ExprKind::kCall, id);
      expr->name = function;
      expr->target = target;
      expr->arguments = std::move(arguments);
    }
    expr->height = height;
    return expr;
  }

  Expr* ParsePrimary(bool* names_only) {
    switch (Now().token) {
      case Token::kDot:
      case Token::kIdentifier:
        return ParseName(names_only);
      case Token::kLeftParen: {
        Take();
        Expr* expr = ParseExpr();
        Expect(Token::kRightParen, "')'");
        return expr;
      }
      case Token::kLeftBracket:
        return ParseList();
      case Token::kLeftBrace:
        return ParseMap();
      default:
        return ParseLiteral();
    }
  }

  Expr* ParseName(bool* names_only) {
    const LexedToken& start = Now();
    const bool leading_dot = TakeIf(Token::kDot);
    const LexedToken& token = Expect(Token::kIdentifier, "IDENTIFIER");
    const std::string name = TextOf(token);
    const bool call = At(Token::kLeftParen);
    // A reserved word may still be part of the name of a type.
    const bool reserved = IsReserved(name) && !IsStructAhead();
    const std::string full = (leading_dot ? "." : "") + name;
    if (call) {
      const LexedToken& paren = Take();
      const int id = IdAt(paren);
      std::vector<Expr*> arguments = ParseArguments();
      if (reserved) return Report(start.offset, fmt::format("reserved identifier: {}", name));
      return CallOrMacro(id, full, nullptr, std::move(arguments));
    }
    if (reserved) return Report(start.offset, fmt::format("reserved identifier: {}", name));
    *names_only = true;
    Expr* expr = New(ExprKind::kIdent, token);
    expr->name = full;
    return expr;
  }

  // Whether .name.name{ follows.
  bool IsStructAhead() const {
    size_t ahead = 0;
    while (Ahead(ahead).token == Token::kDot && Ahead(ahead + 1).token == Token::kIdentifier) ahead += 2;
    return Ahead(ahead).token == Token::kLeftBrace;
  }

  Expr* ParseList() {
    const LexedToken& start = Take();
    Expr* list = New(ExprKind::kList, start);
    while (!At(Token::kRightBracket) && !At(Token::kComma)) {
      list->optionals.push_back(TakeIf(Token::kQuestion));
      list->arguments.push_back(ParseExpr());
      if (!At(Token::kComma) || Ahead(1).token == Token::kRightBracket) break;
      Take();
    }
    TakeIf(Token::kComma);
    Expect(Token::kRightBracket, "']'");
    list->height = MaxHeight(list->arguments);
    return list;
  }

  Expr* ParseMap() {
    const LexedToken& start = Take();
    Expr* map = New(ExprKind::kMap, start);
    while (!At(Token::kRightBrace) && !At(Token::kComma)) {
      Entry entry;
      entry.optional = TakeIf(Token::kQuestion);
      entry.key = ParseExpr();
      entry.id = IdAt(Expect(Token::kColon, "':'"));
      entry.value = ParseExpr();
      map->height = std::max({map->height, entry.key->height, entry.value->height});
      map->entries.push_back(std::move(entry));
      if (!At(Token::kComma) || Ahead(1).token == Token::kRightBrace) break;
      Take();
    }
    TakeIf(Token::kComma);
    Expect(Token::kRightBrace, "'}'");
    return map;
  }

  Expr* ParseStruct(Expr* type, const LexedToken&) {
    std::string name;
    QualifiedName(*type, &name);
    const LexedToken& start = Take();
    Expr* expr = New(ExprKind::kStruct, start);
    expr->name = name;
    while (!At(Token::kRightBrace) && !At(Token::kComma)) {
      Entry entry;
      entry.optional = TakeIf(Token::kQuestion);
      if (!At(Token::kIdentifier) && !At(Token::kEscapedIdentifier)) Unexpected("IDENTIFIER");
      const LexedToken& field = Take();
      if (field.token == Token::kEscapedIdentifier) Report(start.offset, "unsupported syntax: '`'");
      entry.name = TextOf(field);
      entry.id = IdAt(Expect(Token::kColon, "':'"));
      entry.value = ParseExpr();
      expr->height = std::max(expr->height, entry.value->height);
      expr->entries.push_back(std::move(entry));
      if (!At(Token::kComma) || Ahead(1).token == Token::kRightBrace) break;
      Take();
    }
    TakeIf(Token::kComma);
    Expect(Token::kRightBrace, "'}'");
    return expr;
  }

  Expr* ParseLiteral() {
    const LexedToken& start = Now();
    const bool negative = At(Token::kMinus) && AtNumber(1);
    if (negative) Take();
    switch (Now().token) {
      case Token::kInt:
        return ParseInt(start, negative);
      case Token::kUint:
        return ParseUint();
      case Token::kDouble:
        return ParseDouble(start, negative);
      case Token::kString:
      case Token::kBytes:
        return ParseText();
      case Token::kTrue:
      case Token::kFalse: {
        Expr* expr = New(ExprKind::kLiteral, start);
        expr->literal.kind = Literal::Kind::kBool;
        expr->literal.boolean = Take().token == Token::kTrue;
        return expr;
      }
      case Token::kNull:
        return New(ExprKind::kLiteral, Take());
      default:
        Unexpected("an expression");
    }
  }

  static bool ParseMagnitude(std::string_view text, uint64_t* value) {
    if (!text.starts_with("0x")) return ParseGoUint(text, value);
    text.remove_prefix(2);
    *value = 0;
    for (const char c : text) {
      if (*value >> 60 != 0) return false;
      *value = *value << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
  }

  Expr* ParseInt(const LexedToken& start, bool negative) {
    uint64_t magnitude = 0;
    const bool good = ParseMagnitude(TextOf(Take()), &magnitude);
    const uint64_t limit = (uint64_t{1} << 63) - (negative ? 0 : 1);
    if (!good || magnitude > limit) return Report(start.offset, "invalid int literal");
    Expr* expr = New(ExprKind::kLiteral, start);
    expr->literal.kind = Literal::Kind::kInt;
    expr->literal.integer = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
    return expr;
  }

  Expr* ParseUint() {
    const LexedToken& token = Take();
    std::string text = TextOf(token);
    text.pop_back();
    uint64_t value = 0;
    if (!ParseMagnitude(text, &value)) return Report(token.offset, "invalid uint literal");
    Expr* expr = New(ExprKind::kLiteral, token);
    expr->literal.kind = Literal::Kind::kUint;
    expr->literal.integer = static_cast<int64_t>(value);
    return expr;
  }

  Expr* ParseDouble(const LexedToken& start, bool negative) {
    double value = 0;
    if (!ParseGoDouble(TextOf(Take()), &value)) return Report(start.offset, "invalid double literal");
    Expr* expr = New(ExprKind::kLiteral, start);
    expr->literal.kind = Literal::Kind::kDouble;
    expr->literal.number = negative ? -value : value;
    return expr;
  }

  Expr* ParseText() {
    const LexedToken& token = Take();
    const bool bytes = token.token == Token::kBytes;
    Expr* expr = New(ExprKind::kLiteral, token);
    expr->literal.kind = bytes ? Literal::Kind::kBytes : Literal::Kind::kString;
    std::string message;
    const std::u32string_view literal =
        ast_.source().runes().substr(static_cast<size_t>(token.offset), static_cast<size_t>(token.length));
    if (!Unquote(literal, bytes, &expr->literal.text, &message)) Report(token.offset, message);
    return expr;
  }

  Ast& ast_;
  Issues& issues_;
  MacroExpander macros_;
  std::vector<LexedToken> tokens_;
  size_t at_ = 0;
  bool syntax_error_ = false;
  int expr_depth_ = 0;
  int relation_depth_ = 0;
  int calculation_depth_ = 0;
};

}  // namespace

Parsed Parse(std::string_view text) {
  Parsed parsed;
  parsed.ast = std::make_unique<Ast>(text);
  Parser(*parsed.ast, parsed.issues).Run(&parsed.syntax_error);
  return parsed;
}

}  // namespace berth::cel
