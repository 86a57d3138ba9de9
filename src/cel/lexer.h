// Splits an expression into tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cel/source.h"

namespace berth::cel {

enum class Token : uint8_t {
  kEnd,
  kIdentifier,
  kEscapedIdentifier,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kTrue,
  kFalse,
  kNull,
  kIn,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kLeftParen,
  kRightParen,
  kDot,
  kComma,
  kMinus,
  kNot,
  kQuestion,
  kColon,
  kPlus,
  kStar,
  kSlash,
  kPercent,
};

struct LexedToken {
  Token token = Token::kEnd;
  int offset = 0;  // in code points
  int length = 0;
};

// All tokens, kEnd last. Text that is no token is reported and left out.
std::vector<LexedToken> Lex(const Source& source, Issues& issues);

// The value of a string or bytes token, quotes and prefix included in `literal`. False with a message otherwise.
bool Unquote(std::u32string_view literal, bool bytes, std::string* value, std::string* message);

}  // namespace berth::cel
