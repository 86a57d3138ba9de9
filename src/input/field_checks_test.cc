#include "input/field_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::input {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(FieldChecks& checks) {
  std::vector<std::string> texts;
  for (const FieldProblem& problem : checks.Take()) texts.push_back(problem.ToString());
  return texts;
}

TEST(FieldChecks, SayPathAndWhatIsWrong) {
  FieldChecks checks;
  checks.Required("spec.key", false);
  checks.Required("spec.key", true);
  checks.OneOf("spec.mode", "C", {"A", "B"});
  checks.OneOf("spec.mode", "B", {"A", "B"});
  checks.NotNegative("spec.requests", {{Symbol("cpu"), api::Quantity::FromInt(-1)}, {Symbol("memory"), {}}});
  checks.LabelMap("metadata.labels", {{Symbol("fine"), Symbol("yes")}, {Symbol("bad"), Symbol("a b")}});
  EXPECT_THAT(Texts(checks),
              ElementsAre("spec.key: missing: it is required", "spec.mode: expected A or B, found \"C\"",
                          "spec.requests[cpu]: must not be negative, found -1",
                          ::testing::StartsWith("metadata.labels[bad]: bad value \"a b\": a valid label must be")));
}

TEST(FieldChecks, SelectorsMustCompile) {
  FieldChecks checks;
  checks.Selector("spec.selector", std::nullopt);
  checks.Selector("spec.selector", api::LabelSelector{{}, {{Symbol("app"), "Exists", {}}}});
  checks.NodeSelector("spec.required", api::NodeSelector{{{{{Symbol("zone"), "In", {Symbol("a")}}}, {}}}});
  EXPECT_THAT(Texts(checks), IsEmpty());

  checks.Selector("spec.selector", api::LabelSelector{{}, {{Symbol("app"), "Inn", {}}}});
  EXPECT_THAT(Texts(checks), ElementsAre("spec.selector: \"Inn\" is not a valid label selector operator"));
  checks.NodeSelector("spec.required", api::NodeSelector{});
  EXPECT_THAT(Texts(checks), ElementsAre("spec.required.nodeSelectorTerms: missing: it is required"));
}

}  // namespace
}  // namespace berth::input
