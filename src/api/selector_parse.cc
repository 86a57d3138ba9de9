// The text forms of label selectors ("a=b,c in (x,y)") and field selectors ("spec.nodeName=n1").
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "api/field_error.h"
#include "api/label_syntax.h"
#include "api/selector.h"

namespace berth::api {
namespace {

using Operator = Requirement::Operator;

enum class TokenKind { kEnd, kIdentifier, kIn, kNotIn, kOpen, kClose, kComma, kNot, kOperator };

struct Token {
  TokenKind kind;
  std::string_view text;
};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class Lexer {
 public:
  // A zero byte ends the text early.
  explicit Lexer(std::string_view text) : rest_(text.substr(0, text.find('\0'))) {}

  Token Next() {
    while (!rest_.empty() && IsSpace(rest_[0])) rest_.remove_prefix(1);
    if (rest_.empty()) return {TokenKind::kEnd, {}};
    switch (rest_[0]) {
      case '(':
        return {TokenKind::kOpen, Take(1)};
      case ')':
        return {TokenKind::kClose, Take(1)};
      case ',':
        return {TokenKind::kComma, Take(1)};
      case '<':
      case '>':
        return {TokenKind::kOperator, Take(1)};
      case '=':
        return {TokenKind::kOperator, Take(rest_.starts_with("==") ? 2 : 1)};
      case '!':
        if (rest_.starts_with("!=")) return {TokenKind::kOperator, Take(2)};
        return {TokenKind::kNot, Take(1)};
      default:
        break;
    }
    const std::string_view word = Take(std::min(rest_.find_first_of("=!(),>< \t\r\n"), rest_.size()));
    return {word == "in" ? TokenKind::kIn : word == "notin" ? TokenKind::kNotIn : TokenKind::kIdentifier, word};
  }

 private:
  std::string_view Take(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
};

// Recursive descent with one token of lookahead. "in" and "notin" are words like any other except where an operator
// is due. The first error stops the parse; it is kept in error_.
class SelectorParser {
 public:
  explicit SelectorParser(std::string_view text) : lexer_(text), current_(lexer_.Next()) {}

  Result<std::vector<Requirement>> Parse() {
    std::vector<Requirement> requirements;
    while (PeekWord() != TokenKind::kEnd) {
      if (!AtRequirement()) return Fail(", expected: !, identifier, or 'end of string'");
      std::optional<Requirement> requirement = ParseRequirement();
      if (!requirement) return Error::InvalidArgument("unable to parse requirement: " + error_);
      requirements.push_back(*std::move(requirement));
      if (current_.kind == TokenKind::kEnd) break;
      if (current_.kind != TokenKind::kComma) return Fail(", expected: ',' or 'end of string'");
      Advance();
      if (!AtRequirement()) return Fail(", expected: identifier after ','");
    }
    return requirements;
  }

 private:
  TokenKind PeekWord() const {
    const bool keyword = current_.kind == TokenKind::kIn || current_.kind == TokenKind::kNotIn;
    return keyword ? TokenKind::kIdentifier : current_.kind;
  }
  bool AtRequirement() const { return PeekWord() == TokenKind::kIdentifier || PeekWord() == TokenKind::kNot; }
  bool AtEndOfRequirement() const { return current_.kind == TokenKind::kEnd || current_.kind == TokenKind::kComma; }
  std::string_view Advance() {
    const std::string_view text = current_.text;
    current_ = lexer_.Next();
    return text;
  }

  std::string Found(std::string_view but_expected) const {
    return fmt::format("found '{}'{}", current_.text, but_expected);
  }
  Error Fail(std::string_view but_expected) const { return Error::InvalidArgument(Found(but_expected)); }
  bool Expected(std::string_view but_expected) { return error_ = Found(but_expected), false; }

  std::optional<Requirement> ParseRequirement() {
    const bool negated = current_.kind == TokenKind::kNot;
    if (negated) Advance();
    if (PeekWord() != TokenKind::kIdentifier) return Expected(", expected: identifier"), std::nullopt;
    const std::string_view key = Advance();
    if (const auto wrong = LabelKeyProblems(key); !wrong.empty()) {
      // The key has no path of its own here, which upstream prints like this.
      error_ = InvalidField("<nil>", key, fmt::format("{}", fmt::join(wrong, "; ")));
      return std::nullopt;
    }
    if (negated) return Make(key, Operator::kDoesNotExist, {});
    if (AtEndOfRequirement()) return Make(key, Operator::kExists, {});

    const std::optional<Operator> op = ParseOperator();
    if (!op) return std::nullopt;
    std::set<Symbol> values;
    const bool listed = *op == Operator::kIn || *op == Operator::kNotIn;
    if (!(listed ? ParseValues(values) : ParseExactValue(values))) return std::nullopt;
    return Make(key, *op, {values.begin(), values.end()});
  }

  std::optional<Requirement> Make(std::string_view key, Operator op, std::vector<Symbol> values) {
    Result<Requirement> requirement = Requirement::Make(Symbol(key), op, std::move(values));
    if (!requirement) return error_ = requirement.error().message, std::nullopt;
    return *std::move(requirement);
  }

  std::optional<Operator> ParseOperator() {
    const Token token = current_;
    if (token.kind != TokenKind::kIn && token.kind != TokenKind::kNotIn && token.kind != TokenKind::kOperator) {
      return Expected(", expected: in, notin, =, ==, !=, gt, lt"), std::nullopt;
    }
    Advance();
    if (token.kind == TokenKind::kIn) return Operator::kIn;
    if (token.kind == TokenKind::kNotIn) return Operator::kNotIn;
    if (token.text == "=") return Operator::kEquals;
    if (token.text == "==") return Operator::kDoubleEquals;
    if (token.text == "!=") return Operator::kNotEquals;
    return token.text == ">" ? Operator::kGreaterThan : Operator::kLessThan;
  }

  bool ParseExactValue(std::set<Symbol>& values) {
    if (AtEndOfRequirement()) return values.emplace(), true;
    if (PeekWord() != TokenKind::kIdentifier) return Expected(", expected: identifier");
    values.emplace(Advance());
    return true;
  }

  // A list in parentheses. Nothing between two separators is the empty value: (), (,a), (a,,b).
  bool ParseValues(std::set<Symbol>& values) {
    if (current_.kind != TokenKind::kOpen) return Expected(" expected: '('");
    Advance();
    if (current_.kind == TokenKind::kClose) return Advance(), values.emplace(), true;
    if (PeekWord() != TokenKind::kIdentifier && current_.kind != TokenKind::kComma) {
      return Expected(", expected: ',', ')' or identifier");
    }
    while (true) {
      if (PeekWord() == TokenKind::kIdentifier) {
        values.emplace(Advance());
        if (current_.kind != TokenKind::kComma && current_.kind != TokenKind::kClose) {
          return Expected(", expected: ',' or ')'");
        }
      } else if (current_.kind == TokenKind::kComma) {
        Advance();
        const bool nothing_follows = current_.kind == TokenKind::kComma || current_.kind == TokenKind::kClose;
        if (values.empty() || nothing_follows) values.emplace();
      } else {
        return Expected(", expected: ',', or identifier");
      }
      if (current_.kind == TokenKind::kClose) return Advance(), true;
    }
  }

  Lexer lexer_;
  Token current_;
  std::string error_;
};

// Splits at commas that are not escaped by a backslash; the backslashes stay.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

Result<std::string> Unescape(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' || text[i] == '=') {
      return Error::InvalidArgument(
          fmt::format("invalid field selector: unescaped character in value: {}", static_cast<int>(text[i])));
    }
    if (text[i] == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '\\' && text[i] != ',' && text[i] != '=')) {
        size_t end = std::min(i + 1, text.size());
        while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
        return Error::InvalidArgument(
            fmt::format("invalid field selector: invalid escape sequence: {}", text.substr(i - 1, end - i + 1)));
      }
    }
    value += text[i];
  }
  return value;
}

std::string Escape(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') text += '\\';
    text += c;
  }
  return text;
}

}  // namespace

Result<Selector> Selector::Parse(std::string_view text) {
  Result<std::vector<Requirement>> requirements = SelectorParser(text).Parse();
  if (!requirements) return std::move(requirements).error();
  Selector selector;
  for (Requirement& requirement : *requirements) selector.Add(std::move(requirement));
  return selector;
}

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  std::vector<std::string_view> parts = SplitTerms(text);
  std::sort(parts.begin(), parts.end());
  FieldSelector selector;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    // The first operator counts: a field's name cannot contain one.
    const size_t equals = part.find('=');
    if (equals == part.npos) {
      return Error::InvalidArgument(fmt::format("invalid selector: '{}'; can't understand '{}'", text, part));
    }
    const bool negated = equals > 0 && part[equals - 1] == '!';
    const bool doubled = !negated && part.substr(equals).starts_with("==");
    Result<std::string> value = Unescape(part.substr(equals + (doubled ? 2 : 1)));
    if (!value) return std::move(value).error();
    std::string field(part.substr(0, negated ? equals - 1 : equals));
    if (field.empty() && value->empty()) continue;
    selector.terms_.push_back({std::move(field), negated, *std::move(value)});
  }
  return selector;
}

bool FieldSelector::Matches(Fields fields) const {
  return MatchesBy([fields](std::string_view name) {
    const auto it = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
    return it == fields.end() ? std::string_view() : it->second;
  });
}

bool FieldSelector::MatchesBy(const std::function<std::string_view(std::string_view)>& lookup) const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [&](const Term& term) { return (lookup(term.field) == term.value) != term.negated; });
}

std::string FieldSelector::ToString() const {
  std::string text;
  for (const Term& term : terms_) {
    if (!text.empty()) text += ',';
    text += fmt::format("{}{}{}", term.field, term.negated ? "!=" : "=", Escape(term.value));
  }
  return text;
}

}  // namespace berth::api
