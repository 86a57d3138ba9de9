#include "perf/text_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "codec/number_text.h"

namespace berth::perf {

namespace {

struct Number {
  double value = 0;
  bool is_int = true;

  std::string ToString() const {
    return is_int ? fmt::format("{}", static_cast<int64_t>(value)) : codec::JsonNumber(value);
  }
};

struct Function {
  std::string_view name;
  enum class Kind { kAdd, kSubtract, kMultiply, kDivide, kMod } kind;
  bool is_int;
};

constexpr Function kFunctions[] = {
    {"AddFloat", Function::Kind::kAdd, false},
    {"AddInt", Function::Kind::kAdd, true},
    {"DivideFloat", Function::Kind::kDivide, false},
    {"DivideInt", Function::Kind::kDivide, true},
    {"Mod", Function::Kind::kMod, true},
    {"MultiplyFloat", Function::Kind::kMultiply, false},
    {"MultiplyInt", Function::Kind::kMultiply, true},
    {"SubtractFloat", Function::Kind::kSubtract, false},
    {"SubtractInt", Function::Kind::kSubtract, true},
};

const Function* FindFunction(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

constexpr std::string_view kSpace = " \t\r\n";

std::string_view TrimRight(std::string_view text) {
  const size_t last = text.find_last_not_of(kSpace);
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

}  // namespace

struct TextTemplate::Expression {
  enum class Kind { kIndex, kCount, kNumber, kCall } kind = Kind::kNumber;
  Number number;
  const Function* function = nullptr;
  std::vector<Expression> arguments;

  // Empty if it divides by zero.
  std::optional<Number> Evaluate(int64_t index, int64_t count) const {
    switch (kind) {
      case Kind::kIndex:
        return Number{static_cast<double>(index), true};
      case Kind::kCount:
        return Number{static_cast<double>(count), true};
      case Kind::kNumber:
        return number;
      case Kind::kCall:
        break;
    }
    std::vector<double> values;
    for (const Expression& argument : arguments) {
      const std::optional<Number> value = argument.Evaluate(index, count);
      if (!value) return std::nullopt;
      values.push_back(value->value);
    }
    const std::optional<double> result = Call(values);
    if (!result) return std::nullopt;
    return Number{function->is_int ? std::trunc(*result) : *result, function->is_int};
  }

 private:
  std::optional<double> Call(const std::vector<double>& values) const {
    double result = 0;
    switch (function->kind) {
      case Function::Kind::kAdd:
        for (const double value : values) result += value;
        return result;
      case Function::Kind::kMultiply:
        result = 1;
        for (const double value : values) result *= value;
        return result;
      case Function::Kind::kSubtract:
        return values[0] - values[1];
      case Function::Kind::kDivide:
        if (values[1] == 0) return std::nullopt;
        return values[0] / values[1];
      case Function::Kind::kMod:
        if (std::trunc(values[1]) == 0) return std::nullopt;
        return std::fmod(std::trunc(values[0]), std::trunc(values[1]));
    }
    return std::nullopt;
  }
};

namespace {

using Expression = TextTemplate::Expression;

// One action's expression: pipeline = command { "|" command }.
class ActionParser {
 public:
  explicit ActionParser(std::string_view text) : rest_(text) {}

  // What could not be parsed; empty if all could.
  const std::string& trouble() const { return trouble_; }

  Expression Parse() {
    Expression result = Pipeline();
    SkipSpace();
    if (trouble_.empty() && !rest_.empty()) trouble_ = std::string(rest_);
    return result;
  }

 private:
  void SkipSpace() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size())); }

  Expression Pipeline() {
    Expression result = Command();
    for (SkipSpace(); trouble_.empty() && rest_.starts_with('|'); SkipSpace()) {
      rest_.remove_prefix(1);
      Expression next = Command(&result);
      result = std::move(next);
    }
    return result;
  }

  // A function with its arguments, or one operand. `piped` becomes the last argument.
  Expression Command(const Expression* piped = nullptr) {
    SkipSpace();
    const std::string_view word = Word();
    if (word.empty() || word.front() == '.' || word.front() == '-' || std::isdigit(word.front()) ||
        FindFunction(word) == nullptr) {
      if (piped) return Fail(word.empty() ? rest_ : word);
      return word.empty() ? Operand() : Atom(word);
    }
    Expression call;
    call.kind = Expression::Kind::kCall;
    call.function = FindFunction(word);
    for (SkipSpace(); trouble_.empty() && !rest_.empty() && rest_.front() != '|' && rest_.front() != ')'; SkipSpace()) {
      call.arguments.push_back(Operand());
    }
    if (piped) call.arguments.push_back(*piped);
    const bool any_number =
        call.function->kind == Function::Kind::kAdd || call.function->kind == Function::Kind::kMultiply;
    if (!any_number && call.arguments.size() != 2 && trouble_.empty()) {
      trouble_ = fmt::format("{} with {} arguments instead of 2", word, call.arguments.size());
    }
    return call;
  }

  Expression Operand() {
    SkipSpace();
    if (!rest_.starts_with('(')) return Atom(Word());
    rest_.remove_prefix(1);
    Expression inner = Pipeline();
    SkipSpace();
    if (!rest_.starts_with(')')) return Fail(rest_);
    rest_.remove_prefix(1);
    return inner;
  }

  Expression Atom(std::string_view word) {
    Expression atom;
    if (word == ".Index") {
      atom.kind = Expression::Kind::kIndex;
    } else if (word == ".Count") {
      atom.kind = Expression::Kind::kCount;
    } else {
      const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), atom.number.value);
      if (word.empty() || error != std::errc() || stop != word.data() + word.size()) {
        return Fail(word.empty() ? rest_ : word);
      }
      atom.number.is_int = word.find_first_of(".eE") == std::string_view::npos;
    }
    return atom;
  }

  std::string_view Word() {
    const size_t end = std::min(rest_.find_first_of(" \t\r\n|()"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }

  Expression Fail(std::string_view at) {
    if (trouble_.empty()) trouble_ = at.empty() ? "an empty expression" : std::string(at);
    return {};
  }

  std::string_view rest_;
  std::string trouble_;
};

}  // namespace

Result<TextTemplate> TextTemplate::Parse(std::string_view text, std::string file_name) {
  TextTemplate parsed;
  parsed.file_name_ = std::move(file_name);
  int line = 1;
  bool trim_next = false;
  while (!text.empty()) {
    const size_t open = text.find("{{");
    std::string_view literal = text.substr(0, open);
    const int open_line = line + static_cast<int>(std::count(literal.begin(), literal.end(), '\n'));
    if (trim_next) literal.remove_prefix(std::min(literal.find_first_not_of(kSpace), literal.size()));
    trim_next = false;
    if (open == std::string_view::npos) {
      parsed.segments_.push_back({std::string(literal), nullptr, line});
      break;
    }
    const size_t close = text.find("}}", open);
    if (close == std::string_view::npos) {
      return Error::InvalidArgument(fmt::format("{}:{}: \"{{{{\" without \"}}}}\"", parsed.file_name_, open_line));
    }
    std::string_view action = text.substr(open + 2, close - open - 2);
    line = open_line + static_cast<int>(std::count(action.begin(), action.end(), '\n'));
    text.remove_prefix(close + 2);
    if (action.starts_with("- ")) {
      literal = TrimRight(literal);
      action.remove_prefix(2);
    }
    if (action.ends_with(" -")) {
      trim_next = true;
      action.remove_suffix(2);
    }
    parsed.segments_.push_back({std::string(literal), nullptr, line});
    if (action.starts_with("/*") && TrimRight(action).ends_with("*/")) continue;
    ActionParser parser(action);
    auto expression = std::make_shared<const Expression>(parser.Parse());
    if (!parser.trouble().empty()) {
      return Error::InvalidArgument(
          fmt::format("{}:{}: cannot expand {{{{{}}}}}: \"{}\" is not among what is supported: .Index, .Count, numbers "
                      "and AddInt, SubtractInt, MultiplyInt, DivideInt, AddFloat, SubtractFloat, MultiplyFloat, "
                      "DivideFloat, Mod",
                      parsed.file_name_, open_line, action, parser.trouble()));
    }
    parsed.segments_.push_back({{}, std::move(expression), open_line});
    ++parsed.actions_;
  }
  return parsed;
}

Result<std::string> TextTemplate::Expand(int64_t index, int64_t count) const {
  std::string out;
  for (const Segment& segment : segments_) {
    if (!segment.expression) {
      out += segment.text;
      continue;
    }
    const std::optional<Number> number = segment.expression->Evaluate(index, count);
    if (!number) return Error::InvalidArgument(fmt::format("{}:{}: division by zero", file_name_, segment.line));
    out += number->ToString();
  }
  return out;
}

}  // namespace berth::perf
