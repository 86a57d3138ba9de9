#include "shadow/shadow.h"

#include <fmt/format.h>

#include "shadow/testing/shadow_fixture.h"

namespace berth::shadow {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ShadowTest : public testing::ShadowFixture {};

TEST_F(ShadowTest, ABestNodeIsAgreed) {
  Put(0, Node("n1"));
  Put(0, Node("n2"));
  Put(0, Pod("old").Node("n1"));
  Bind(100, 101, Pod("new"), "n2");
  const Comparison& only = Only();
  EXPECT_EQ(only.verdict, Verdict::kAgreed);
  EXPECT_EQ(only.pod, "default/new");
  EXPECT_EQ(only.node, "n2");
  EXPECT_EQ(only.score, only.best_score);
  EXPECT_EQ(only.feasible_nodes, 2u);
  EXPECT_THAT(only.Text(), HasSubstr("agreed default/new on n2"));
}

TEST_F(ShadowTest, AnyOfSeveralBestNodesIsAgreed) {
  for (const char* name : {"n1", "n2", "n3"}) Put(0, Node(name));
  Bind(100, 101, Pod("new"), "n3");
  EXPECT_EQ(Only().verdict, Verdict::kAgreed);
  EXPECT_EQ(Only().best_count, 3u);
}

TEST_F(ShadowTest, ANodeThatScoresLessIsLowerAndThePluginsAreNamed) {
  Put(0, Node("n1"));
  Put(0, Node("n2"));
  Put(0, Pod("old", "2").Node("n1"));
  Bind(100, 101, Pod("new"), "n1");
  const Comparison& only = Only();
  EXPECT_EQ(only.verdict, Verdict::kLower);
  EXPECT_THAT(only.best, ElementsAre("n2"));
  ASSERT_TRUE(only.score && only.best_score);
  EXPECT_LT(*only.score, *only.best_score);
  int64_t gaps = 0;
  std::vector<std::string> plugins;
  for (const PluginGap& gap : only.plugins) {
    plugins.push_back(gap.plugin);
    gaps += gap.best - gap.chosen;
  }
  EXPECT_EQ(gaps, *only.best_score - *only.score);
  EXPECT_THAT(plugins, Contains("NodeResourcesFit"));
  EXPECT_FALSE(only.is_sampling_likely);
}

TEST_F(ShadowTest, ANodeWithoutRoomIsInfeasibleWithTheNumbers) {
  Put(0, Node("n1", "2"));
  Put(0, Node("n2"));
  Put(0, Pod("old", "1500m").Node("n1"));
  Bind(100, 101, Pod("new"), "n1");
  const Comparison& only = Only();
  EXPECT_EQ(only.verdict, Verdict::kInfeasible);
  EXPECT_EQ(only.plugin, "NodeResourcesFit");
  EXPECT_EQ(only.reason, "Insufficient cpu");
  EXPECT_THAT(only.detail, HasSubstr("needs 1 cpu, 0.5 free of 2"));
}

TEST_F(ShadowTest, ANodeThatNobodyHasHeardOfIsInfeasible) {
  Put(0, Node("n1"));
  Bind(100, 101, Pod("new"), "ghost");
  EXPECT_EQ(Only().verdict, Verdict::kInfeasible);
  EXPECT_THAT(Only().reason, HasSubstr("ghost is not known"));
}

TEST_F(ShadowTest, ThatNeitherFindsANodeIsAgreedAndTheMessagesAreCompared) {
  Put(0, Node("n1", "1"));
  Put(100, Pod("huge", "8"));
  Put(101, GivenUp(Pod("huge", "8"),
                   "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
                   "1 No preemption victims found for incoming pod."));
  EXPECT_EQ(Only().verdict, Verdict::kAgreed);
  EXPECT_TRUE(Only().is_same_message);
  EXPECT_EQ(shadow().tally().given_up, 1u);
}

TEST_F(ShadowTest, ADifferentMessageIsNoticed) {
  Put(0, Node("n1", "1"));
  Put(100, Pod("huge", "8"));
  Put(101, GivenUp(Pod("huge", "8"), "0/1 nodes are available: 1 Insufficient memory."));
  EXPECT_EQ(Only().verdict, Verdict::kAgreed);
  EXPECT_FALSE(Only().is_same_message);
}

TEST_F(ShadowTest, APodThatWasGivenUpThoughItFitsIsPlaceable) {
  Put(0, Node("n1"));
  Put(100, Pod("fits"));
  Put(101, GivenUp(Pod("fits"), "0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_EQ(Only().verdict, Verdict::kPlaceable);
  EXPECT_THAT(Only().Text(), HasSubstr("fits on 1 of 1 nodes for berth, best on n1"));
}

TEST_F(ShadowTest, TheSameConditionAgainIsNoNewDecision) {
  Put(0, Node("n1", "1"));
  Put(100, Pod("huge", "8"));
  Put(101, GivenUp(Pod("huge", "8"), "0/1 nodes are available: 1 Insufficient cpu."));
  Put(102, GivenUp(Pod("huge", "8").Label("touched", "yes"), "0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_THAT(Run(), SizeIs(1));
}

TEST_F(ShadowTest, SamplingIsNamedInAClusterThatIsLargeEnoughForIt) {
  Shadow::Options options;
  options.samples_from_nodes = 100;
  Make(options);
  for (int i = 0; i < 100; ++i) Put(0, Node(fmt::format("n{}", i)));
  Put(0, Pod("old", "2").Node("n1"));
  Bind(100, 101, Pod("new"), "n1");
  EXPECT_EQ(Only().verdict, Verdict::kLower);
  EXPECT_TRUE(Only().is_sampling_likely);
  EXPECT_EQ(shadow().tally().lower_by_sampling, 1u);
  EXPECT_THAT(Only().Text(), HasSubstr("likely sampled"));
}

TEST_F(ShadowTest, PodsOfOtherSchedulersAndPodsThatComeWithTheirNodeAreLeftOut) {
  Put(0, Node("n1"));
  Bind(100, 101, Pod("theirs").SchedulerName("other"), "n1");
  Put(102, Pod("static").Node("n1"));
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_EQ(shadow().tally().left_out.at("other"), 1u);
}

TEST_F(ShadowTest, ASchedulerByAnotherNameCanBeLookedAt) {
  Shadow::Options options;
  options.scheduler_names = {"other"};
  Make(options);
  Put(0, Node("n1"));
  Bind(100, 101, Pod("theirs").SchedulerName("other"), "n1");
  Bind(102, 103, Pod("mine"), "n1");
  EXPECT_EQ(Only().pod, "default/theirs");
  EXPECT_EQ(Only().verdict, Verdict::kAgreed);
}

TEST_F(ShadowTest, WhatWasThereAtTheBeginningIsNoDecision) {
  Put(0, Node("n1"));
  Put(0, Pod("p"));
  Put(0, Pod("p").Node("n1"));
  shadow().Begin();
  EXPECT_THAT(Run(), IsEmpty());
}

TEST_F(ShadowTest, ADecisionIsLookedAtWhenWhatComesNextIsKnown) {
  Put(0, Node("n1"));
  shadow().Begin();
  Bind(100, 101, Pod("p"), "n1");
  shadow().Advance(At(102.9));
  EXPECT_THAT(compared_, IsEmpty());
  shadow().Advance(At(103));
  EXPECT_THAT(compared_, SizeIs(1));
}

// A pod whose volumes are prepared is bound long after it was decided; kube-scheduler announces it.
TEST_F(ShadowTest, AnAnnouncedPodIsComparedOnceAndCountsOnItsNode) {
  Put(0, Node("n1"));
  Put(0, Node("n2"));
  Put(0, Pod("old", "2").Node("n2"));
  Put(100, Pod("slow", "2"));
  Put(101, Pod("slow", "2").NominatedNode("n1"));
  Bind(120, 121, Pod("next"), "n1");  // n1 and n2 are equal by now
  Put(130, Pod("slow", "2").NominatedNode("n1").Node("n1"));
  Bind(140, 141, Pod("last"), "n2");
  Run();
  ASSERT_THAT(compared_, SizeIs(3));
  for (const Comparison& comparison : compared_) EXPECT_EQ(comparison.verdict, Verdict::kAgreed) << comparison.Text();
}

TEST_F(ShadowTest, APreemptorIsComparedWhenItIsGivenUpAndWhenItIsBound) {
  Put(0, Node("n1", "2"));
  Put(0, Node("n2", "2"));
  Put(0, Pod("a", "2").Node("n1"));
  Put(0, Pod("b", "1500m").Node("n2"));
  const auto preemptor = [&] { return Pod("p", "1").Priority(100); };
  Put(100, preemptor());
  Put(101, GivenUp(preemptor().NominatedNode("n1"), "0/2 nodes are available: 2 Insufficient cpu."));
  Delete(102, Pod("a", "2").Node("n1"));
  Put(103, preemptor().NominatedNode("n1").Node("n1"));
  Run();
  ASSERT_THAT(compared_, SizeIs(2));
  EXPECT_EQ(compared_[0].verdict, Verdict::kAgreed);
  EXPECT_FALSE(compared_[0].bound());
  EXPECT_EQ(compared_[1].verdict, Verdict::kAgreed);
  EXPECT_TRUE(compared_[1].nominated);
}

}  // namespace
}  // namespace berth::shadow
