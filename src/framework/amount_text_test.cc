#include "framework/amount_text.h"

#include <gtest/gtest.h>

namespace berth::framework {
namespace {

TEST(AmountText, ReadsAsPeopleSayIt) {
  EXPECT_EQ(AmountText("cpu", 1300), "1.3");
  EXPECT_EQ(AmountText("cpu", 2000), "2");
  EXPECT_EQ(AmountText("cpu", 1), "0.001");
  EXPECT_EQ(AmountText("cpu", -500), "-0.5");
  EXPECT_EQ(AmountText("memory", int64_t{1536} << 20), "1.5Gi");
  EXPECT_EQ(AmountText("memory", (int64_t{1} << 30) - 1), "1Gi");
  EXPECT_EQ(AmountText("memory", 100), "100");
  EXPECT_EQ(AmountText("memory", 0), "0");
  EXPECT_EQ(AmountText("hugepages-2Mi", 4 << 20), "4Mi");
  EXPECT_EQ(AmountText("example.com/gpu", 2), "2");
}

TEST(QuantityText, ReadsAsKubernetesWritesIt) {
  EXPECT_EQ(QuantityText("cpu", 1300), "1300m");
  EXPECT_EQ(QuantityText("memory", int64_t{1536} << 20), "1536Mi");
  EXPECT_EQ(QuantityText("pods", 110), "110");
}

}  // namespace
}  // namespace berth::framework
