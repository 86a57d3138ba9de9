#include "client/rate_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace berth::client {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;

std::vector<base::Duration> TakeMany(RateLimiter& limiter, int count) {
  std::vector<base::Duration> delays;
  for (int i = 0; i < count; ++i) delays.push_back(limiter.Take());
  return delays;
}

TEST(RateLimiter, LetsABurstThroughAndSpacesTheRest) {
  base::FakeClock clock;
  RateLimiter limiter(10, 3, clock);
  EXPECT_THAT(TakeMany(limiter, 5), ElementsAre(0s, 0s, 0s, 100ms, 200ms));
}

TEST(RateLimiter, FillsUpWithTimeButNeverBeyondTheBurst) {
  base::FakeClock clock;
  RateLimiter limiter(10, 3, clock);
  TakeMany(limiter, 4);
  clock.Advance(100ms);  // when the fourth may go
  EXPECT_EQ(limiter.Take(), 100ms);
  clock.Advance(1h);
  EXPECT_THAT(TakeMany(limiter, 4), ElementsAre(0s, 0s, 0s, 100ms));
}

TEST(RateLimiter, HasNoLimitWithoutARate) {
  base::FakeClock clock;
  for (const double qps : {0.0, -1.0}) {
    RateLimiter limiter(qps, 0, clock);
    EXPECT_THAT(TakeMany(limiter, 1000), Each(0s));
  }
}

TEST(RateLimiter, LosesNothingWhenTheClockIsSetBack) {
  base::FakeClock clock(base::Time(1h));
  RateLimiter limiter(1, 1, clock);
  EXPECT_EQ(limiter.Take(), 0s);
  clock.Set(base::Time(0s));
  EXPECT_EQ(limiter.Take(), 1s);
  clock.Advance(2s);
  EXPECT_EQ(limiter.Take(), 0s);
}

}  // namespace
}  // namespace berth::client
