#include "storm/timeline.h"

#include <gtest/gtest.h>

#include <string>

#include "storm/process.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

TEST(Timeline, RunsEventsByTimeAndThenInTheOrderTheyWerePutDown) {
  Timeline timeline;
  std::string log;
  timeline.At(2s, [&] { log += 'c'; });
  timeline.At(1s, [&] { log += 'a'; });
  timeline.At(1s, [&] {
    log += 'b';
    timeline.After(0s, [&] { log += '!'; });
  });
  timeline.RunUntil(1500ms);
  EXPECT_EQ(log, "ab!");
  EXPECT_EQ(timeline.Now(), 1500ms);
  timeline.RunUntil(3s);
  EXPECT_EQ(log, "ab!c");
}

TEST(VirtualLoop, APausedProcessRunsWhatBecameDueWhenItGoesOn) {
  Timeline timeline;
  Process process(timeline, "p", 7);
  VirtualLoop loop(process);
  std::string log;
  loop.RunAfter(1s, [&] { log += 't'; });
  const base::TimerId cancelled = loop.RunAfter(2s, [&] { log += 'x'; });
  process.Pause();
  loop.Post([&] { log += 'p'; });
  timeline.RunUntil(5s);
  EXPECT_EQ(log, "");
  loop.Cancel(cancelled);
  process.Resume();
  timeline.RunUntil(6s);
  EXPECT_EQ(log, "pt");
  EXPECT_EQ(loop.timers(), 0U);
}

TEST(VirtualLoop, WhatIsNotDoneWhenItIsDestroyedIsNeverDone) {
  Timeline timeline;
  Process process(timeline, "p", 7);
  bool ran = false;
  {
    VirtualLoop loop(process);
    loop.RunAfter(1s, [&] { ran = true; });
  }
  timeline.RunUntil(5s);
  EXPECT_FALSE(ran);
}

TEST(Process, AStepOfTheWallClockLeavesMonotonicTimeAlone) {
  Timeline timeline;
  Process process(timeline, "p", 7);
  const base::Time wall = process.wall_clock().Now();
  const base::Duration monotonic = process.Monotonic();
  process.StepWallClock(-1h);
  timeline.RunUntil(10s);
  EXPECT_EQ(process.wall_clock().Now(), wall - 1h + 10s);
  EXPECT_EQ(process.Monotonic(), monotonic + 10s);
}

}  // namespace
}  // namespace berth::storm
