#include "config/feature_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace berth::config {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const Result<void>& result) { return result ? "" : result.error().message; }

TEST(FeatureGates, TableIsSortedAndComplete) {
  const auto gates = KnownFeatureGates();
  EXPECT_TRUE(std::ranges::is_sorted(gates, {}, &FeatureGate::name));
  EXPECT_EQ(gates.size(), 241u);
}

TEST(FeatureGates, DefaultsAreThoseOfV136) {
  const FeatureGates gates;
  for (const char* on : {"SchedulerQueueingHints", "DynamicResourceAllocation", "NodeDeclaredFeatures",
                         "DRASchedulerFilterTimeout", "DRAExtendedResource", "PodLevelResources",
                         "OpportunisticBatching", "SchedulerPopFromBackoffQ", "SchedulerAsyncPreemption",
                         "InPlacePodVerticalScaling", "MatchLabelKeysInPodTopologySpread", "ComponentFlagz"}) {
    EXPECT_TRUE(gates.Enabled(on)) << on;
  }
  for (const char* off : {"GangScheduling", "GenericWorkload", "StorageCapacityScoring", "SchedulerAsyncAPICalls",
                          "TaintTolerationComparisonOperators", "DRADeviceTaintRules", "AllAlpha",
                          "WorkloadAwarePreemption", "VolumeLimitScaling", "CoordinatedLeaderElection"}) {
    EXPECT_FALSE(gates.Enabled(off)) << off;
  }
}

TEST(FeatureGates, RefusesWithUpstreamsWords) {
  struct Case {
    const char* assignments;
    const char* error;
  } cases[] = {
      {"", ""},
      {"GenericWorkload=true,GangScheduling=true", ""},
      {" StorageCapacityScoring = T ,,", ""},
      {"NoSuch=true", "unrecognized feature gate: NoSuch"},
      {"PodLevelResources", "missing bool value for PodLevelResources"},
      {"PodLevelResources=maybe",
       "invalid value of PodLevelResources=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax"},
      {"SchedulerQueueingHints=false",
       "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true"},
      {"SchedulerQueueingHints=true", ""},
      {"GangScheduling=true",
       "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]"},
  };
  for (const Case& c : cases) {
    FeatureGates gates;
    EXPECT_EQ(ErrorOf(gates.Parse(c.assignments)), c.error) << c.assignments;
  }
}

TEST(FeatureGates, AFailedParseChangesNothing) {
  FeatureGates gates;
  EXPECT_FALSE(gates.Parse("StorageCapacityScoring=true,NoSuch=true").ok());
  EXPECT_FALSE(gates.Enabled("StorageCapacityScoring"));
}

TEST(FeatureGates, AllAlphaYieldsToGatesSetByName) {
  FeatureGates gates;
  ASSERT_EQ(ErrorOf(gates.Parse("StorageCapacityScoring=false,AllAlpha=true")), "");
  EXPECT_TRUE(gates.Enabled("GangScheduling"));
  EXPECT_FALSE(gates.Enabled("StorageCapacityScoring"));
  EXPECT_FALSE(gates.Enabled("SchedulerAsyncAPICalls"));  // beta
}

TEST(FeatureGates, SetsDependentGatesInAnyOrder) {
  FeatureGates gates;
  EXPECT_EQ(ErrorOf(gates.Set("GangScheduling", true)), "");
  EXPECT_THAT(ErrorOf(gates.Validate()), HasSubstr("GenericWorkload"));
  EXPECT_EQ(ErrorOf(gates.Set("GenericWorkload", true)), "");
  EXPECT_EQ(ErrorOf(gates.Validate()), "");
}

TEST(FeatureGates, SaysWhichSwitchesDoNothingHere) {
  FeatureGates gates;
  EXPECT_TRUE(gates.Warnings().empty());
  // Implemented, another component's, and at its default: no warning.
  ASSERT_EQ(ErrorOf(gates.Parse("StorageCapacityScoring=true,APIResponseCompression=false,OpportunisticBatching=true,"
                                "CoordinatedLeaderElection=true")),
            "");
  EXPECT_TRUE(gates.Warnings().empty());
  ASSERT_EQ(ErrorOf(gates.Parse("OpportunisticBatching=false")), "");
  EXPECT_THAT(gates.Warnings(), ::testing::ElementsAre(
                                    "OpportunisticBatching=false has no effect: berth knows this feature gate but does "
                                    "not implement it yet"));
}

TEST(FeatureGatesDeathTest, AskingForAnUnknownGateIsABug) {
  EXPECT_DEATH(FeatureGates().Enabled("NoSuch"), "feature gate");
}

}  // namespace
}  // namespace berth::config
