// Storms themselves: the same seed gives the same storm, a correct scheduler passes, and each known bug is found.
#include "storm/storm.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>

#include "storm/shrink.h"

namespace berth::storm {
namespace {

constexpr uint64_t kSeeds = 300;

// The first seed that violates an invariant, and which one.
std::optional<std::pair<uint64_t, Violation>> FirstFailure(const Scheduler& scheduler, uint64_t seeds) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Storm storm(MakePlan(seed), scheduler, Trace::Keep::kNothing);
    if (const std::optional<Violation> violation = storm.Run()) return std::pair(seed, *violation);
  }
  return std::nullopt;
}

TEST(Storm, TheSameSeedGivesTheSameTraceByteForByte) {
  for (uint64_t seed = 1; seed < 6; ++seed) {
    const Scheduler scheduler = FirstFitScheduler();
    Storm first(MakePlan(seed), scheduler, Trace::Keep::kLines);
    Storm second(MakePlan(seed), scheduler, Trace::Keep::kLines);
    first.Run();
    second.Run();
    ASSERT_GT(first.trace().lines().size(), 100U);
    EXPECT_EQ(first.trace().lines(), second.trace().lines()) << seed;
    EXPECT_EQ(first.trace().digest(), second.trace().digest()) << seed;
  }
}

TEST(Storm, ASchedulerThatIsRightPasses) {
  const auto failure = FirstFailure(FirstFitScheduler(), 60);
  EXPECT_FALSE(failure) << "seed " << failure->first << ": " << failure->second.message;
}

class StormDefects : public ::testing::TestWithParam<std::tuple<Defect, const char*>> {};

TEST_P(StormDefects, AreFound) {
  const auto [defect, invariant] = GetParam();
  const auto failure = FirstFailure(FirstFitScheduler(defect), kSeeds);
  ASSERT_TRUE(failure) << "not within " << kSeeds << " seeds";
  EXPECT_EQ(failure->second.invariant, invariant) << failure->second.message;
}

INSTANTIATE_TEST_SUITE_P(FirstFit, StormDefects,
                         ::testing::Values(std::tuple(Defect::kIgnoresLease, "no write outside a lease"),
                                           std::tuple(Defect::kDoesNotReport,
                                                      "every other pod has its condition and message"),
                                           std::tuple(Defect::kSleepsThroughNodes, "every pod that fits is bound")));

// Nobody takes a lease that has expired if there is nobody else.
TEST(Storm, AWriteAfterTheEndOfALeaseThatNobodyTakesIsFound) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Plan plan = MakePlan(seed);
    plan.instances = 1;
    const std::optional<Violation> violation =
        Storm(plan, FirstFitScheduler(Defect::kIgnoresLease), Trace::Keep::kNothing).Run();
    if (!violation || violation->message.find("after its lease had expired") == std::string::npos) continue;
    EXPECT_EQ(violation->invariant, "no write outside a lease");
    return;
  }
  FAIL() << "not within " << kSeeds << " seeds";
}

TEST(Shrink, LeavesOnlyWhatTheFailureNeeds) {
  const Scheduler scheduler = FirstFitScheduler(Defect::kDoesNotReport);
  const auto failure = FirstFailure(scheduler, kSeeds);
  ASSERT_TRUE(failure);
  const Plan whole = MakePlan(failure->first);
  const Plan small = Shrink(whole, scheduler, failure->second.invariant, [](const Plan&) {});
  EXPECT_EQ(small.instances, 1);
  EXPECT_EQ(small.nodes, 1);
  EXPECT_LT(small.length, whole.length);
  EXPECT_FALSE(small.has_faults());
  // Of a failure that needs none of them, no option is left.
  Plan plain{.seed = small.seed, .nodes = 1, .actions = small.actions, .length = small.length};
  EXPECT_EQ(Describe(small), Describe(plain));
  EXPECT_LT(small.actions.size(), whole.actions.size() / 2) << Describe(small);
  const auto fails = [&](const Plan& plan) {
    const std::optional<Violation> violation = Storm(plan, scheduler, Trace::Keep::kNothing).Run();
    return violation && violation->invariant == failure->second.invariant;
  };
  EXPECT_TRUE(fails(small));
  for (size_t i = 0; i < small.actions.size(); ++i) {
    Plan without = small;
    without.actions.erase(without.actions.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(fails(without)) << "action " << i << " is not needed:\n" << Describe(small);
  }
}

}  // namespace
}  // namespace berth::storm
