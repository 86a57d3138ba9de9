#include "plugins/default_preemption/default_preemption.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::plugins {
namespace {

using ::berth::testing::FakeHandle;
using ::berth::testing::FitsCpu;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePod;
using ::berth::testing::PodBuilder;
using framework::Code;
using framework::PostFilterResult;
using framework::Status;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PodBuilder Pod(std::string_view name, int32_t priority, std::string_view cpu) {
  return MakePod(name).Priority(priority).Request("cpu", cpu).StartTime("2026-01-01T00:00:00Z");
}

class DefaultPreemptionTest : public ::testing::Test {
 protected:
  PostFilterResult Run(PodBuilder builder, bool exhaustive = true, config::DefaultPreemptionArgs args = {}) {
    const framework::PodInfoPtr pod = builder.Info();
    framework::CycleState state;
    state.exhaustive_preemption = exhaustive;
    return DefaultPreemption(args, handle_).PostFilter(state, *pod, handle_.FilterAll(*pod));
  }
  // Nodes that differ only in name, each full with one pod.
  void AddAlike(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      handle_.cluster().AddNode(MakeNode(name).Capacity("cpu", "2"), {Pod(name, 1, "2").Info()});
    }
  }
  static std::vector<std::string> Names(const framework::Victims& victims) {
    std::vector<std::string> names;
    for (const auto& pod : victims.pods) names.push_back(pod->name());
    return names;
  }

  FakeHandle handle_{FitsCpu};
};

TEST_F(DefaultPreemptionTest, HoldsAPodBackWhileItsVictimsAreBeingDeleted) {
  const auto pod = Pod("p", 10, "2").Info();
  EXPECT_TRUE(DefaultPreemption({}, handle_).PreEnqueue(*pod).ok());
  handle_.api().evicting_for = {pod->uid()};
  const Status held = DefaultPreemption({}, handle_).PreEnqueue(*pod);
  EXPECT_EQ(held.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(held.Message(), "waiting for the preemption for this pod to be finished");
  EXPECT_TRUE(DefaultPreemption({}, handle_).PreEnqueue(*Pod("other", 10, "2").Info()).ok());
  ASSERT_TRUE(handle_.gates().Set("SchedulerAsyncPreemption", false).ok());
  EXPECT_TRUE(DefaultPreemption({}, handle_).PreEnqueue(*pod).ok());
}

TEST_F(DefaultPreemptionTest, ADeletedPodLiftsItsGateAndWakesNobody) {
  const auto events = DefaultPreemption({}, handle_).EventsToRegister();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].event.resource, framework::EventResource::kPod);
  EXPECT_EQ(events[0].event.action, framework::ActionType::kDelete);
  EXPECT_EQ(events[0].hint(*Pod("p", 10, "2").Info(), {}, {}), framework::QueueingHint::kSkip);
  ASSERT_TRUE(handle_.gates().Set("SchedulerAsyncPreemption", false).ok());
  EXPECT_THAT(DefaultPreemption({}, handle_).EventsToRegister(), IsEmpty());
}

TEST_F(DefaultPreemptionTest, NominatesTheNodeWhereItHurtsLeast) {
  handle_.cluster().AddNode(MakeNode("b").Capacity("cpu", "2"), {Pod("b1", 5, "2").Info()});
  handle_.cluster().AddNode(MakeNode("a").Capacity("cpu", "2"), {Pod("a1", 3, "1").Info(), Pod("a2", 2, "1").Info()});
  const PostFilterResult result = Run(Pod("p", 10, "2"));
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(result.nominated_node_name, "a");
  EXPECT_THAT(Names(result.victims), ElementsAre("a1", "a2"));
  EXPECT_FALSE(result.clear_nomination);
  ASSERT_THAT(result.candidates, SizeIs(2));
  EXPECT_EQ(result.candidates[0].node_name, "a");
  EXPECT_EQ(result.candidates[1].node_name, "b");
  EXPECT_THAT(Names(result.candidates[1].victims), ElementsAre("b1"));
}

TEST_F(DefaultPreemptionTest, TiesGoToTheFirstNameWhenExhaustive) {
  AddAlike({"c", "a", "b"});
  EXPECT_EQ(Run(Pod("p", 10, "2")).nominated_node_name, "a");
}

TEST_F(DefaultPreemptionTest, TiesAreBrokenAtRandomOtherwise) {
  AddAlike({"c", "a", "b"});
  std::set<std::string> chosen;
  for (int i = 0; i < 100; ++i) {
    const PostFilterResult result = Run(Pod("p", 10, "2"), /*exhaustive=*/false);
    EXPECT_THAT(result.candidates, IsEmpty());
    EXPECT_THAT(Names(result.victims), ElementsAre(result.nominated_node_name));
    chosen.insert(result.nominated_node_name);
  }
  EXPECT_THAT(chosen, ElementsAre("a", "b", "c"));
}

TEST_F(DefaultPreemptionTest, SamplesAsManyNodesAsConfigured) {
  // Node 0 is by far the cheapest, but a search of a tenth of the nodes seldom includes it.
  for (int i = 0; i < 50; ++i) {
    handle_.cluster().AddNode(MakeNode(fmt::format("n{}", i)).Capacity("cpu", "2"),
                              {Pod(fmt::format("v{}", i), i == 0 ? 1 : 5, "2").Info()});
  }
  const auto times_found = [&](config::DefaultPreemptionArgs args) {
    int found = 0;
    for (int i = 0; i < 200; ++i) found += Run(Pod("p", 10, "2"), false, args).nominated_node_name == "n0";
    return found;
  };
  EXPECT_EQ(times_found({}), 200) << "fewer nodes than the absolute minimum: all are tried";
  EXPECT_EQ(times_found({.min_candidate_nodes_percentage = 100, .min_candidate_nodes_absolute = 0}), 200);
  const int sampled = times_found({.min_candidate_nodes_percentage = 10, .min_candidate_nodes_absolute = 1});
  EXPECT_GT(sampled, 0);
  EXPECT_LT(sampled, 60);
}

TEST_F(DefaultPreemptionTest, SaysOfEveryNodeWhyItDoesNotHelp) {
  handle_.cluster().AddNode(MakeNode("low").Capacity("cpu", "4"),
                            {Pod("low", 1, "1").Info(), Pod("high", 20, "3").Info()});
  handle_.cluster().AddNode(MakeNode("peers").Capacity("cpu", "2"), {Pod("peer", 10, "2").Info()});
  handle_.cluster().AddNode(MakeNode("small").Capacity("cpu", "1"));
  const PostFilterResult result = Run(Pod("p", 10, "2").NominatedNode("low"));
  EXPECT_EQ(result.status.code(), Code::kUnschedulable);
  EXPECT_EQ(result.status.Message(),
            "preemption: 0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, "
            "1 Preemption is not helpful for scheduling.");
  EXPECT_TRUE(result.clear_nomination);
  EXPECT_EQ(result.nominated_node_name, "");
}

TEST_F(DefaultPreemptionTest, NoNodeIsWorthTrying) {
  handle_.cluster().AddNode(MakeNode("small").Capacity("cpu", "1"));
  const PostFilterResult result = Run(Pod("p", 10, "2"));
  EXPECT_EQ(result.status.Message(),
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
  EXPECT_TRUE(result.clear_nomination);
}

TEST_F(DefaultPreemptionTest, AnIneligiblePodKeepsItsNomination) {
  handle_.cluster().AddNode(MakeNode("n").Capacity("cpu", "2"), {Pod("v", 1, "2").Info()});
  const PostFilterResult result = Run(Pod("p", 10, "2").PreemptionPolicy("Never"));
  EXPECT_EQ(result.status, Status::Unschedulable("preemption: not eligible due to preemptionPolicy=Never."));
  EXPECT_FALSE(result.clear_nomination);
}

TEST_F(DefaultPreemptionTest, BrokenDryRunsMatterOnlyWithoutACandidate) {
  AddAlike({"a", "b", "c"});
  handle_.BreakFilterOn("a");
  EXPECT_EQ(Run(Pod("p", 10, "2")).nominated_node_name, "b");
  handle_.BreakFilterOn("b");
  handle_.BreakFilterOn("c");
  const PostFilterResult result = Run(Pod("p", 10, "2"));
  EXPECT_EQ(result.status, Status::Error("preemption: [filter broke on a, filter broke on b, filter broke on c]"));
  EXPECT_FALSE(result.clear_nomination);
}

TEST_F(DefaultPreemptionTest, CreateTakesItsOwnArgumentsOnly) {
  EXPECT_TRUE(DefaultPreemption::Create(config::DefaultPreemptionArgs{}, handle_).ok());
  EXPECT_TRUE(DefaultPreemption::Create({}, handle_).ok());
  EXPECT_FALSE(DefaultPreemption::Create(config::NodeAffinityArgs{}, handle_).ok());
}

TEST_F(DefaultPreemptionTest, ExplainsItsChoiceNodeByNode) {
  handle_.cluster().AddNode(MakeNode("a").Capacity("cpu", "2"), {Pod("a1", 5, "2").Info()});
  handle_.cluster().AddNode(MakeNode("b").Capacity("cpu", "2"), {Pod("b1", 3, "1").Info(), Pod("b2", 2, "1").Info()});
  handle_.cluster().AddNode(MakeNode("c").Capacity("cpu", "2"), {Pod("c1", 50, "2").Info()});
  handle_.cluster().AddNode(MakeNode("tiny").Capacity("cpu", "1"));
  const framework::PodInfoPtr pod = Pod("p", 10, "2").Info();
  const framework::PreemptionExplanation found =
      DefaultPreemption({}, handle_).ExplainPreemption(framework::CycleState(), *pod, handle_.FilterAll(*pod));
  EXPECT_EQ(found.not_eligible, "");
  EXPECT_EQ(found.not_helpful, 1u);
  std::vector<std::string> trials;
  for (const framework::PreemptionTrial& trial : found.trials) {
    trials.push_back(
        fmt::format("{}{} {}: {}", trial.node, trial.chosen ? " chosen" : "", trial.victims.size(), trial.verdict));
  }
  EXPECT_THAT(trials, ElementsAre("a 1: its most important victim has priority 5, that on b 3",
                                  "b chosen 2: the lowest priority of the most important victim",
                                  "c 0: No preemption victims found for incoming pod"));
}

TEST_F(DefaultPreemptionTest, ExplainsWhyAPodMayNotPreempt) {
  AddAlike({"a"});
  const framework::PodInfoPtr pod = Pod("p", 10, "2").PreemptionPolicy("Never").Info();
  const framework::PreemptionExplanation found =
      DefaultPreemption({}, handle_).ExplainPreemption(framework::CycleState(), *pod, handle_.FilterAll(*pod));
  EXPECT_EQ(found.not_eligible, "not eligible due to preemptionPolicy=Never.");
  EXPECT_THAT(found.trials, IsEmpty());
}

}  // namespace
}  // namespace berth::plugins
