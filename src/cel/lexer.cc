#include "cel/lexer.h"

#include <fmt/format.h>

#include "cel/go_text.h"

namespace berth::cel {
namespace {

bool IsLetter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char32_t c) { return c >= '0' && c <= '9'; }
bool IsHex(char32_t c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Lexer {
 public:
  Lexer(const Source& source, Issues& issues) : source_(source), text_(source.runes()), issues_(issues) {}

  std::vector<LexedToken> Run() {
    while (SkipBlank(), at_ < text_.size()) {
      if (!LexWord() && !LexNumber() && !LexText() && !LexOperator()) Reject();
    }
    tokens_.push_back({Token::kEnd, static_cast<int>(text_.size()), 0});
    return std::move(tokens_);
  }

 private:
  char32_t Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0; }

  void Emit(Token token, size_t length) {
    tokens_.push_back({token, static_cast<int>(at_), static_cast<int>(length)});
    at_ += length;
  }

  void Reject() {
    std::string what;
    AppendRune(what, text_[at_]);
    issues_.Add(source_.LocationOf(static_cast<int>(at_)),
                fmt::format("Syntax error: token recognition error at: '{}'", what));
    ++at_;
  }

  void SkipBlank() {
    for (;;) {
      const char32_t c = Peek();
      if (at_ < text_.size() && (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f')) {
        ++at_;
      } else if (c == '/' && Peek(1) == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  // Identifiers, keywords; also `escaped`. A string prefix (r, b; rb is none) is left to LexText.
  bool LexWord() {
    if (Peek() == '`') return LexEscapedIdentifier();
    if (!IsLetter(Peek()) || TextStart() > 0) return false;
    size_t length = 1;
    while (IsLetter(Peek(length)) || IsDigit(Peek(length))) ++length;
    const std::u32string_view word = text_.substr(at_, length);
    Token token = Token::kIdentifier;
    if (word == U"in") token = Token::kIn;
    if (word == U"true") token = Token::kTrue;
    if (word == U"false") token = Token::kFalse;
    if (word == U"null") token = Token::kNull;
    Emit(token, length);
    return true;
  }

  bool LexEscapedIdentifier() {
    size_t length = 1;
    const auto allowed = [](char32_t c) {
      return IsLetter(c) || IsDigit(c) || c == '.' || c == '-' || c == '/' || c == ' ';
    };
    while (allowed(Peek(length))) ++length;
    if (length == 1 || Peek(length) != '`') return false;
    Emit(Token::kEscapedIdentifier, length + 1);
    return true;
  }

  size_t Digits(size_t from) const {
    size_t count = 0;
    while (IsDigit(Peek(from + count))) ++count;
    return count;
  }

  // Length of an exponent at `from`, 0 if there is none.
  size_t Exponent(size_t from) const {
    if (Peek(from) != 'e' && Peek(from) != 'E') return 0;
    const size_t sign = Peek(from + 1) == '+' || Peek(from + 1) == '-' ? 1 : 0;
    const size_t digits = Digits(from + 1 + sign);
    return digits == 0 ? 0 : 1 + sign + digits;
  }

  bool LexNumber() {
    if (!IsDigit(Peek()) && !(Peek() == '.' && IsDigit(Peek(1)))) return false;
    if (Peek() == '0' && Peek(1) == 'x' && IsHex(Peek(2))) {
      size_t length = 2;
      while (IsHex(Peek(length))) ++length;
      return EmitInteger(length);
    }
    size_t length = Digits(0);
    bool fraction = false;
    if (Peek(length) == '.' && Digits(length + 1) > 0) {
      length += 1 + Digits(length + 1);
      fraction = true;
    }
    const size_t exponent = Exponent(length);
    if (!fraction && exponent == 0) return EmitInteger(length);
    Emit(Token::kDouble, length + exponent);
    return true;
  }

  bool EmitInteger(size_t length) {
    if (Peek(length) == 'u' || Peek(length) == 'U') {
      Emit(Token::kUint, length + 1);
    } else {
      Emit(Token::kInt, length);
    }
    return true;
  }

  // Offset of the opening quote if a string or bytes literal starts here with a prefix; 0 if not.
  size_t TextStart() const {
    size_t prefix = 0;
    if (Peek() == 'b' || Peek() == 'B') ++prefix;
    if (Peek(prefix) == 'r' || Peek(prefix) == 'R') ++prefix;
    return prefix > 0 && (Peek(prefix) == '"' || Peek(prefix) == '\'') ? prefix : 0;
  }

  bool LexText() {
    const size_t prefix = TextStart();
    const char32_t quote = Peek(prefix);
    if (quote != '"' && quote != '\'') return false;
    const bool bytes = prefix > 0 && (Peek() == 'b' || Peek() == 'B');
    const bool raw = prefix > (bytes ? 1u : 0u);
    // The longest literal counts: """ opens a long string if it is closed, otherwise "" is an empty one.
    size_t length = 0;
    if (Peek(prefix + 1) == quote && Peek(prefix + 2) == quote) length = LongText(prefix + 3, quote, raw);
    if (length == 0) length = ShortText(prefix + 1, quote, raw);
    if (length == 0) return false;
    Emit(bytes ? Token::kBytes : Token::kString, length);
    return true;
  }

  size_t ShortText(size_t from, char32_t quote, bool raw) const {
    for (size_t i = from; at_ + i < text_.size();) {
      const char32_t c = Peek(i);
      if (c == quote) return i + 1;
      if (c == '\n' || c == '\r') return 0;
      if (c == '\\' && !raw) {
        const size_t escape = EscapeLength(i);
        if (escape == 0) return 0;
        i += escape;
      } else {
        ++i;
      }
    }
    return 0;
  }

  size_t LongText(size_t from, char32_t quote, bool raw) const {
    for (size_t i = from; at_ + i < text_.size();) {
      if (Peek(i) == quote && Peek(i + 1) == quote && Peek(i + 2) == quote) return i + 3;
      if (Peek(i) == '\\' && !raw) {
        const size_t escape = EscapeLength(i);
        if (escape == 0) return 0;
        i += escape;
      } else {
        ++i;
      }
    }
    return 0;
  }

  size_t EscapeLength(size_t at) const {
    const char32_t c = Peek(at + 1);
    const auto all_hex = [&](size_t count) {
      for (size_t i = 0; i < count; ++i) {
        if (!IsHex(Peek(at + 2 + i))) return false;
      }
      return true;
    };
    switch (c) {
      case 'a':
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
      case 'v':
      case '"':
      case '\'':
      case '\\':
      case '?':
      case '`':
        return 2;
      case 'x':
      case 'X':
        return all_hex(2) ? 4 : 0;
      case 'u':
        return all_hex(4) ? 6 : 0;
      case 'U':
        return all_hex(8) ? 10 : 0;
      default:
        break;
    }
    const auto octal = [](char32_t digit) { return digit >= '0' && digit <= '7'; };
    return c >= '0' && c <= '3' && octal(Peek(at + 2)) && octal(Peek(at + 3)) ? 4 : 0;
  }

  bool LexOperator() {
    struct Operator {
      std::u32string_view text;
      Token token;
    };
    static constexpr Operator kOperators[] = {
        {U"==", Token::kEqual},        {U"!=", Token::kNotEqual},  {U"<=", Token::kLessEqual},
        {U">=", Token::kGreaterEqual}, {U"&&", Token::kAnd},       {U"||", Token::kOr},
        {U"<", Token::kLess},          {U">", Token::kGreater},    {U"[", Token::kLeftBracket},
        {U"]", Token::kRightBracket},  {U"{", Token::kLeftBrace},  {U"}", Token::kRightBrace},
        {U"(", Token::kLeftParen},     {U")", Token::kRightParen}, {U".", Token::kDot},
        {U",", Token::kComma},         {U"-", Token::kMinus},      {U"!", Token::kNot},
        {U"?", Token::kQuestion},      {U":", Token::kColon},      {U"+", Token::kPlus},
        {U"*", Token::kStar},          {U"/", Token::kSlash},      {U"%", Token::kPercent},
    };
    for (const Operator& candidate : kOperators) {
      if (text_.substr(at_, candidate.text.size()) == candidate.text) {
        Emit(candidate.token, candidate.text.size());
        return true;
      }
    }
    return false;
  }

  const Source& source_;
  std::u32string_view text_;
  Issues& issues_;
  size_t at_ = 0;
  std::vector<LexedToken> tokens_;
};

uint32_t HexValue(std::u32string_view digits) {
  uint32_t value = 0;
  for (const char32_t c : digits) {
    value = value << 4 | static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

char SimpleEscape(char32_t c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return static_cast<char>(c);  // quotes, backslash, question mark, backtick
  }
}

// One escape at the start of `rest`. The lexer has checked its form.
bool UnescapeOne(std::u32string_view& rest, bool bytes, std::string* value, std::string* message) {
  const char32_t c = rest[1];
  size_t length = 2;
  uint32_t code = 0;
  if (c == 'x' || c == 'X') {
    length = 4;
    code = HexValue(rest.substr(2, 2));
  } else if (c == 'u' || c == 'U') {
    if (bytes) {
      *message = "unable to unescape string";
      return false;
    }
    length = c == 'u' ? 6 : 10;
    code = HexValue(rest.substr(2, length - 2));
  } else if (c >= '0' && c <= '3') {
    length = 4;
    code = (c - '0') * 64 + (rest[2] - '0') * 8 + (rest[3] - '0');
  } else {
    *value += SimpleEscape(c);
    rest.remove_prefix(2);
    return true;
  }
  rest.remove_prefix(length);
  if (bytes) {
    *value += static_cast<char>(code);
    return true;
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    *message = "invalid unicode code point";
    return false;
  }
  AppendRune(*value, code);
  return true;
}

}  // namespace

std::vector<LexedToken> Lex(const Source& source, Issues& issues) { return Lexer(source, issues).Run(); }

bool Unquote(std::u32string_view literal, bool bytes, std::string* value, std::string* message) {
  if (bytes) literal.remove_prefix(1);
  const bool raw = literal[0] == 'r' || literal[0] == 'R';
  if (raw) literal.remove_prefix(1);
  const bool is_long = literal.size() >= 6 && literal[0] == literal[1] && literal[1] == literal[2];
  const size_t quotes = is_long ? 3 : 1;
  std::u32string_view rest = literal.substr(quotes, literal.size() - 2 * quotes);
  while (!rest.empty()) {
    if (rest[0] == '\\' && !raw) {
      if (!UnescapeOne(rest, bytes, value, message)) return false;
      continue;
    }
    // Line breaks read as \n, however they were written.
    if (rest[0] == '\r') {
      *value += '\n';
      rest.remove_prefix(rest.size() > 1 && rest[1] == '\n' ? 2 : 1);
      continue;
    }
    AppendRune(*value, rest[0]);
    rest.remove_prefix(1);
  }
  return true;
}

}  // namespace berth::cel
