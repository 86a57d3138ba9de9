#include "cel/regex.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "cel/go_text.h"

namespace berth::cel {
namespace {

std::string_view Reason(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
      return "invalid character class";
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case re2::RE2::ErrorPatternTooLarge:
      return "expression too large";
    default:
      return "regexp/syntax: internal error";
  }
}

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

class Re2Regex final : public Regex {
 public:
  explicit Re2Regex(std::string_view pattern) : re2_(Piece(pattern), Options()) {}

  const re2::RE2& re2() const { return re2_; }

  bool Matches(std::string_view text) const override {
    return re2_.Match(Piece(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
  }

  std::string_view Find(std::string_view text) const override {
    re2::StringPiece match;
    if (!re2_.Match(Piece(text), 0, text.size(), re2::RE2::UNANCHORED, &match, 1)) return {};
    return {match.data(), match.size()};
  }

  std::vector<std::string_view> FindAll(std::string_view text, int64_t limit) const override {
    std::vector<std::string_view> matches;
    size_t from = 0;
    size_t last_end = std::string_view::npos;
    while (from <= text.size() && (limit < 0 || static_cast<int64_t>(matches.size()) < limit)) {
      re2::StringPiece match;
      if (!re2_.Match(Piece(text), from, text.size(), re2::RE2::UNANCHORED, &match, 1)) break;
      const size_t start = text.empty() ? 0 : static_cast<size_t>(match.data() - text.data());
      const size_t end = start + match.size();
      // An empty match right after the last one does not count.
      if (!match.empty() || start != last_end) matches.emplace_back(match.data(), match.size());
      last_end = end;
      if (!match.empty()) {
        from = end;
        continue;
      }
      if (end >= text.size()) break;
      size_t size = 1;
      DecodeRune(text.substr(end), &size);
      from = end + size;
    }
    return matches;
  }

 private:
  static re2::RE2::Options Options() {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(8 << 20);
    return options;
  }

  re2::RE2 re2_;
};

}  // namespace

Result<std::shared_ptr<const Regex>> Regex::Compile(std::string_view pattern) {
  auto regex = std::make_shared<Re2Regex>(pattern);
  if (!regex->re2().ok()) {
    return Error::InvalidArgument(
        fmt::format("error parsing regexp: {}: `{}`", Reason(regex->re2().error_code()), regex->re2().error_arg()));
  }
  return std::shared_ptr<const Regex>(std::move(regex));
}

}  // namespace berth::cel
