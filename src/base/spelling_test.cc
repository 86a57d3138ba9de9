#include "base/spelling.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

TEST(Spelling, CountsLettersThatDiffer) {
  struct Case {
    std::string_view a, b;
    size_t distance;
  };
  for (const Case& c : {Case{"", "", 0}, Case{"", "abc", 3}, Case{"pod", "Pod", 0}, Case{"pood", "pod", 1},
                        Case{"simluate", "simulate", 1}, Case{"kitten", "sitting", 3}, Case{"ca", "abc", 3}}) {
    EXPECT_EQ(EditDistance(c.a, c.b), c.distance) << c.a << " " << c.b;
    EXPECT_EQ(EditDistance(c.b, c.a), c.distance) << c.b << " " << c.a;
  }
}

TEST(Spelling, NamesTheNearestWordOrNone) {
  constexpr std::string_view kVerbs[] = {"simulate", "scheduler", "snapshot", "config", "diff"};
  EXPECT_EQ(NearestWord("simulat", kVerbs), "simulate");
  EXPECT_EQ(NearestWord("shceduler", kVerbs), "scheduler");
  EXPECT_EQ(NearestWord("dif", kVerbs), "diff");
  EXPECT_EQ(NearestWord("", kVerbs), "");
  EXPECT_EQ(NearestWord("x", kVerbs), "");
  EXPECT_EQ(NearestWord("kubernetes", kVerbs), "");
  EXPECT_EQ(NearestWord(std::string(100000, 'a'), kVerbs), "");
}

}  // namespace
}  // namespace berth::base
