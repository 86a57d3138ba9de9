#include "base/go_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace berth::base {
namespace {

TEST(GoText, SpellsDurations) {
  const struct {
    int64_t nanos;
    const char* wanted;
  } cases[] = {
      {0, "0s"},
      {1, "1ns"},
      {-1, "-1ns"},
      {999, "999ns"},
      {1'000, "1\u00b5s"},
      {1'100, "1.1\u00b5s"},
      {999'999, "999.999\u00b5s"},
      {2'200'000, "2.2ms"},
      {999'999'999, "999.999999ms"},
      {1'000'000'000, "1s"},
      {3'300'000'000, "3.3s"},
      {10'000'000'001, "10.000000001s"},
      {60'000'000'000, "1m0s"},
      {-305'000'000'000, "-5m5s"},
      {3'600'000'000'000, "1h0m0s"},
      {19'445'000'000'000, "5h24m5s"},
      {std::numeric_limits<int64_t>::max(), "2562047h47m16.854775807s"},
      {std::numeric_limits<int64_t>::min(), "-2562047h47m16.854775808s"},
  };
  for (const auto& [nanos, wanted] : cases) {
    std::string out = "in ";
    AppendDuration(out, Duration(nanos));
    EXPECT_EQ(out, std::string("in ") + wanted);
  }
}

TEST(GoText, SpellsFloats) {
  const struct {
    double value;
    const char* wanted;
  } cases[] = {
      {0, "0"},
      {-0.0, "-0"},
      {1, "1"},
      {0.005, "0.005"},
      {0.0001, "0.0001"},
      {0.00012345, "0.00012345"},
      {1e-5, "1e-05"},
      {1.5e-5, "1.5e-05"},
      {16.384, "16.384"},
      {123456, "123456"},
      {999999.5, "999999.5"},
      {1e6, "1e+06"},
      {-31948800, "-3.19488e+07"},
      {1763264546.25, "1.76326454625e+09"},
      {1e100, "1e+100"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
      {std::numeric_limits<double>::denorm_min(), "5e-324"},
      {INFINITY, "+Inf"},
      {-INFINITY, "-Inf"},
      {NAN, "NaN"},
  };
  for (const auto& [value, wanted] : cases) {
    std::string out = "e ";
    AppendFloatG(out, value);
    EXPECT_EQ(out, std::string("e ") + wanted);
  }
}

}  // namespace
}  // namespace berth::base
