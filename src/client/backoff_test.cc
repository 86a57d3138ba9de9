#include "client/backoff.h"

#include <gtest/gtest.h>

namespace berth::client {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, GrowsToItsLimitWithinTheJitter) {
  Backoff backoff({}, 7, 0s);
  base::Duration least = 800ms;
  for (int i = 0; i < 8; ++i) {
    const base::Duration wait = backoff.Next(1min);
    EXPECT_GE(wait, least);
    EXPECT_LE(wait, least * 2);
    least = std::min<base::Duration>(least * 2, 30s);
  }
}

TEST(Backoff, StartsOverAfterTwoMinutes) {
  Backoff backoff({.jitter = 0}, 7, 0s);
  EXPECT_EQ(backoff.Next(1s), 800ms);
  EXPECT_EQ(backoff.Next(2min), 1600ms);
  EXPECT_EQ(backoff.Next(2min + 1ns), 800ms);
  EXPECT_EQ(backoff.Next(2min + 2ns), 1600ms);
}

}  // namespace
}  // namespace berth::client
