#include "client/token_bucket.h"

#include <gtest/gtest.h>

namespace berth::client {
namespace {

using namespace std::chrono_literals;

// Takes as many tokens as are available.
int TakeAll(TokenBucket& bucket, base::Duration now, double keep = 0) {
  int taken = 0;
  while (taken < 1000 && bucket.WaitFor(now, keep) == 0s) {
    bucket.Take(now);
    ++taken;
  }
  return taken;
}

TEST(TokenBucket, LetsABurstThroughAndSpacesTheRest) {
  TokenBucket bucket(10, 3);
  EXPECT_EQ(TakeAll(bucket, 5s), 3);
  EXPECT_EQ(bucket.WaitFor(5s, 0), 100ms);
  EXPECT_EQ(TakeAll(bucket, 5100ms), 1);
  EXPECT_EQ(TakeAll(bucket, 5250ms), 1);
  EXPECT_EQ(bucket.WaitFor(5250ms, 0), 50ms);
}

TEST(TokenBucket, FillsUpWithTimeButNeverBeyondTheBurst) {
  TokenBucket bucket(10, 3);
  TakeAll(bucket, 0s);
  EXPECT_EQ(TakeAll(bucket, 1h), 3);
}

TEST(TokenBucket, LeavesWhatOthersMayNeed) {
  TokenBucket bucket(10, 10);
  EXPECT_EQ(TakeAll(bucket, 0s, 4), 6);
  EXPECT_EQ(bucket.WaitFor(0s, 4), 100ms);
  EXPECT_EQ(TakeAll(bucket, 0s), 4);
  EXPECT_EQ(TakeAll(bucket, 1h, 100), 1) << "more than it holds cannot be left";
}

TEST(TokenBucket, GoesIntoNoDebt) {
  TokenBucket bucket(10, 3);
  for (int i = 0; i < 1000; ++i) bucket.Take(0s);
  EXPECT_EQ(bucket.WaitFor(0s, 0), 100ms);
}

TEST(TokenBucket, HasNoLimitWithoutARate) {
  for (const double qps : {0.0, -1.0}) {
    TokenBucket bucket(qps, 0);
    EXPECT_EQ(TakeAll(bucket, 0s, 50), 1000);
  }
}

}  // namespace
}  // namespace berth::client
