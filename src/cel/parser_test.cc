#include "cel/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "cel/testing/unparse.h"

namespace berth::cel {
namespace {

std::string Times(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string IssuesOf(std::string_view text) {
  const Parsed parsed = Parse(text);
  return parsed.issues.ToString(parsed.ast->source());
}

TEST(CelParser, PrintsWhatItParsed) {
  struct Row {
    const char* text;
    const char* printed;
  };
  constexpr Row kRows[] = {
      {"1+2*3", "1 + 2 * 3"},
      {"(1+2)*3", "(1 + 2) * 3"},
      {"1-(2-3)", "1 - (2 - 3)"},
      {"a&&b||c&&d", "a && b || c && d"},
      {"a&&b&&c&&d", "(a && b) && (c && d)"},
      {"a?b:c?d:e", "a ? b : c ? d : e"},
      {"(a?b:c)?d:e", "(a ? b : c) ? d : e"},
      {"!!a", "a"},
      {"!!!a", "!a"},
      {"--1", "1"},
      {"-(-1)", "-(-1)"},
      {"- 1", "-1"},
      {"-a.b", "-a.b"},
      {"a.b[0].?c[?\"d\"].e(1, 2)", "a.b[0].?c[?\"d\"].e(1, 2)"},
      {"[1,?2,]", "[1, ?2]"},
      {"{'a':1,?b:2}", "{\"a\": 1, ?b: 2}"},
      {"T.U{f:1}", "T.U{f: 1}"},
      {".a.b(c)", ".a.b(c)"},
      {"[1].map(x, x>0, x)", "[1].map(x, x > 0, x)"},
      {"has(a.b)", "has(a.b)"},
      {"cel.bind(x, 1, x)", "cel.bind(x, 1, x)"},
      {"r'\\d' + b'\\xff'", "\"\\\\d\" + b\"\\xff\""},
      {"1u + 0x10 + .5 + 1e3", "1u + 16 + 0.5 + 1000.0"},
      {"a in b == c", "a in b == c"},
      {"x // comment\n+ 1", "x + 1"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.text);
    const Parsed parsed = Parse(row.text);
    ASSERT_TRUE(parsed.issues.empty()) << parsed.issues.ToString(parsed.ast->source());
    EXPECT_EQ(Unparse(*parsed.ast->root()), row.printed);
    const Parsed again = Parse(row.printed);
    ASSERT_TRUE(again.issues.empty()) << again.issues.ToString(again.ast->source());
    EXPECT_TRUE(IsSameTree(*parsed.ast->root(), *again.ast->root()));
  }
}

TEST(CelParser, TellsTreesApart) {
  const auto same = [](std::string_view a, std::string_view b) {
    return IsSameTree(*Parse(a).ast->root(), *Parse(b).ast->root());
  };
  EXPECT_TRUE(same("a+b", "a + b"));
  EXPECT_FALSE(same("a+b", "b+a"));
  EXPECT_FALSE(same("1", "1u"));
  EXPECT_FALSE(same("0.0", "-0.0"));
  EXPECT_FALSE(same("[a]", "[?a]"));
  EXPECT_FALSE(same("a.b", "has(a.b)"));
  EXPECT_FALSE(same("[1].all(x, true)", "[1].all(y, true)"));
}

// Errors in the grammar: the position matters, the wording is ours.
TEST(CelParser, RefusesWhatIsNoExpression) {
  constexpr const char* kTexts[] = {"",       "1 +",     "(1",      "[1 2]", "{1}",       "a..b",  "a.1",   "1.2.3",
                                    "\"abc",  "'''x'",   "\"\\q\"", "a b",   "in == 1",   "?a",    "f(,)",  "f(1,)",
                                    "a ? b",  "{a: }",   "[?]",     "@x",    "a & b",     "a | b", "a = b", "\"\n\"",
                                    "a.true", "T{1: 2}", "-!a",     "`a`",   "b\"\\u00e9"};
  for (const char* text : kTexts) {
    SCOPED_TRACE(text);
    const Parsed parsed = Parse(text);
    EXPECT_FALSE(parsed.issues.empty());
    EXPECT_TRUE(parsed.syntax_error);
  }
}

TEST(CelParser, PointsAtTheProblem) {
  EXPECT_EQ(IssuesOf("1 + for"), "ERROR: <input>:1:5: reserved identifier: for\n | 1 + for\n | ....^");
  EXPECT_EQ(IssuesOf("1 ==\n\tif"), "ERROR: <input>:2:2: reserved identifier: if\n |  if\n | .^");
  EXPECT_EQ(IssuesOf("\"ö\" == 99999999999999999999"),
            "ERROR: <input>:1:8: invalid int literal\n | \"ö\" == 99999999999999999999\n | .．.....^");
  EXPECT_EQ(IssuesOf("[as, let]"),
            "ERROR: <input>:1:2: reserved identifier: as\n | [as, let]\n | .^\n"
            "ERROR: <input>:1:6: reserved identifier: let\n | [as, let]\n | .....^");
  EXPECT_EQ(IssuesOf("\"\\ud800\""), "ERROR: <input>:1:1: invalid unicode code point\n | \"\\ud800\"\n | ^");
  EXPECT_EQ(IssuesOf("a.`b-c`"), "ERROR: <input>:1:3: unsupported syntax: '`'\n | a.`b-c`\n | ..^");
}

TEST(CelParser, NestingIsLimitedAsUpstreamLimitsIt) {
  const std::string recursion = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
  const std::string depth = "ERROR: <input>:-1:0: max recursion depth exceeded";
  EXPECT_EQ(IssuesOf(Times("(", 249) + "1" + Times(")", 249)), "");
  EXPECT_EQ(IssuesOf(Times("(", 250) + "1" + Times(")", 250)), recursion);
  EXPECT_EQ(IssuesOf(Times("[", 250) + Times("]", 250)), "");
  EXPECT_EQ(IssuesOf(Times("[", 251) + Times("]", 251)), recursion);
  EXPECT_EQ(IssuesOf(Times("a ? b : ", 249) + "c"), "");
  EXPECT_EQ(IssuesOf(Times("a ? b : ", 250) + "c"), recursion);
  EXPECT_EQ(IssuesOf(Times("(1 + ", 124) + "1" + Times(")", 124)), "");
  EXPECT_EQ(IssuesOf(Times("(1 + ", 125) + "1" + Times(")", 125)), recursion);
  EXPECT_EQ(IssuesOf(Times("1 + ", 250) + "1"), "");
  EXPECT_EQ(IssuesOf(Times("1 + ", 251) + "1"), depth);
  EXPECT_EQ(IssuesOf("a" + Times(".b", 250)), "");
  EXPECT_EQ(IssuesOf("a" + Times(".b", 251)), depth);
  EXPECT_EQ(IssuesOf(Times("a && ", 3000) + "a"), "");
  EXPECT_EQ(IssuesOf(Times("!", 3000) + "a"), "");
}

TEST(CelParser, SizeIsLimited) {
  EXPECT_EQ(IssuesOf("\"" + std::string(99998, 'a') + "\""), "");
  EXPECT_EQ(IssuesOf("\"" + std::string(99999, 'a') + "\""),
            "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000");
  // Each optMap copies its target.
  EXPECT_EQ(IssuesOf("optional.of(1)" + Times(".optMap(x, x)", 40)),
            "ERROR: <input>:-1:0: expression size limit exceeded: macros expand to too many nodes");
}

}  // namespace
}  // namespace berth::cel
