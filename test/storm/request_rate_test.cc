#include "storm/request_rate.h"

#include <gtest/gtest.h>

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

TEST(RequestRate, ABurstThenTheRate) {
  RequestRate rate(5, 10);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(rate.Take(1s)) << i;
  EXPECT_FALSE(RequestRate(rate).Take(1s));
  EXPECT_FALSE(RequestRate(rate).Take(1150ms));
  for (int i = 1; i <= 100; ++i) EXPECT_TRUE(rate.Take(1s + i * 200ms)) << i;
  EXPECT_FALSE(RequestRate(rate).Take(21s));
}

TEST(RequestRate, NothingIsSavedAboveTheBurst) {
  RequestRate rate(5, 10);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(rate.Take(1h)) << i;
  EXPECT_FALSE(rate.Take(1h));
}

}  // namespace
}  // namespace berth::storm
