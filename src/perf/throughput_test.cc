#include "perf/throughput.h"

#include <gtest/gtest.h>

namespace berth::perf {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Throughput, OfNothingIsNothing) {
  EXPECT_EQ(SummarizeThroughput({}).pods, 0u);
  EXPECT_EQ(SummarizeThroughput({}).average, 0);
}

TEST(Throughput, IsAllPodsDividedByAllTheTime) {
  // Ten pods at the end of a second in which nothing was scheduled.
  const ThroughputSummary summary = SummarizeThroughput(std::vector<base::Duration>(10, seconds(1)));
  EXPECT_EQ(summary.pods, 10u);
  EXPECT_DOUBLE_EQ(summary.average, 10);
  // The intervals without pods are merged into the one that has them.
  EXPECT_DOUBLE_EQ(summary.perc50, 10);
  EXPECT_DOUBLE_EQ(summary.perc99, 10);
}

TEST(Throughput, LooksOnceASecondWhenThereIsTime) {
  std::vector<base::Duration> moments;
  // One pod a second for ten seconds, then three a second.
  for (int i = 1; i <= 10; ++i) moments.push_back(seconds(i));
  for (int i = 11; i <= 20; ++i) moments.insert(moments.end(), 3, seconds(i));
  const ThroughputSummary summary = SummarizeThroughput(moments);
  EXPECT_EQ(summary.interval, seconds(1));
  EXPECT_DOUBLE_EQ(summary.average, 2);
  EXPECT_DOUBLE_EQ(summary.perc50, 1);
  EXPECT_DOUBLE_EQ(summary.perc90, 3);
}

TEST(Throughput, LooksMoreOftenWhenThereIsLess) {
  std::vector<base::Duration> moments;
  for (int i = 1; i <= 50; ++i) moments.push_back(milliseconds(i));
  const ThroughputSummary summary = SummarizeThroughput(moments);
  EXPECT_EQ(summary.interval, milliseconds(1));
  EXPECT_DOUBLE_EQ(summary.average, 1000);
  EXPECT_DOUBLE_EQ(summary.perc50, 1000);
}

TEST(Throughput, OfOnePodAtOnceIsNotInfinite) {
  const ThroughputSummary summary = SummarizeThroughput({base::Duration(0)});
  EXPECT_EQ(summary.pods, 1u);
  EXPECT_GT(summary.average, 0);
  EXPECT_LT(summary.average, 1e10);
}

TEST(Throughput, LeavesTheLastPartOfAnIntervalOutOfThePercentiles) {
  // Two pods in each of ten whole seconds, then one pod a tenth of a second later.
  std::vector<base::Duration> moments;
  for (int i = 1; i <= 10; ++i) moments.insert(moments.end(), 2, seconds(i));
  moments.push_back(seconds(10) + milliseconds(100));
  EXPECT_DOUBLE_EQ(SummarizeThroughput(moments).perc99, 2);
}

}  // namespace
}  // namespace berth::perf
