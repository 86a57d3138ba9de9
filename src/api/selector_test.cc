#include "api/selector.h"

#include <gtest/gtest.h>

#include <array>

namespace berth::api {
namespace {

Labels MakeLabels(std::initializer_list<std::pair<std::string_view, std::string_view>> entries) {
  Labels labels;
  for (const auto& [key, value] : entries) labels.Set(Symbol(key), Symbol(value));
  return labels;
}

LabelSelectorRequirement Requirement(std::string_view key, std::string op,
                                     std::initializer_list<std::string_view> values) {
  LabelSelectorRequirement requirement{Symbol(key), std::move(op), {}};
  for (std::string_view value : values) requirement.values.emplace_back(value);
  return requirement;
}

struct SelectorCase {
  std::string_view text;
  std::string_view canonical;
  bool matches;
};

class SelectorParse : public testing::TestWithParam<SelectorCase> {};

TEST_P(SelectorParse, ReadsMatchesAndPrints) {
  const Labels labels = MakeLabels({{"app", "web"}, {"rank", "7"}, {"blank", ""}});
  const Result<Selector> selector = Selector::Parse(GetParam().text);
  ASSERT_TRUE(selector.ok()) << GetParam().text << ": " << selector.error().message;
  EXPECT_EQ(selector->ToString(), GetParam().canonical);
  EXPECT_EQ(selector->Matches(labels), GetParam().matches) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    All, SelectorParse,
    testing::Values(SelectorCase{"", "", true}, SelectorCase{"app=web", "app=web", true},
                    SelectorCase{"app==web", "app==web", true}, SelectorCase{" app != web ", "app!=web", false},
                    SelectorCase{"gone!=web", "gone!=web", true}, SelectorCase{"app", "app", true},
                    SelectorCase{"!app", "!app", false}, SelectorCase{"! gone", "!gone", true},
                    SelectorCase{"app in (web,db)", "app in (db,web)", true},
                    SelectorCase{"app notin (web,db)", "app notin (db,web)", false},
                    SelectorCase{"gone notin (x)", "gone notin (x)", true},
                    SelectorCase{"blank in ()", "blank in ()", true}, SelectorCase{"blank=", "blank=", true},
                    SelectorCase{"blank in (a,,b)", "blank in (,a,b)", true},
                    SelectorCase{"in in (in)", "in in (in)", false}, SelectorCase{"rank>6", "rank>6", true},
                    SelectorCase{"rank>7", "rank>7", false}, SelectorCase{"rank<10", "rank<10", true},
                    SelectorCase{"app>6", "app>6", false}, SelectorCase{"gone<6", "gone<6", false},
                    SelectorCase{"rank=7,!gone,app in (web)", "app in (web),!gone,rank=7", true}));

TEST(Selector, ParseSaysWhatItExpected) {
  const std::pair<std::string_view, std::string_view> tests[] = {
      {",", "found ',', expected: !, identifier, or 'end of string'"},
      {"a,", "found '', expected: identifier after ','"},
      {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"!a=b", "found '=', expected: ',' or 'end of string'"},
      {"a=b c", "found 'c', expected: ',' or 'end of string'"},
      {"a===b", "unable to parse requirement: found '=', expected: identifier"},
      {"!", "unable to parse requirement: found '', expected: identifier"},
      {"a in b", "unable to parse requirement: found 'b' expected: '('"},
      {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
      {"a in (!)", "unable to parse requirement: found '!', expected: ',', ')' or identifier"},
      {"a in (b,!)", "unable to parse requirement: found '!', expected: ',', or identifier"},
      {"x>a",
       "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an "
       "integer"},
      {"/x=1", "unable to parse requirement: <nil>: Invalid value: \"/x\": prefix part must be non-empty"},
  };
  for (const auto& [text, message] : tests) {
    const Result<Selector> selector = Selector::Parse(text);
    ASSERT_FALSE(selector.ok()) << text;
    EXPECT_EQ(selector.error().message, message);
  }
}

TEST(Selector, CompilesTheApiForm) {
  LabelSelector api;
  api.match_labels = MakeLabels({{"app", "web"}});
  api.match_expressions = {Requirement("zone", "NotIn", {"z2", "z1"}), Requirement("app", "Exists", {}),
                           Requirement("old", "DoesNotExist", {})};
  const Result<Selector> selector = Selector::Compile(api);
  ASSERT_TRUE(selector.ok());
  EXPECT_EQ(selector->ToString(), "app=web,app,!old,zone notin (z1,z2)");
  EXPECT_TRUE(selector->Matches(MakeLabels({{"app", "web"}})));
  EXPECT_TRUE(selector->Matches(MakeLabels({{"app", "web"}, {"zone", "z3"}})));
  EXPECT_FALSE(selector->Matches(MakeLabels({{"app", "web"}, {"zone", "z1"}})));
  EXPECT_FALSE(selector->Matches(MakeLabels({{"app", "web"}, {"old", ""}})));
}

TEST(Selector, AbsentSelectsNothingEmptySelectsEverything) {
  const LabelSelector empty;
  const Selector nothing = *Selector::Compile(nullptr);
  const Selector everything = *Selector::Compile(&empty);
  EXPECT_EQ(nothing, Selector::Nothing());
  EXPECT_TRUE(nothing.matches_nothing());
  EXPECT_FALSE(nothing.empty());
  EXPECT_FALSE(nothing.Matches({}));
  EXPECT_EQ(everything, Selector::Everything());
  EXPECT_TRUE(everything.empty());
  EXPECT_TRUE(everything.Matches({}));
  EXPECT_NE(nothing, everything);

  Selector still_nothing = nothing;
  still_nothing.Add(Requirement::Unchecked(Symbol("a"), Symbol("b")));
  EXPECT_EQ(still_nothing, nothing);
}

TEST(Selector, CompileReportsWhatIsInvalid) {
  const std::string value_rule =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
      "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "
      "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  const std::pair<LabelSelectorRequirement, std::string> tests[] = {
      {Requirement("a", "Gt", {"5"}), "\"Gt\" is not a valid label selector operator"},
      {Requirement("a", "In", {}),
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {Requirement("a", "Exists", {"x", "<"}),
       "[values: Invalid value: [\"x\",\"\\u003c\"]: values set must be empty for exists and does not exist, "
       "values[1][a]: Invalid value: \"<\": " +
           value_rule + "]"},
      {Requirement("a", "In", {"-x"}), "values[0][a]: Invalid value: \"-x\": " + value_rule},
      {Requirement("UP.com/a", "Exists", {}),
       "key: Invalid value: \"UP.com/a\": prefix part a lowercase RFC 1123 subdomain must consist of lower case "
       "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
       "'example.com', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
      {Requirement(std::string(64, 'y'), "Exists", {}),
       "key: Invalid value: \"" + std::string(64, 'y') + "\": name part must be no more than 63 bytes"},
  };
  for (const auto& [expression, message] : tests) {
    LabelSelector api;
    api.match_expressions = {expression};
    const Result<Selector> selector = Selector::Compile(api);
    ASSERT_FALSE(selector.ok()) << message;
    EXPECT_EQ(selector.error().message, message);
  }
}

TEST(Selector, FromLabelsChecksNothing) {
  const Labels labels = MakeLabels({{"b", "-odd-"}, {"a", "1"}});
  const Selector selector = Selector::FromLabels(labels);
  EXPECT_EQ(selector.ToString(), "a=1,b=-odd-");
  EXPECT_TRUE(selector.Matches(labels));
  EXPECT_FALSE(selector.Matches(MakeLabels({{"a", "1"}})));
}

TEST(Selector, EqualSelectorsHashAlike) {
  const Selector a = *Selector::Parse("x in (a,b),y");
  LabelSelector api;
  api.match_expressions = {Requirement("y", "Exists", {}), Requirement("x", "In", {"b", "a"})};
  const Selector b = *Selector::Compile(api);
  EXPECT_EQ(a, b);
  EXPECT_EQ(std::hash<Selector>{}(a), std::hash<Selector>{}(b));
  EXPECT_NE(a, *Selector::Parse("x in (a,c),y"));
  EXPECT_NE(*Selector::Parse("a>5"), *Selector::Parse("a<5"));
}

TEST(FieldSelector, ReadsMatchesAndPrints) {
  const std::array<std::pair<std::string_view, std::string_view>, 2> fields = {
      {{"status.phase", "Running"}, {"metadata.name", "a=b"}}};
  const struct {
    std::string_view text, canonical;
    bool matches;
  } tests[] = {
      {"", "", true},
      {"spec.nodeName=", "spec.nodeName=", true},
      {"spec.nodeName!=", "spec.nodeName!=", false},
      {"status.phase==Running", "status.phase=Running", true},
      {"status.phase!=Failed,spec.nodeName=", "spec.nodeName=,status.phase!=Failed", true},
      {"metadata.name=a\\=b", "metadata.name=a\\=b", true},
      {"metadata.name=a\\,b", "metadata.name=a\\,b", false},
      {"=", "", true},
  };
  for (const auto& test : tests) {
    const Result<FieldSelector> selector = FieldSelector::Parse(test.text);
    ASSERT_TRUE(selector.ok()) << test.text;
    EXPECT_EQ(selector->ToString(), test.canonical);
    EXPECT_EQ(selector->Matches(fields), test.matches) << test.text;
  }
}

TEST(FieldSelector, SaysWhatItCouldNotRead) {
  const std::pair<std::string_view, std::string_view> tests[] = {
      {"a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"},
      {"a=b=c", "invalid field selector: unescaped character in value: 61"},
      {"a=b\\q", "invalid field selector: invalid escape sequence: \\q"},
      {"a=b\\", "invalid field selector: invalid escape sequence: \\"},
  };
  for (const auto& [text, message] : tests) {
    EXPECT_EQ(FieldSelector::Parse(text).error().message, message);
  }
}

}  // namespace
}  // namespace berth::api
