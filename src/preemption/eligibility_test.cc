#include "preemption/eligibility.h"

#include <gtest/gtest.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::preemption {
namespace {

using ::berth::testing::FakeHandle;
using ::berth::testing::FitsCpu;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePod;
using ::berth::testing::PodBuilder;
using framework::Status;

constexpr std::string_view kTerminating = "not eligible due to a terminating pod on the nominated node.";

PodBuilder Preemptor() { return MakePod("p").Priority(100).NominatedNode("n"); }
PodBuilder Target(std::string_view status, std::string_view reason) {
  return MakePod("target").Condition("DisruptionTarget", status, reason);
}
PodBuilder Evicted(int32_t priority) {
  return Target("True", "PreemptionByScheduler").Priority(priority).Terminating();
}

std::string_view WhyNot(PodBuilder preemptor, PodBuilder running, Status nominated = Status::Unschedulable("full")) {
  FakeHandle handle{FitsCpu};
  handle.cluster().AddNode(MakeNode("n").Capacity("cpu", "4"), {running.Info()});
  return WhyNotEligible(handle.cluster(), *preemptor.Info(), nominated);
}

TEST(Eligibility, ThePolicyNeverForbidsIt) {
  EXPECT_EQ(WhyNot(Preemptor().PreemptionPolicy("Never"), MakePod("x")), "not eligible due to preemptionPolicy=Never.");
  EXPECT_EQ(WhyNot(Preemptor().PreemptionPolicy("PreemptLowerPriority"), MakePod("x")), "");
}

TEST(Eligibility, WaitsForItsOwnVictims) {
  EXPECT_EQ(WhyNot(Preemptor(), Evicted(0)), kTerminating);
  EXPECT_EQ(WhyNot(Preemptor(), Evicted(99)), kTerminating);
}

TEST(Eligibility, DoesNotWaitForOthers) {
  EXPECT_EQ(WhyNot(Preemptor(), Evicted(100)), "") << "not of lower priority";
  EXPECT_EQ(WhyNot(Preemptor(), MakePod("x").Terminating()), "") << "deleted by somebody else";
  EXPECT_EQ(WhyNot(Preemptor(), Target("True", "PreemptionByScheduler")), "") << "not terminating yet";
  EXPECT_EQ(WhyNot(Preemptor(), Target("True", "EvictionByEvictionAPI").Terminating()), "");
  EXPECT_EQ(WhyNot(Preemptor(), Target("False", "PreemptionByScheduler").Terminating()), "");
  EXPECT_EQ(WhyNot(Preemptor().NominatedNode("elsewhere"), Evicted(0)), "") << "a node that is gone";
  EXPECT_EQ(WhyNot(Preemptor().NominatedNode(""), Evicted(0)), "");
}

TEST(Eligibility, ANominatedNodeThatIsBeyondHelpIsGivenUp) {
  EXPECT_EQ(WhyNot(Preemptor(), Evicted(0), Status::UnschedulableAndUnresolvable("tainted")), "");
}

}  // namespace
}  // namespace berth::preemption
