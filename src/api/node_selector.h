// Node selectors: which nodes a pod asks for, by label and by name. The API structs and their compiled forms.
//
// A term is a conjunction over labels and fields; a selector is a disjunction over terms; a term without conditions
// selects no node. Compiled forms are immutable and safe to read from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/labels.h"
#include "api/selector.h"
#include "base/result.h"
#include "base/symbol.h"

namespace berth::api {

struct NodeSelectorRequirement {
  Symbol key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<Symbol> values;

  friend bool operator==(const NodeSelectorRequirement&, const NodeSelectorRequirement&) = default;
};

struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;  // metadata.name, In or NotIn one value

  bool empty() const { return match_expressions.empty() && match_fields.empty(); }
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms;

  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};

struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;

  friend bool operator==(const PreferredSchedulingTerm&, const PreferredSchedulingTerm&) = default;
};

enum class NodeMatch : uint8_t {
  kMatch,
  kNoMatch,
  kError,  // nothing matched and some term is invalid; error() of the selector has the text
};

// One term that has at least one condition.
class CompiledNodeSelectorTerm {
 public:
  struct FieldCondition {
    bool is_node_name = false;  // any other field reads as ""
    bool negated = false;
    Symbol value;
    friend bool operator==(const FieldCondition&, const FieldCondition&) = default;
  };

  // Never fails: problems are kept in problems(), and such a term matches no node.
  static CompiledNodeSelectorTerm Compile(const NodeSelectorTerm& term, std::string_view path);

  // For a node without a name, fields are not tested.
  bool Matches(const Labels& node_labels, std::string_view node_name) const;

  const std::vector<std::string>& problems() const { return problems_; }
  const Selector& labels() const { return labels_; }
  const std::vector<FieldCondition>& fields() const { return fields_; }

  friend bool operator==(const CompiledNodeSelectorTerm&, const CompiledNodeSelectorTerm&) = default;

 private:
  Selector labels_;
  std::vector<FieldCondition> fields_;
  std::vector<std::string> problems_;
};

class CompiledNodeSelector {
 public:
  // Without terms: no node.
  CompiledNodeSelector() = default;

  // Bad terms are kept and reported by Match only when no good term matches.
  static CompiledNodeSelector CompileLazily(const NodeSelector& selector, std::string_view path = {});
  // Any bad term is an error; Match of the result never returns kError.
  static Result<CompiledNodeSelector> Compile(const NodeSelector& selector, std::string_view path = {});

  NodeMatch Match(const Labels& node_labels, std::string_view node_name) const;
  // The message behind kError. It is the same for every node; empty when all terms are good.
  const std::string& error() const { return error_; }
  const std::vector<CompiledNodeSelectorTerm>& terms() const { return terms_; }

  friend bool operator==(const CompiledNodeSelector&, const CompiledNodeSelector&) = default;

 private:
  std::vector<CompiledNodeSelectorTerm> terms_;
  std::string error_;
};

class CompiledPreferredTerms {
 public:
  struct Term {
    CompiledNodeSelectorTerm term;
    int64_t weight = 0;
    friend bool operator==(const Term&, const Term&) = default;
  };

  CompiledPreferredTerms() = default;
  // Terms of weight 0 or without conditions are skipped unread; one bad term among the others is an error for all.
  static Result<CompiledPreferredTerms> Compile(std::span<const PreferredSchedulingTerm> terms,
                                                std::string_view path = {});

  // The sum of the weights of the terms that match.
  int64_t Score(const Labels& node_labels, std::string_view node_name) const;
  bool empty() const { return terms_.empty(); }
  const std::vector<Term>& terms() const { return terms_; }

  friend bool operator==(const CompiledPreferredTerms&, const CompiledPreferredTerms&) = default;

 private:
  std::vector<Term> terms_;
};

// What a pod requires of its node: both its nodeSelector and its required node affinity.
class RequiredNodeAffinity {
 public:
  RequiredNodeAffinity() = default;  // any node
  // `required` is null when the pod has no required node affinity; present without terms it selects no node.
  RequiredNodeAffinity(const Labels& node_selector, const NodeSelector* required);

  NodeMatch Match(const Labels& node_labels, std::string_view node_name) const;
  // True when every node matches.
  bool empty() const { return labels_.empty() && !affinity_; }
  const std::string& error() const;
  const Selector& node_selector() const { return labels_; }
  const std::optional<CompiledNodeSelector>& affinity() const { return affinity_; }

  friend bool operator==(const RequiredNodeAffinity&, const RequiredNodeAffinity&) = default;

 private:
  Selector labels_;
  std::optional<CompiledNodeSelector> affinity_;
};

}  // namespace berth::api
