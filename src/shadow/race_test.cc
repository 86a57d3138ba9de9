#include "shadow/race.h"

#include <fmt/format.h>

#include "shadow/testing/shadow_fixture.h"

namespace berth::shadow {
namespace {

using berth::testing::MakePod;
using berth::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RaceTest : public testing::ShadowFixture {};

// Two pods are decided one after the other, and their bindings become visible in the opposite order.
TEST_F(RaceTest, ABindingThatShowedUpBeforeItWasDecidedIsNamed) {
  Put(0, Node("n1"));
  Put(0, Node("n2", "3"));
  Put(99, Pod("first"));
  Put(99, Pod("second"));
  // Decided: first on n1, the emptier by fraction; then second on n2.
  Put(100.2, Pod("second").Node("n1"));
  Put(100.3, Pod("first").Node("n1"));
  Run();
  ASSERT_EQ(compared_.size(), 2u);
  EXPECT_EQ(compared_[1].verdict, Verdict::kRaced) << compared_[1].Text();
  EXPECT_EQ(compared_[1].without_race, Verdict::kLower);
  EXPECT_THAT(compared_[1].events, ElementsAre(HasSubstr("pod default/second bound to n1 (0.10s before)")));
}

TEST_F(RaceTest, ABindingThatShowsUpLaterIsNamed) {
  Put(0, Node("n1"));
  Put(0, Node("n2", "3"));
  Put(99, Pod("first"));
  Put(99, Pod("second"));
  // `first` went to n1 before `second` was scheduled, and its binding took longer.
  Put(100.2, Pod("second").Node("n2"));
  Put(100.6, Pod("first").Node("n1"));
  Run();
  ASSERT_EQ(compared_.size(), 2u);
  EXPECT_EQ(compared_[0].verdict, Verdict::kRaced) << compared_[0].Text();
  EXPECT_THAT(compared_[0].events, ElementsAre(HasSubstr("pod default/first bound to n1 (0.40s later)")));
}

// Its volumes are prepared first; the binding itself comes much later.
TEST_F(RaceTest, AnAnnouncementThatShowsUpLaterIsNamed) {
  Put(0, Node("n1"));
  Put(0, Node("n2", "3"));
  Put(99, Pod("first"));
  Put(99, Pod("second"));
  Put(100.2, Pod("second").Node("n2"));
  Put(100.6, Pod("first").NominatedNode("n1"));
  Run();
  ASSERT_EQ(compared_.size(), 2u);
  EXPECT_EQ(compared_[0].verdict, Verdict::kRaced) << compared_[0].Text();
  EXPECT_THAT(compared_[0].events, ElementsAre(HasSubstr("pod default/first bound to n1 (0.40s later)")));
  EXPECT_EQ(compared_[1].verdict, Verdict::kAgreed) << compared_[1].Text();
}

TEST_F(RaceTest, ANodeThatChangedAfterTheDecisionIsNamed) {
  Put(0, Node("n1"));
  Put(0, Node("n2"));
  Put(0, Pod("old", "2").Node("n2"));
  Put(99, Pod("p"));
  Put(100, Node("n1").Taint("maintenance"));
  Put(100.1, Pod("p").Node("n1"));
  const Comparison& only = Only();
  EXPECT_EQ(only.verdict, Verdict::kRaced) << only.Text();
  EXPECT_EQ(only.without_race, Verdict::kInfeasible);
  EXPECT_THAT(only.events, ElementsAre(HasSubstr("Node n1 changed")));
}

TEST_F(RaceTest, ADeletionThatTheSchedulerHadNotHeardOfIsNamed) {
  Put(0, Node("n1"));
  Put(0, Node("n2", "3"));
  Put(0, Pod("old", "2").Node("n1"));
  Put(99, Pod("p"));
  Delete(100, Pod("old", "2").Node("n1"));
  Put(100.1, Pod("p").Node("n2"));
  EXPECT_EQ(Only().verdict, Verdict::kRaced) << Only().Text();
  EXPECT_THAT(Only().events, ElementsAre(HasSubstr("pod default/old deleted from n1")));
}

TEST_F(RaceTest, APodGivenUpBeforeThereWasRoomRaced) {
  Put(0, Node("n1", "2"));
  Put(0, Pod("old", "2").Node("n1"));
  Put(99, Pod("p"));
  Delete(100, Pod("old", "2").Node("n1"));
  Put(100.1, GivenUp(Pod("p"), "0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_EQ(Only().verdict, Verdict::kRaced);
  EXPECT_EQ(Only().without_race, Verdict::kPlaceable);
}

// None alone explains it: both must have been decided later.
TEST_F(RaceTest, SeveralEventsTogetherAreFoundAndOnlyTheyAreNamed) {
  Put(0, Node("n1", "8"));
  Put(0, Node("n2", "6"));
  Put(99, Pod("p", "2"));
  for (const char* name : {"a", "b", "c"}) Put(99, Pod(name, "2"));
  Put(99, Pod("elsewhere", "100m"));
  Put(100.0, Pod("a", "2").Node("n1"));
  Put(100.1, Pod("elsewhere", "100m").Node("n2"));
  Put(100.2, Pod("b", "2").Node("n1"));
  Put(100.3, Pod("p", "2").Node("n1"));
  Run();
  const Comparison& last = compared_.back();
  ASSERT_EQ(last.pod, "default/p");
  EXPECT_EQ(last.verdict, Verdict::kRaced) << last.Text();
  for (const std::string& event : last.events) EXPECT_THAT(event, HasSubstr("bound to n1"));
}

// The node was full long before the pod was created; no other event around the decision is an excuse.
TEST_F(RaceTest, AReallyInfeasiblePlacementIsNotExcused) {
  Put(0, Node("n1", "2"));
  Put(0, Node("n2", "32"));
  Put(0, Pod("old", "2").Node("n1"));
  shadow().Begin();
  for (int i = 0; i < 20; ++i) {
    const PodBuilder other = MakePod(fmt::format("other-{}", i)).Request("cpu", "100m");
    Bind(99 + i * 0.01, 100 + i * 0.01, other, "n2");
  }
  Put(99.5, Pod("p"));
  Put(99.7, Node("n3", "1").Taint("other"));
  Put(100.5, Pod("p").Node("n1"));
  for (int i = 20; i < 40; ++i) {
    const PodBuilder other = MakePod(fmt::format("other-{}", i)).Request("cpu", "100m");
    Bind(99 + i * 0.01, 101 + i * 0.01, other, "n2");
  }
  Run();
  const auto found = std::find_if(compared_.begin(), compared_.end(),
                                  [](const Comparison& comparison) { return comparison.pod == "default/p"; });
  ASSERT_NE(found, compared_.end());
  EXPECT_EQ(found->verdict, Verdict::kInfeasible) << found->Text();
  EXPECT_THAT(found->events, IsEmpty());
  EXPECT_EQ(shadow().tally().Of(Verdict::kAgreed), 40u) << shadow().tally().Text();
}

// Whichever was decided first, the other did not fit: a scheduler that put both there has overcommitted the node.
TEST_F(RaceTest, TwoPodsOfWhichOnlyOneFitsDoNotExcuseEachOther) {
  Put(0, Node("n1", "2"));
  Put(0, Node("n2", "2"));
  Put(0, Pod("old", "1").Node("n2"));
  Put(99, Pod("one", "1500m"));
  Put(99, Pod("two", "1500m"));
  Put(100.0, Pod("one", "1500m").Node("n1"));
  Put(100.1, Pod("two", "1500m").Node("n1"));
  Run();
  ASSERT_EQ(compared_.size(), 2u);
  EXPECT_EQ(compared_[0].verdict, Verdict::kAgreed);
  EXPECT_EQ(compared_[1].verdict, Verdict::kInfeasible) << compared_[1].Text();
}

// With more than two pods: in every order, the last one does not fit.
TEST_F(RaceTest, PodsThatOverbookANodeTogetherAreNotExcused) {
  Put(0, Node("n1", "4"));
  for (int i = 0; i < 6; ++i) Put(99, Pod(fmt::format("p{}", i)));
  for (int i = 0; i < 6; ++i) Put(100 + i * 0.01, Pod(fmt::format("p{}", i)).Node("n1"));
  Run();
  EXPECT_EQ(shadow().tally().Of(Verdict::kAgreed), 4u) << shadow().tally().Text();
  EXPECT_EQ(shadow().tally().Of(Verdict::kInfeasible), 2u) << shadow().tally().Text();
}

// What happened before the pod existed was known when it was decided.
TEST_F(RaceTest, AChangeBeforeThePodWasSeenIsNoExcuse) {
  Put(0, Node("n1"));
  Put(0, Node("n2"));
  Put(90, Node("n1").Taint("maintenance"));
  Put(99, Pod("p"));
  Put(100.1, Pod("p").Node("n1"));
  EXPECT_EQ(Only().verdict, Verdict::kInfeasible) << Only().Text();
}

// A shadow that starts sees everything at once, as if it had just been created.
TEST_F(RaceTest, WhatWasThereWhenTheShadowBeganIsNoExcuse) {
  Put(100, Node("n1", "2"));
  Put(100, Node("n2", "2"));
  Put(100, Pod("old", "2").Node("n1"));
  Put(100, Pod("p"));
  shadow().Begin();
  Put(100.5, Pod("p").Node("n1"));
  EXPECT_EQ(Only().verdict, Verdict::kInfeasible) << Only().Text();
}

// A deletion that arrives after the binding also happened after it.
TEST_F(RaceTest, RoomThatComesLaterIsNoExcuse) {
  Put(0, Node("n1", "2"));
  Put(0, Node("n2", "2"));
  Put(0, Pod("old", "2").Node("n1"));
  Put(99, Pod("p"));
  Put(100, Pod("p").Node("n1"));
  Delete(100.2, Pod("old", "2").Node("n1"));
  EXPECT_EQ(Only().verdict, Verdict::kInfeasible) << Only().Text();
}

}  // namespace
}  // namespace berth::shadow
