#include "api/int_or_string.h"

#include <gtest/gtest.h>

namespace berth::api {
namespace {

TEST(IntOrString, ScalesPercentagesAndKeepsNumbers) {
  const struct {
    IntOrString value;
    int total;
    int up, down;
  } tests[] = {
      {IntOrString::FromInt(3), 10, 3, 3},         {IntOrString::FromString("30%"), 10, 3, 3},
      {IntOrString::FromString("25%"), 10, 3, 2},  {IntOrString::FromString("0%"), 10, 0, 0},
      {IntOrString::FromString("100%"), 0, 0, 0},  {IntOrString::FromString("-50%"), 3, -1, -2},
      {IntOrString::FromString("+150%"), 3, 5, 4},
  };
  for (const auto& test : tests) {
    EXPECT_EQ(*test.value.ScaledValue(test.total, true), test.up) << test.value.ToString();
    EXPECT_EQ(*test.value.ScaledValue(test.total, false), test.down) << test.value.ToString();
  }
}

TEST(IntOrString, RefusesTextThatIsNoPercentage) {
  const std::pair<std::string, std::string_view> tests[] = {
      {"5", "invalid value for IntOrString: invalid type: string is not a percentage"},
      {"http", "invalid value for IntOrString: invalid type: string is not a percentage"},
      {"x%", "invalid value for IntOrString: invalid value \"x%\": strconv.Atoi: parsing \"x\": invalid syntax"},
      {"%", "invalid value for IntOrString: invalid value \"%\": strconv.Atoi: parsing \"\": invalid syntax"},
      {"99999999999999999999%",
       "invalid value for IntOrString: invalid value \"99999999999999999999%\": strconv.Atoi: parsing "
       "\"99999999999999999999\": value out of range"},
  };
  for (const auto& [text, message] : tests) {
    EXPECT_EQ(IntOrString::FromString(text).ScaledValue(10, true).error().message, message);
  }
}

TEST(IntOrString, PrintsWhatItHolds) {
  EXPECT_EQ(IntOrString::FromInt(-7).ToString(), "-7");
  EXPECT_EQ(IntOrString::FromString("30%").ToString(), "30%");
  EXPECT_NE(IntOrString::FromInt(7), IntOrString::FromString("7"));
}

}  // namespace
}  // namespace berth::api
