#include "perf/quantile_histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::perf {
namespace {

constexpr double kBounds[] = {1, 2, 4};

TEST(QuantileHistogram, InterpolatesInsideTheBucket) {
  QuantileHistogram histogram(kBounds);
  // One in (0, 1], two in (1, 2], one in (2, 4].
  for (const double value : {0.5, 1.5, 2.0, 3.0}) histogram.Observe(value);
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_DOUBLE_EQ(histogram.Average(), 1.75);
  EXPECT_DOUBLE_EQ(histogram.Quantile(0.125), 0.5);
  EXPECT_DOUBLE_EQ(histogram.Quantile(0.25), 1);
  EXPECT_DOUBLE_EQ(histogram.Quantile(0.5), 1.5);
  EXPECT_DOUBLE_EQ(histogram.Quantile(0.75), 2);
  EXPECT_DOUBLE_EQ(histogram.Quantile(0.9), 2 + 2 * 0.6);
  EXPECT_DOUBLE_EQ(histogram.Quantile(1), 4);
}

TEST(QuantileHistogram, WhatIsBeyondTheLastBoundCountsAsThatBound) {
  QuantileHistogram histogram(kBounds);
  histogram.Observe(1000);
  EXPECT_DOUBLE_EQ(histogram.Quantile(0.5), 4);
  EXPECT_DOUBLE_EQ(histogram.Average(), 1000);
}

TEST(Metrics, HaveUpstreamsBuckets) {
  const std::span<const double> attempt = Metrics::BoundsOf("scheduler_scheduling_attempt_duration_seconds");
  EXPECT_EQ(attempt.size(), 15u);
  EXPECT_DOUBLE_EQ(attempt.front(), 0.001);
  EXPECT_DOUBLE_EQ(attempt.back(), 16.384);
  const std::span<const double> plugin = Metrics::BoundsOf("scheduler_plugin_execution_duration_seconds");
  EXPECT_EQ(plugin.size(), 20u);
  EXPECT_DOUBLE_EQ(plugin[1], 0.000015);
  EXPECT_TRUE(Metrics::BoundsOf("scheduler_pending_pods").empty());
}

TEST(Metrics, AddUpByLabels) {
  constexpr char kMetric[] = "scheduler_plugin_execution_duration_seconds";
  Metrics metrics;
  metrics.At(kMetric, {{"plugin", "A"}, {"extension_point", "Filter"}}).Observe(1);
  metrics.At(kMetric, {{"plugin", "A"}, {"extension_point", "Score"}}).Observe(3);
  metrics.At(kMetric, {{"plugin", "B"}, {"extension_point", "Filter"}}).Observe(5);
  EXPECT_DOUBLE_EQ(metrics.Sum(kMetric, {{"plugin", "A"}})->Average(), 2);
  EXPECT_EQ(metrics.Sum(kMetric, {})->count(), 3u);
  EXPECT_EQ(metrics.Sum(kMetric, {{"plugin", "C"}}), nullptr);
  EXPECT_EQ(metrics.Sum("scheduler_event_handling_duration_seconds", {}), nullptr);
  EXPECT_THAT(metrics.Occurred(kMetric, {"plugin"}),
              ::testing::ElementsAre(MetricLabels{{"plugin", "A"}}, MetricLabels{{"plugin", "B"}}));
  metrics.Reset();
  EXPECT_EQ(metrics.Sum(kMetric, {}), nullptr);
}

}  // namespace
}  // namespace berth::perf
