#include "metrics/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "metrics/component_metrics.h"
#include "metrics/process_metrics.h"
#include "metrics/scheduler_metrics.h"

namespace berth::metrics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Registry, ExposesFamiliesSortedWithSortedLabels) {
  Registry registry;
  auto& attempts = registry.Add<Counter>({.name = "b_total",
                                          .help = "Back\\slash\nand line.",
                                          .stability = Stability::kStable,
                                          .labels = {"result", "profile"}});
  registry.AddSingle<Gauge>({.name = "c", .help = "A gauge."}).Set(-1.5);
  registry.Add<Gauge>({.name = "never", .help = "Has no sample.", .labels = {"x"}});
  auto& durations = registry.Add<Histogram>({.name = "a_seconds", .help = "H.", .labels = {"z"}, .buckets = {0.5, 2}});
  attempts.With("scheduled", "p\"q").Add(3);
  attempts.With("error", "p").Add();
  Histogram& duration = durations.With("1");
  for (const double seconds : {0.25, 0.5, 1.0, 4.0}) duration.Observe(seconds);
  EXPECT_EQ(registry.Expose(),
            "# HELP a_seconds H.\n"
            "# TYPE a_seconds histogram\n"
            "a_seconds_bucket{z=\"1\",le=\"0.5\"} 2\n"
            "a_seconds_bucket{z=\"1\",le=\"2\"} 3\n"
            "a_seconds_bucket{z=\"1\",le=\"+Inf\"} 4\n"
            "a_seconds_sum{z=\"1\"} 5.75\n"
            "a_seconds_count{z=\"1\"} 4\n"
            "# HELP b_total [STABLE] Back\\\\slash\\nand line.\n"
            "# TYPE b_total counter\n"
            "b_total{profile=\"p\",result=\"error\"} 1\n"
            "b_total{profile=\"p\\\"q\",result=\"scheduled\"} 3\n"
            "# HELP c A gauge.\n"
            "# TYPE c gauge\n"
            "c -1.5\n");
}

TEST(Registry, HandlesStayTheSameThroughLookupsAndReset) {
  Registry registry;
  auto& family = registry.Add<Counter>({.name = "n_total", .help = "", .labels = {"x"}});
  Counter& counter = family.With("a");
  counter.Add(5);
  EXPECT_EQ(&family.With("a"), &counter);
  registry.Reset();
  EXPECT_EQ(counter.value(), 0u);
  counter.Add();
  EXPECT_THAT(registry.Expose(), HasSubstr("n_total{x=\"a\"} 1\n"));
}

TEST(Registry, AsksForWhatIsComputedOnlyWhenExposing) {
  Registry registry;
  int asked = 0;
  registry.AddComputed({.name = "size", .help = "", .labels = {"type"}}, MetricType::kGauge, [&](SampleSink& sink) {
    sink.Add({"pods"}, 2);
    sink.Add({"nodes"}, ++asked);
  });
  EXPECT_EQ(asked, 0);
  EXPECT_THAT(registry.Expose(), HasSubstr("size{type=\"nodes\"} 1\n"));
  EXPECT_THAT(registry.Expose(), HasSubstr("size{type=\"nodes\"} 2\nsize{type=\"pods\"} 2\n"));
}

TEST(Registry, ThreadsLoseNothing) {
  Registry registry;
  auto& counters = registry.Add<Counter>({.name = "n_total", .help = "", .labels = {"x"}});
  Histogram& histogram = registry.AddSingle<Histogram>({.name = "h", .help = "", .buckets = {1, 2}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        counters.With("a").Add();
        histogram.Observe(i % 3);
        if (i % 1000 == 0) registry.Expose();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counters.With("a").value(), 40'000u);
  EXPECT_THAT(histogram.Read().cumulative, ElementsAre(4 * 6667, 40'000, 40'000));
  EXPECT_EQ(histogram.Read().sum, 4 * (3333 + 2 * 3333));
}

TEST(Histogram, ABoundBelongsToItsBucket) {
  const std::vector<double> bounds = {1, 2, 4};
  Histogram histogram(bounds);
  for (const double value : {-1.0, 1.0, 1.0000001, 4.0, 4.1, double{INFINITY}}) histogram.Observe(value);
  histogram.ObserveMany(3, 5);
  EXPECT_THAT(histogram.Read().cumulative, ElementsAre(2, 3, 9, 11));
}

TEST(ProcessMetrics, DescribeThisProcess) {
  Registry registry;
  AddProcessMetrics(registry);
  const std::string text = registry.Expose();
  for (const char* name :
       {"process_cpu_seconds_total", "process_open_fds", "process_max_fds", "process_virtual_memory_bytes",
        "process_resident_memory_bytes", "process_start_time_seconds"}) {
    EXPECT_THAT(text, HasSubstr("\n" + std::string(name) + " ")) << name;
  }
  EXPECT_THAT(text, Not(HasSubstr("process_resident_memory_bytes 0\n")));
  EXPECT_THAT(text, HasSubstr("# HELP process_open_fds Number of open file descriptors.\n"));
  EXPECT_GT(ProcessStartTime(), 1.6e9);
}

TEST(ComponentMetrics, TellBuildFeaturesAndThemselves) {
  Registry registry;
  AddBuildInfo(registry, {.major = "1", .minor = "36", .git_version = "v1.36.4", .platform = "linux/amd64"});
  AddFeatureStates(registry, {{"NodeDeclaredFeatures", "ALPHA", false}, {"SchedulerQueueingHints", "BETA", true}});
  AddMetaMetrics(registry);
  const std::string text = registry.Expose();
  EXPECT_THAT(text, HasSubstr("kubernetes_build_info{build_date=\"\",compiler=\"\",git_commit=\"\",git_tree_state=\"\","
                              "git_version=\"v1.36.4\",go_version=\"\",major=\"1\",minor=\"36\","
                              "platform=\"linux/amd64\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"NodeDeclaredFeatures\",stage=\"ALPHA\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"SchedulerQueueingHints\",stage=\"BETA\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("registered_metrics_total{deprecated_version=\"\",stability_level=\"BETA\"} 5\n"));
}

TEST(SchedulerMetrics, RecordAttempts) {
  Registry registry;
  SchedulerMetrics metrics(registry, {});
  const AttemptMetrics scheduled(metrics, kScheduled, "default-scheduler");
  scheduled.Record(0.0015);
  const std::string text = registry.Expose();
  EXPECT_THAT(text,
              HasSubstr("scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"scheduled\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_scheduling_attempt_duration_seconds_bucket{profile=\"default-scheduler\","
                              "result=\"scheduled\",le=\"0.001\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("result=\"scheduled\",le=\"16.384\"} 1\n"));
}

}  // namespace
}  // namespace berth::metrics
