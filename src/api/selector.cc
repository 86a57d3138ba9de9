#include "api/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "api/field_error.h"
#include "api/label_syntax.h"

namespace berth::api {
namespace {

using Operator = Requirement::Operator;

// A decimal integer of 64 bits with an optional sign.
std::optional<int64_t> ReadInteger(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void CheckValues(Operator op, std::span<const Symbol> values, const std::string& path,
                 std::vector<std::string>& problems) {
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (values.empty()) {
        problems.push_back(InvalidField(path, values, "for 'in', 'notin' operators, values set can't be empty"));
      }
      return;
    case Operator::kEquals:
    case Operator::kDoubleEquals:
    case Operator::kNotEquals:
      if (values.size() != 1) {
        problems.push_back(InvalidField(path, values, "exact-match compatibility requires one single value"));
      }
      return;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (!values.empty()) {
        problems.push_back(InvalidField(path, values, "values set must be empty for exists and does not exist"));
      }
      return;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      if (values.size() != 1) {
        problems.push_back(InvalidField(path, values, "for 'Gt', 'Lt' operators, exactly one value is required"));
      }
      for (size_t i = 0; i < values.size(); ++i) {
        if (ReadInteger(values[i].str())) continue;
        problems.push_back(InvalidField(FieldIndex(path, i), values[i].str(),
                                        "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      return;
  }
}

std::optional<Operator> ReadOperator(std::string_view op) {
  if (op == "In") return Operator::kIn;
  if (op == "NotIn") return Operator::kNotIn;
  if (op == "Exists") return Operator::kExists;
  if (op == "DoesNotExist") return Operator::kDoesNotExist;
  return std::nullopt;
}

}  // namespace

Requirement::Requirement(Symbol key, Operator op, std::vector<Symbol> values)
    : key_(std::move(key)), op_(op), values_(std::move(values)) {
  // Sorted, so that conditions that differ only in the order of their values compare equal.
  std::sort(values_.begin(), values_.end());
  if (op_ == Operator::kGreaterThan || op_ == Operator::kLessThan) bound_ = *ReadInteger(values_[0].str());
}

std::vector<std::string> Requirement::Problems(const Symbol& key, Operator op, std::span<const Symbol> values,
                                               std::string_view path) {
  std::vector<std::string> problems;
  if (const auto wrong = LabelKeyProblems(key.str()); !wrong.empty()) {
    problems.push_back(InvalidField(FieldChild(path, "key"), key.str(), fmt::format("{}", fmt::join(wrong, "; "))));
  }
  const std::string values_path = FieldChild(path, "values");
  CheckValues(op, values, values_path, problems);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto wrong = LabelValueProblems(values[i].str());
    if (wrong.empty()) continue;
    problems.push_back(InvalidField(FieldKey(FieldIndex(values_path, i), key.str()), values[i].str(),
                                    fmt::format("{}", fmt::join(wrong, "; "))));
  }
  return problems;
}

Result<Requirement> Requirement::Make(Symbol key, Operator op, std::vector<Symbol> values, std::string_view path) {
  if (const auto problems = Problems(key, op, values, path); !problems.empty()) {
    return Error::InvalidArgument(JoinErrors(problems));
  }
  return Requirement(std::move(key), op, std::move(values));
}

Requirement Requirement::Unchecked(Symbol key, Symbol value) {
  return Requirement(std::move(key), Operator::kEquals, {std::move(value)});
}

bool Requirement::MatchesValue(const Symbol* value) const {
  switch (op_) {
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals:
      return value && HasValue(*value);
    case Operator::kNotIn:
    case Operator::kNotEquals:
      return !value || !HasValue(*value);
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGreaterThan:
    case Operator::kLessThan: {
      const std::optional<int64_t> number = value ? ReadInteger(value->str()) : std::nullopt;
      if (!number) return false;
      return op_ == Operator::kGreaterThan ? *number > bound_ : *number < bound_;
    }
  }
  return false;
}

bool Requirement::Matches(const Labels& labels) const { return MatchesValue(labels.Find(key_)); }

std::string Requirement::ToString() const {
  std::string list;
  for (const Symbol& value : values_) {
    if (&value != values_.data()) list += ',';
    list += value.str();
  }
  const std::string_view key = key_.str();
  switch (op_) {
    case Operator::kIn:
      return fmt::format("{} in ({})", key, list);
    case Operator::kNotIn:
      return fmt::format("{} notin ({})", key, list);
    case Operator::kEquals:
      return fmt::format("{}={}", key, list);
    case Operator::kDoubleEquals:
      return fmt::format("{}=={}", key, list);
    case Operator::kNotEquals:
      return fmt::format("{}!={}", key, list);
    case Operator::kExists:
      return std::string(key);
    case Operator::kDoesNotExist:
      return fmt::format("!{}", key);
    case Operator::kGreaterThan:
      return fmt::format("{}>{}", key, list);
    case Operator::kLessThan:
      return fmt::format("{}<{}", key, list);
  }
  return {};
}

Selector Selector::Nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Result<Selector> Selector::Compile(const LabelSelector* selector) {
  if (!selector) return Nothing();
  return Compile(*selector);
}

Result<Selector> Selector::Compile(const LabelSelector& selector) {
  Selector compiled;
  compiled.requirements_.reserve(selector.match_labels.size() + selector.match_expressions.size());
  for (const auto& [key, value] : selector.match_labels) {
    Result<Requirement> requirement = Requirement::Make(key, Operator::kEquals, {value});
    if (!requirement) return std::move(requirement).error();
    compiled.Add(*std::move(requirement));
  }
  for (const LabelSelectorRequirement& expression : selector.match_expressions) {
    const std::optional<Operator> op = ReadOperator(expression.op);
    if (!op) return Error::InvalidArgument(Quote(expression.op) + " is not a valid label selector operator");
    Result<Requirement> requirement = Requirement::Make(expression.key, *op, expression.values);
    if (!requirement) return std::move(requirement).error();
    compiled.Add(*std::move(requirement));
  }
  return compiled;
}

Selector Selector::FromLabels(const Labels& labels) {
  Selector selector;
  selector.requirements_.reserve(labels.size());
  for (const auto& [key, value] : labels) selector.requirements_.push_back(Requirement::Unchecked(key, value));
  return selector;
}

void Selector::Add(Requirement requirement) {
  if (nothing_) return;
  const auto after = std::upper_bound(requirements_.begin(), requirements_.end(), requirement,
                                      [](const Requirement& a, const Requirement& b) { return a.key() < b.key(); });
  requirements_.insert(after, std::move(requirement));
}

std::string Selector::ToString() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.ToString();
  }
  return text;
}

size_t Selector::hash() const {
  size_t seed = nothing_ ? 1 : 0;
  const auto mix = [&](size_t value) { seed ^= value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2); };
  for (const Requirement& requirement : requirements_) {
    mix(requirement.key().hash());
    mix(static_cast<size_t>(requirement.op()));
    for (const Symbol& value : requirement.values()) mix(value.hash());
  }
  return seed;
}

}  // namespace berth::api
