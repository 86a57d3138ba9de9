#include "perf/bench_run.h"

#include <gtest/gtest.h>

namespace berth::perf {
namespace {

// Every decision of every kind must equal the one made from scratch; a difference aborts the program.
class EngineBench : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EngineBench, DecidesAsFromScratch) {
  EngineBenchOptions options;
  options.kind = GetParam();
  options.nodes = 60;  // more than the pods that warm up, so that anti-affinity leaves room
  options.pods = 300;
  options.verify_incremental = true;
  const Result<EngineBenchResult> result = RunEngineBench(options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->scheduled + result->unschedulable, options.pods);
  EXPECT_GT(result->scheduled, 0u);
  EXPECT_EQ(result->preempted > 0, options.kind.starts_with("preempt"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EngineBench, ::testing::ValuesIn(EngineBenchKinds()),
                         [](const auto& kind) { return std::string(kind.param); });

// Enough nodes for a second thread to be used; every decision is compared with one made from scratch.
TEST(EngineBenchThreads, DoNotChangeTheAnswer) {
  for (const char* kind : {"spread", "prefaffinity"}) {
    EngineBenchOptions options;
    options.kind = kind;
    options.nodes = 40'000;
    options.pods = 4;
    options.threads = 2;
    options.verify_incremental = true;
    const Result<EngineBenchResult> result = RunEngineBench(options);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result->scheduled, options.pods);
  }
}

TEST(EngineBenchOptions, PodsAreGoneAfterTheirLifetime) {
  EngineBenchOptions options;
  options.nodes = 2;  // room for 220 pods
  options.pods = 1000;
  options.lifetime = 200;
  const Result<EngineBenchResult> result = RunEngineBench(options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->scheduled, options.pods);
}

TEST(EngineBenchOptions, NoThreadsIsRefused) {
  EngineBenchOptions options;
  options.threads = 0;
  const Result<EngineBenchResult> result = RunEngineBench(options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "--threads: expected 1 to 256; found 0");
}

TEST(EngineBenchOptions, AnUnknownKindIsRefusedByName) {
  EngineBenchOptions options;
  options.kind = "fast";
  const Result<EngineBenchResult> result = RunEngineBench(options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("found \"fast\""), std::string::npos);
}

}  // namespace
}  // namespace berth::perf
