#include "sim/bench_run.h"

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

// Every decision of every kind equals the one made from scratch; a difference ends the program.
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

TEST(EngineBenchOptions, AnUnknownKindIsRefusedByName) {
  EngineBenchOptions options;
  options.kind = "fast";
  const Result<EngineBenchResult> result = RunEngineBench(options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("found \"fast\""), std::string::npos);
}

}  // namespace
}  // namespace berth::sim
