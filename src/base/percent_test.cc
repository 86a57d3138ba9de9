#include "base/percent.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

TEST(DecodePercent, TakesTwoHexDigitsForAByte) {
  EXPECT_EQ(DecodePercent("a%20b%2Fc%2f+"), "a b/c/+");
  for (const char* bad : {"%", "%4", "a%4", "%4g", "%g4", "%-1", "%+1", "% 1"}) {
    EXPECT_EQ(DecodePercent(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace berth::base
