// Expressions that would take too much memory, time or stack: each must end, and report why.
#include <gtest/gtest.h>

#include <string>

#include "cel/evaluation.h"
#include "cel/testing/judge.h"

namespace berth::cel {
namespace {

constexpr char kCost[] = "cost: operation cancelled: actual cost limit exceeded";

std::string Repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// cel.bind(x0, first, cel.bind(x1, step of x0, …)).
std::string Chain(const std::string& first, std::string_view step, int times, std::string_view last) {
  std::string text = "cel.bind(x0, " + first + ", ";
  for (int i = 1; i < times; ++i) {
    std::string next(step);
    for (size_t at = next.find('$'); at != std::string::npos; at = next.find('$')) {
      next.replace(at, 1, "x" + std::to_string(i - 1));
    }
    text += "cel.bind(x" + std::to_string(i) + ", " + next + ", ";
  }
  std::string result(last);
  for (size_t at = result.find('$'); at != std::string::npos; at = result.find('$')) {
    result.replace(at, 1, "x" + std::to_string(times - 1));
  }
  return text + result + Repeat(")", times);
}

TEST(CelLimits, DoubledListsStayCheap) {
  EXPECT_EQ(Show(Judge(Chain("[1]", "$ + $", 40, "$.size() == 549755813888"))), "true");
  EXPECT_EQ(Show(Judge(Chain("[1]", "$ + $", 40, "$.sum() > 0"))), kCost);
  EXPECT_EQ(Show(Judge(Chain("[1]", "$ + $", 40, "5 in $"))), kCost);
  EXPECT_EQ(Show(Judge(Chain("[1]", "$ + $", 40, "$ == $"))), kCost);
  EXPECT_EQ(Show(Judge(Chain("[\"a\"]", "$ + $", 40, "$.join().size() > 0"))), kCost);
  EXPECT_EQ(Show(Judge(Chain("[1]", "$ + $", 40, "$.reverse() == []"))), kCost);
  EXPECT_EQ(Show(Judge(Chain("[1]", "$ + $", 40, "$.all(x, x == 1)"))), kCost);
  EXPECT_EQ(Show(Judge(Chain("[1]", "$ + $", 70, "$.size() > 0"))), kCost);
}

TEST(CelLimits, GrowingTextsEnd) {
  EXPECT_EQ(Show(Judge(Chain("\"aaaaaaaaaa\"", "$ + $", 40, "$.size() > 0"))), kCost);
  EXPECT_EQ(Show(Judge(Chain("\"aaaaaaaaaa\"", "\"%s%s\".format([$, $])", 40, "$.size() > 0"))), kCost);
  EXPECT_EQ(Show(Judge(Chain("\"aaaaaaaaaa\"", "$.replace(\"\", $)", 12, "$.size() > 0"))), kCost);
}

TEST(CelLimits, TypesThatDoubleAreRefused) {
  const std::string shown = Show(Judge(Chain("{1: 1}", "{$: $}", 60, "$.size() == 1")));
  EXPECT_EQ(shown, "compile: compilation failed: ERROR: <input>:-1:0: expression is too complex to be checked");
}

TEST(CelLimits, NestedLoopsStopAtTheCostLimit) {
  const Outcome outcome =
      Judge("lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, a + b + c >= 0)))");
  EXPECT_EQ(Show(outcome), kCost);
  EXPECT_GT(outcome.cost, kCostLimit);
  EXPECT_LT(outcome.cost, kCostLimit + 2000);
}

TEST(CelLimits, QuantitiesBeyondReasonAreRefused) {
  EXPECT_EQ(Show(Judge("quantity(\"1e2147483647\").isGreaterThan(quantity(\"1\"))")),
            "runtime: unable to parse quantity's suffix: the exponent is out of range");
  EXPECT_EQ(Show(Judge("quantity(\"1e4000\").isGreaterThan(quantity(\"1e3999\"))")), "true");
}

}  // namespace
}  // namespace berth::cel
