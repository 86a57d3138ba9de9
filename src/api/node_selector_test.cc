#include "api/node_selector.h"

#include <gtest/gtest.h>

namespace berth::api {
namespace {

NodeSelectorRequirement Expression(std::string_view key, std::string op,
                                   std::initializer_list<std::string_view> values) {
  NodeSelectorRequirement requirement{Symbol(key), std::move(op), {}};
  for (std::string_view value : values) requirement.values.emplace_back(value);
  return requirement;
}

NodeSelectorTerm OnLabels(std::vector<NodeSelectorRequirement> expressions) { return {std::move(expressions), {}}; }
NodeSelectorTerm OnName(std::string op, std::initializer_list<std::string_view> names) {
  return {{}, {Expression("metadata.name", std::move(op), names)}};
}

const Labels& NodeLabels() {
  static const Labels labels = {{Symbol("zone"), Symbol("z1")}, {Symbol("cores"), Symbol("16")}};
  return labels;
}

NodeMatch Match(std::vector<NodeSelectorTerm> terms, std::string_view name = "n1") {
  return CompiledNodeSelector::CompileLazily({std::move(terms)}).Match(NodeLabels(), name);
}

TEST(NodeSelector, TermsAreAlternativesOfConjunctions) {
  const NodeSelectorTerm in_zone = OnLabels({Expression("zone", "In", {"z1", "z2"})});
  const NodeSelectorTerm elsewhere = OnLabels({Expression("zone", "In", {"z9"})});
  EXPECT_EQ(Match({in_zone}), NodeMatch::kMatch);
  EXPECT_EQ(Match({elsewhere}), NodeMatch::kNoMatch);
  EXPECT_EQ(Match({elsewhere, in_zone}), NodeMatch::kMatch);
  EXPECT_EQ(Match({OnLabels({Expression("zone", "In", {"z1"}), Expression("cores", "Gt", {"16"})})}),
            NodeMatch::kNoMatch);
  EXPECT_EQ(Match({OnLabels({Expression("zone", "Exists", {}), Expression("cores", "Lt", {"17"})})}),
            NodeMatch::kMatch);
  EXPECT_EQ(Match({OnLabels({Expression("gpu", "DoesNotExist", {}), Expression("arch", "NotIn", {"arm"})})}),
            NodeMatch::kMatch);
}

TEST(NodeSelector, WithoutConditionsSelectsNoNode) {
  EXPECT_EQ(Match({}), NodeMatch::kNoMatch);
  EXPECT_EQ(Match({NodeSelectorTerm{}}), NodeMatch::kNoMatch);
}

TEST(NodeSelector, SelectsByName) {
  EXPECT_EQ(Match({OnName("In", {"n1"})}), NodeMatch::kMatch);
  EXPECT_EQ(Match({OnName("In", {"n2"})}), NodeMatch::kNoMatch);
  EXPECT_EQ(Match({OnName("NotIn", {"n1"})}), NodeMatch::kNoMatch);
  EXPECT_EQ(Match({OnName("NotIn", {"n2"})}), NodeMatch::kMatch);
  // The field is not tested on a node without a name.
  EXPECT_EQ(Match({OnName("In", {"n2"})}, ""), NodeMatch::kMatch);
  // Other fields read as empty.
  EXPECT_EQ(Match({{{}, {Expression("metadata.uid", "In", {"n1"})}}}), NodeMatch::kNoMatch);
  NodeSelectorTerm both = OnName("In", {"n1"});
  both.match_expressions = {Expression("zone", "In", {"z9"})};
  EXPECT_EQ(Match({both}), NodeMatch::kNoMatch);
}

TEST(NodeSelector, BadTermsSpeakUpOnlyWhenNothingMatches) {
  const NodeSelectorTerm good = OnLabels({Expression("zone", "In", {"z1"})});
  const NodeSelectorTerm bad = OnLabels({Expression("zone", "Near", {"z1"})});
  EXPECT_EQ(Match({bad, good}), NodeMatch::kMatch);
  EXPECT_EQ(Match({bad}), NodeMatch::kError);
  EXPECT_FALSE(CompiledNodeSelector::Compile({{bad, good}}).ok());
}

TEST(NodeSelector, ErrorsNameTheField) {
  const std::string near_error =
      "nodeSelectorTerms[1].matchExpressions[0].operator: Unsupported value: \"Near\": supported values: \"In\", "
      "\"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"";
  const std::string gt_error =
      "nodeSelectorTerms[1].matchExpressions[1].values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one "
      "value is required";
  const std::string name_error =
      "nodeSelectorTerms[2].matchFields[0].values: Invalid value: [\"a\",\"b\"]: must have one element";
  const std::string field_operator_error =
      "nodeSelectorTerms[3].matchFields[0].operator: Unsupported value: \"Exists\": supported values: \"In\", "
      "\"NotIn\"";
  const NodeSelectorTerm labels = OnLabels({Expression("zone", "Near", {"z1"}), Expression("cores", "Gt", {})});
  const NodeSelector selector{{NodeSelectorTerm{}, labels, OnName("In", {"a", "b"}), OnName("Exists", {})}};
  const CompiledNodeSelector compiled = CompiledNodeSelector::CompileLazily(selector);
  EXPECT_EQ(compiled.Match(NodeLabels(), "n1"), NodeMatch::kError);
  EXPECT_EQ(compiled.error(),
            "[" + near_error + ", " + gt_error + ", " + name_error + ", " + field_operator_error + "]");

  const NodeSelector one{{NodeSelectorTerm{}, OnLabels({Expression("zone", "Near", {})})}};
  EXPECT_EQ(CompiledNodeSelector::Compile(one).error().message, near_error);
  EXPECT_EQ(CompiledNodeSelector::Compile(one, "spec.affinity").error().message, "spec.affinity." + near_error);
}

TEST(PreferredTerms, SumsTheWeightsThatMatch) {
  const std::vector<PreferredSchedulingTerm> terms = {
      {10, OnLabels({Expression("zone", "In", {"z1"})})},
      {20, OnLabels({Expression("zone", "In", {"z2"})})},
      {5, OnName("In", {"n1"})},
      {7, NodeSelectorTerm{}},
      {0, OnLabels({Expression("zone", "Near", {})})},
  };
  const Result<CompiledPreferredTerms> compiled = CompiledPreferredTerms::Compile(terms);
  ASSERT_TRUE(compiled.ok());
  EXPECT_EQ(compiled->Score(NodeLabels(), "n1"), 15);
  EXPECT_EQ(compiled->Score(NodeLabels(), "n2"), 10);
  EXPECT_EQ(compiled->Score({}, "n2"), 0);
}

TEST(PreferredTerms, OneBadTermFailsAll) {
  const std::vector<PreferredSchedulingTerm> terms = {{10, OnLabels({Expression("zone", "In", {"z1"})})},
                                                      {1, OnName("Gt", {"1"})}};
  EXPECT_EQ(CompiledPreferredTerms::Compile(terms).error().message,
            "[1].matchFields[0].operator: Unsupported value: \"Gt\": supported values: \"In\", \"NotIn\"");
}

TEST(RequiredNodeAffinity, WantsNodeSelectorAndAffinity) {
  const Labels z1 = {{Symbol("zone"), Symbol("z1")}};
  const Labels z2 = {{Symbol("zone"), Symbol("z2")}};
  const NodeSelector n1{{OnName("In", {"n1"})}};
  const NodeSelector none;
  const NodeSelector bad{{OnName("Gt", {"1"})}};
  const auto match = [](const Labels& labels, const NodeSelector* required) {
    return RequiredNodeAffinity(labels, required).Match(NodeLabels(), "n1");
  };
  EXPECT_EQ(match({}, nullptr), NodeMatch::kMatch);
  EXPECT_EQ(match(z1, nullptr), NodeMatch::kMatch);
  EXPECT_EQ(match(z2, nullptr), NodeMatch::kNoMatch);
  EXPECT_EQ(match(z1, &n1), NodeMatch::kMatch);
  EXPECT_EQ(match(z2, &n1), NodeMatch::kNoMatch);
  EXPECT_EQ(match({}, &none), NodeMatch::kNoMatch);
  EXPECT_EQ(match({}, &bad), NodeMatch::kError);
  // The nodeSelector is tested first, and its rejection is final.
  EXPECT_EQ(match(z2, &bad), NodeMatch::kNoMatch);
  EXPECT_TRUE(RequiredNodeAffinity().empty());
  EXPECT_FALSE(RequiredNodeAffinity({}, &none).empty());
}

}  // namespace
}  // namespace berth::api
