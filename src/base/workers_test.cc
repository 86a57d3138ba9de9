#include "base/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace berth::base {
namespace {

TEST(Workers, EveryPlaceIsVisitedOnceWhateverTheNumberOfThreads) {
  for (const size_t threads : {1, 2, 3, 8}) {
    Workers workers(threads);
    EXPECT_EQ(workers.size(), threads);
    for (const size_t count : {0, 1, 7, 100, 1001}) {
      for (int round = 0; round < 50; ++round) {
        std::vector<int> visits(count, 0);
        workers.ForRanges(count, 1, [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) ++visits[i];
        });
        ASSERT_EQ(visits, std::vector<int>(count, 1)) << threads << " threads";
      }
    }
  }
}

TEST(Workers, ShortLoopsStayOnTheCallersThread) {
  Workers workers(4);
  std::atomic<int> calls = 0;
  workers.ForRanges(99, 50, [&](size_t begin, size_t end) {
    EXPECT_EQ(begin, 0u);
    EXPECT_EQ(end, 99u);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  workers.ForRanges(100, 50, [&](size_t, size_t) { ++calls; });
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace berth::base
