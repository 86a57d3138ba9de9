#include "last_resort.h"

#include <gtest/gtest.h>

#include <future>

namespace berth::cmd {
namespace {

using namespace std::chrono_literals;

TEST(LastResortDeathTest, AProcessThatWasStuckWhileItEndedHadToBeKilled) {
  const auto get_stuck = [] {
    LastResort last_resort(10ms);
    last_resort.Arm();
    std::promise<void>().get_future().wait();
  };
  EXPECT_EXIT(get_stuck(), ::testing::ExitedWithCode(1), "Did not come to an end in time");
}

TEST(LastResort, LetsAProcessEndByItself) {
  LastResort armed(1h);
  armed.Arm();
  const LastResort never_armed(0ms);
}

}  // namespace
}  // namespace berth::cmd
