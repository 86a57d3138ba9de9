// Label selectors: the API structs, their compiled form, and field selectors.
//
// Compile once, match often: a compiled Selector compares Symbols, never text, except for Gt and Lt, which read the
// label's value as an integer. Selectors are values: copyable, comparable, and safe to read from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/labels.h"
#include "base/result.h"
#include "base/symbol.h"

namespace berth::api {

struct LabelSelectorRequirement {
  Symbol key;
  std::string op;  // In, NotIn, Exists, DoesNotExist
  std::vector<Symbol> values;

  friend bool operator==(const LabelSelectorRequirement&, const LabelSelectorRequirement&) = default;
};

struct LabelSelector {
  Labels match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;

  bool empty() const { return match_labels.empty() && match_expressions.empty(); }
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

// One condition on one label.
class Requirement {
 public:
  enum class Operator : uint8_t {
    kIn,
    kNotIn,
    kEquals,        // In with one value; separate because it prints as a=b
    kDoubleEquals,  // the same, a==b
    kNotEquals,     // NotIn with one value
    kExists,
    kDoesNotExist,
    kGreaterThan,
    kLessThan,
  };

  // Checks key, values and their number. `path` is the field of the condition, for the errors ("" at the top).
  static Result<Requirement> Make(Symbol key, Operator op, std::vector<Symbol> values, std::string_view path = {});
  // Everything wrong with such a condition; Make joins them as Kubernetes prints a list of errors.
  static std::vector<std::string> Problems(const Symbol& key, Operator op, std::span<const Symbol> values,
                                           std::string_view path = {});
  // key=value as a pod's nodeSelector states it. Not checked, as in Kubernetes: a bad value simply matches nothing.
  static Requirement Unchecked(Symbol key, Symbol value);

  bool Matches(const Labels& labels) const;
  // For callers that keep one label per column: `value` is null when the object lacks the key.
  bool MatchesValue(const Symbol* value) const;

  const Symbol& key() const { return key_; }
  Operator op() const { return op_; }
  const std::vector<Symbol>& values() const { return values_; }
  std::string ToString() const;

  friend bool operator==(const Requirement&, const Requirement&) = default;

 private:
  Requirement(Symbol key, Operator op, std::vector<Symbol> values);
  bool HasValue(const Symbol& value) const {
    for (const Symbol& candidate : values_) {
      if (candidate == value) return true;
    }
    return false;
  }

  Symbol key_;
  Operator op_ = Operator::kExists;
  int64_t bound_ = 0;  // of Gt and Lt
  std::vector<Symbol> values_;
};

// All requirements must match; sorted by key. Default-constructed it selects everything.
class Selector {
 public:
  Selector() = default;
  static Selector Everything() { return {}; }
  static Selector Nothing();

  // An empty selector selects everything, an absent one nothing.
  static Result<Selector> Compile(const LabelSelector& selector);
  static Result<Selector> Compile(const LabelSelector* selector);
  // The text form: "a=b,c in (x,y),!d,e>5".
  static Result<Selector> Parse(std::string_view text);
  static Selector FromLabels(const Labels& labels);

  bool Matches(const Labels& labels) const {
    if (nothing_) return false;
    for (const Requirement& requirement : requirements_) {
      if (!requirement.Matches(labels)) return false;
    }
    return true;
  }

  bool empty() const { return !nothing_ && requirements_.empty(); }
  bool matches_nothing() const { return nothing_; }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // Adding to Nothing leaves Nothing.
  void Add(Requirement requirement);

  // Canonical: equal text means equal selection, except that Nothing prints as "", like Everything.
  std::string ToString() const;
  size_t hash() const;

  friend bool operator==(const Selector&, const Selector&) = default;

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

// "spec.nodeName=,status.phase!=Failed". A field the object lacks counts as "".
class FieldSelector {
 public:
  struct Term {
    std::string field;
    bool negated = false;
    std::string value;
    friend bool operator==(const Term&, const Term&) = default;
  };
  using Fields = std::span<const std::pair<std::string_view, std::string_view>>;

  FieldSelector() = default;  // everything
  static Result<FieldSelector> Parse(std::string_view text);

  bool Matches(Fields fields) const;
  // `lookup` maps a field's name to its value, "" when there is none.
  bool MatchesBy(const std::function<std::string_view(std::string_view)>& lookup) const;

  bool empty() const { return terms_.empty(); }
  const std::vector<Term>& terms() const { return terms_; }
  std::string ToString() const;

  friend bool operator==(const FieldSelector&, const FieldSelector&) = default;

 private:
  std::vector<Term> terms_;
};

}  // namespace berth::api

template <>
struct std::hash<berth::api::Selector> {
  size_t operator()(const berth::api::Selector& selector) const noexcept { return selector.hash(); }
};
