#include "preemption/kept_trials.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::preemption {
namespace {

using ::berth::testing::At;
using ::berth::testing::FakeHandle;
using ::berth::testing::FitsCpu;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePdb;
using ::berth::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Three nodes a, b, c, each full with one pod that must go; a search reports which of them were tried.
class KeptTrialsTest : public ::testing::Test {
 protected:
  KeptTrialsTest() {
    handle_.SignWith([](const framework::PodInfo& pod) { return std::to_string(pod.requests().milli_cpu); });
    for (const char* name : {"a", "b", "c"}) {
      handle_.cluster().AddNode(MakeNode(name).Capacity("cpu", "2"));
      handle_.cluster().AddPod(On(name).StartTime("2026-01-01T00:00:00Z"));
    }
  }
  static testing::PodBuilder On(std::string_view node) {
    return MakePod(fmt::format("on-{}", node)).Node(node).Request("cpu", "2").Label("app", node);
  }
  framework::PodInfoPtr Preemptor(int32_t priority = 10) {
    return MakePod(fmt::format("p{}", ++number_)).Priority(priority).Request("cpu", "2").Info();
  }
  std::set<std::string> Tried(const framework::PodInfoPtr& pod) {
    tried_.clear();
    TrialShelf* shelf = kept_.ShelfFor(state_, *pod);
    EXPECT_NE(shelf, nullptr);
    const std::vector<framework::NodeIndex> nodes = {0, 1, 2};
    const DryRun dry_run(handle_, state_, *pod, kept_.Budgets());
    const Shortlist list = shelf->Find(dry_run, handle_.cluster(), nodes, 0, 3);
    std::set<std::string> tried = tried_;
    const DryRun from_scratch(handle_, state_, *pod);
    const Findings findings = FindCandidates(from_scratch, handle_.cluster(), nodes, 0, 3);
    EXPECT_EQ(FirstDifference(list, findings, handle_.cluster(), dry_run.now()), "");
    return tried;
  }

  std::set<std::string> tried_;
  FakeHandle handle_{[this](const framework::PodInfo& pod, const framework::NodeInfo& node) {
    tried_.insert(node.name());
    return FitsCpu(pod, node);
  }};
  framework::CycleState state_;
  KeptTrials kept_{handle_};
  int number_ = 0;
};

TEST_F(KeptTrialsTest, TriesOnlyWhatHasChanged) {
  EXPECT_THAT(Tried(Preemptor()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Tried(Preemptor()), IsEmpty());
  handle_.cluster().AddPod(MakePod("more").Node("b").Priority(1));
  EXPECT_THAT(Tried(Preemptor()), ElementsAre("b"));
}

TEST_F(KeptTrialsTest, PodsOfAnotherPriorityOrSignatureShareNothing) {
  Tried(Preemptor());
  EXPECT_THAT(Tried(Preemptor(11)), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Tried(MakePod("small").Priority(10).Request("cpu", "1").Info()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Tried(Preemptor()), IsEmpty()) << "both are kept";
}

TEST_F(KeptTrialsTest, PromisedNodesAreAlwaysTried) {
  Tried(Preemptor());
  handle_.nominator().Nominate(MakePod("peer").Priority(10).Info(), "c");
  handle_.nominator().Nominate(MakePod("lesser").Priority(9).Info(), "a");
  EXPECT_THAT(Tried(Preemptor()), ElementsAre("c"));
  EXPECT_THAT(Tried(Preemptor()), ElementsAre("c"));
}

TEST_F(KeptTrialsTest, BudgetsMatterWhereTheyProtectSomebody) {
  handle_.Add(MakePdb("b", {{"app", "b"}}, 1));
  handle_.Add(MakePdb("c", {{"app", "c"}}, 1));
  Tried(Preemptor());
  handle_.Add(MakePdb("b", {{"app", "b"}}, 1));
  EXPECT_THAT(Tried(Preemptor()), IsEmpty()) << "allows what it allowed";
  handle_.Add(MakePdb("b", {{"app", "b"}}, 0));
  EXPECT_THAT(Tried(Preemptor()), ElementsAre("b"));
  handle_.Add(MakePdb("b", {{"app", "a"}}, 0));
  EXPECT_THAT(Tried(Preemptor()), ElementsAre("a", "b", "c")) << "may protect anybody";
}

TEST_F(KeptTrialsTest, APodThatStartsInTheFutureBesideOneThatHasNotStarted) {
  handle_.clock().Set(At("2026-06-01T00:00:00Z"));
  handle_.cluster().AddPod(MakePod("early").Node("a").StartTime("2026-06-01T01:00:00Z"));
  Tried(Preemptor());
  EXPECT_THAT(Tried(Preemptor()), IsEmpty()) << "everybody has a start";
  handle_.cluster().AddPod(MakePod("new").Node("a"));
  Tried(Preemptor());
  EXPECT_THAT(Tried(Preemptor()), ElementsAre("a"));
  handle_.clock().Set(At("2026-06-01T02:00:00Z"));
  EXPECT_THAT(Tried(Preemptor()), ElementsAre("a"));
  EXPECT_THAT(Tried(Preemptor()), IsEmpty()) << "the order is settled";
  handle_.clock().Set(At("2026-06-01T00:00:00Z"));
  EXPECT_THAT(Tried(Preemptor()), ElementsAre("a")) << "the clock was set back";
}

TEST_F(KeptTrialsTest, BrokenTrialsAreRepeated) {
  handle_.BreakFilterOn("b");
  Tried(Preemptor());
  const framework::PodInfoPtr pod = Preemptor();
  TrialShelf* shelf = kept_.ShelfFor(state_, *pod);
  const std::vector<framework::NodeIndex> only_b = {1};
  for (int i = 0; i < 2; ++i) {
    const DryRun dry_run(handle_, state_, *pod, kept_.Budgets());
    EXPECT_THAT(shelf->Find(dry_run, handle_.cluster(), only_b, 0, 1).errors, ElementsAre("filter broke on b"));
  }
}

TEST_F(KeptTrialsTest, PodsWithoutASignatureHaveNoShelf) {
  handle_.SignWith({});
  EXPECT_EQ(kept_.ShelfFor(state_, *Preemptor()), nullptr);
}

}  // namespace
}  // namespace berth::preemption
