#include "api/node_selector.h"

#include <algorithm>
#include <utility>

#include "api/field_error.h"

namespace berth::api {
namespace {

using Operator = Requirement::Operator;

constexpr std::string_view kNodeNameField = "metadata.name";
constexpr std::pair<std::string_view, Operator> kLabelOperators[] = {
    {"In", Operator::kIn},          {"NotIn", Operator::kNotIn},
    {"Exists", Operator::kExists},  {"DoesNotExist", Operator::kDoesNotExist},
    {"Gt", Operator::kGreaterThan}, {"Lt", Operator::kLessThan}};
constexpr std::string_view kLabelOperatorNames[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
constexpr std::string_view kFieldOperatorNames[] = {"In", "NotIn"};

std::optional<Operator> ReadLabelOperator(std::string_view name) {
  for (const auto& [known, op] : kLabelOperators) {
    if (known == name) return op;
  }
  return std::nullopt;
}

void CompileExpressions(std::span<const NodeSelectorRequirement> expressions, const std::string& path,
                        Selector& selector, std::vector<std::string>& problems) {
  for (size_t i = 0; i < expressions.size(); ++i) {
    const NodeSelectorRequirement& expression = expressions[i];
    const std::string at = FieldIndex(path, i);
    const std::optional<Operator> op = ReadLabelOperator(expression.op);
    if (!op) {
      problems.push_back(UnsupportedField(FieldChild(at, "operator"), expression.op, kLabelOperatorNames));
      continue;
    }
    Result<Requirement> requirement = Requirement::Make(expression.key, *op, expression.values, at);
    if (requirement) {
      selector.Add(*std::move(requirement));
      continue;
    }
    // One by one instead of Make's joined text: the caller joins them with those of other expressions.
    for (std::string& problem : Requirement::Problems(expression.key, *op, expression.values, at)) {
      problems.push_back(std::move(problem));
    }
  }
}

void CompileFields(std::span<const NodeSelectorRequirement> expressions, const std::string& path,
                   std::vector<CompiledNodeSelectorTerm::FieldCondition>& fields, std::vector<std::string>& problems) {
  for (size_t i = 0; i < expressions.size(); ++i) {
    const NodeSelectorRequirement& expression = expressions[i];
    const std::string at = FieldIndex(path, i);
    if (expression.op != "In" && expression.op != "NotIn") {
      problems.push_back(UnsupportedField(FieldChild(at, "operator"), expression.op, kFieldOperatorNames));
    } else if (expression.values.size() != 1) {
      problems.push_back(InvalidField(FieldChild(at, "values"), expression.values, "must have one element"));
    } else {
      fields.push_back({expression.key == kNodeNameField, expression.op == "NotIn", expression.values[0]});
    }
  }
}

}  // namespace

CompiledNodeSelectorTerm CompiledNodeSelectorTerm::Compile(const NodeSelectorTerm& term, std::string_view path) {
  CompiledNodeSelectorTerm compiled;
  CompileExpressions(term.match_expressions, FieldChild(path, "matchExpressions"), compiled.labels_,
                     compiled.problems_);
  CompileFields(term.match_fields, FieldChild(path, "matchFields"), compiled.fields_, compiled.problems_);
  return compiled;
}

bool CompiledNodeSelectorTerm::Matches(const Labels& node_labels, std::string_view node_name) const {
  if (!problems_.empty()) return false;
  if (!labels_.Matches(node_labels)) return false;
  if (node_name.empty()) return true;
  return std::all_of(fields_.begin(), fields_.end(), [&](const FieldCondition& field) {
    const bool equal = field.is_node_name ? field.value.str() == node_name : field.value.empty();
    return equal != field.negated;
  });
}

CompiledNodeSelector CompiledNodeSelector::CompileLazily(const NodeSelector& selector, std::string_view path) {
  CompiledNodeSelector compiled;
  std::vector<std::string> problems;
  const std::string terms_path = FieldChild(path, "nodeSelectorTerms");
  for (size_t i = 0; i < selector.node_selector_terms.size(); ++i) {
    const NodeSelectorTerm& term = selector.node_selector_terms[i];
    if (term.empty()) continue;
    compiled.terms_.push_back(CompiledNodeSelectorTerm::Compile(term, FieldIndex(terms_path, i)));
    const std::vector<std::string>& more = compiled.terms_.back().problems();
    problems.insert(problems.end(), more.begin(), more.end());
  }
  if (!problems.empty()) compiled.error_ = JoinErrors(problems);
  return compiled;
}

Result<CompiledNodeSelector> CompiledNodeSelector::Compile(const NodeSelector& selector, std::string_view path) {
  CompiledNodeSelector compiled = CompileLazily(selector, path);
  if (!compiled.error_.empty()) return Error::InvalidArgument(std::move(compiled.error_));
  return compiled;
}

NodeMatch CompiledNodeSelector::Match(const Labels& node_labels, std::string_view node_name) const {
  for (const CompiledNodeSelectorTerm& term : terms_) {
    if (term.Matches(node_labels, node_name)) return NodeMatch::kMatch;
  }
  return error_.empty() ? NodeMatch::kNoMatch : NodeMatch::kError;
}

Result<CompiledPreferredTerms> CompiledPreferredTerms::Compile(std::span<const PreferredSchedulingTerm> terms,
                                                               std::string_view path) {
  CompiledPreferredTerms compiled;
  std::vector<std::string> problems;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].weight == 0 || terms[i].preference.empty()) continue;
    Term term{CompiledNodeSelectorTerm::Compile(terms[i].preference, FieldIndex(path, i)), terms[i].weight};
    const std::vector<std::string>& more = term.term.problems();
    problems.insert(problems.end(), more.begin(), more.end());
    compiled.terms_.push_back(std::move(term));
  }
  if (!problems.empty()) return Error::InvalidArgument(JoinErrors(problems));
  return compiled;
}

int64_t CompiledPreferredTerms::Score(const Labels& node_labels, std::string_view node_name) const {
  int64_t score = 0;
  for (const Term& term : terms_) {
    if (term.term.Matches(node_labels, node_name)) score += term.weight;
  }
  return score;
}

RequiredNodeAffinity::RequiredNodeAffinity(const Labels& node_selector, const NodeSelector* required)
    : labels_(Selector::FromLabels(node_selector)) {
  if (required) affinity_ = CompiledNodeSelector::CompileLazily(*required);
}

NodeMatch RequiredNodeAffinity::Match(const Labels& node_labels, std::string_view node_name) const {
  if (!labels_.Matches(node_labels)) return NodeMatch::kNoMatch;
  return affinity_ ? affinity_->Match(node_labels, node_name) : NodeMatch::kMatch;
}

const std::string& RequiredNodeAffinity::error() const {
  static const std::string kNone;
  return affinity_ ? affinity_->error() : kNone;
}

}  // namespace berth::api
