#include "base/uuid.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

TEST(MakeUuid, FollowsFromTheSeed) {
  Random random(1);
  EXPECT_EQ(MakeUuid(random), "b3f2af6d-0fc7-40c5-853b-559647364cea");
}

}  // namespace
}  // namespace berth::base
