// Extenders' part in the cycles, as seen from outside the scheduler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/load.h"
#include "engine/testing/fake_extender.h"
#include "engine/testing/world.h"
#include "plugins/registry.h"
#include "scheduler/scheduler.h"
#include "testing/builders.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::PodBuilder;
using engine::ExtenderVerdicts;
using engine::HostPriority;
using engine::Nodes;
using engine::testing::FakeExtender;
using framework::PreemptionCandidate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Lets the nodes of these names pass and says nothing about the others.
auto Pass(std::vector<std::string> names) {
  return [names](Nodes nodes) -> Result<ExtenderVerdicts> {
    ExtenderVerdicts verdicts;
    for (const framework::NodeInfo* node : nodes) {
      if (std::ranges::count(names, node->name()) > 0) verdicts.feasible.push_back(node);
    }
    return verdicts;
  };
}

template <class T>
auto Broken(std::string message) {
  return [message](auto&&...) -> Result<T> { return Error::Unavailable(message); };
}

auto Scores(std::vector<HostPriority> priorities) {
  return [priorities]() -> Result<std::vector<HostPriority>> { return priorities; };
}

class ExtenderTest : public ::testing::Test {
 protected:
  void AddNode(const std::string& name, const std::string& cpu = "2") {
    world_.cluster.UpsertNode(MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "8Gi").Shared());
  }
  void AddPod(const std::string& name, const std::string& node, const std::string& cpu, int32_t priority) {
    world_.cluster.UpsertPod(
        MakePod(name).Request("cpu", cpu).Priority(priority).Node(node).StartTime("2026-01-01T00:00:00Z").Shared());
  }
  void Make(std::vector<engine::Extender*> extenders) {
    const Scheduler::Options options{.verify_incremental = true, .extenders = std::move(extenders)};
    Result<std::unique_ptr<Scheduler>> scheduler =
        Scheduler::Create(config::DefaultConfiguration(world_.gates), registry_, world_.gates, world_.cluster,
                          world_.clock, world_.api, options);
    ASSERT_TRUE(scheduler.ok()) << scheduler.error().message;
    scheduler_ = std::move(*scheduler);
  }
  Attempt Schedule(PodBuilder pod = MakePod("web").Request("cpu", "1")) {
    return scheduler_->ScheduleOne(pod.Info(), base::Ticket{1});
  }

  engine::testing::World world_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  FakeExtender first_{"first"};
  FakeExtender second_{"second"};
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(ExtenderTest, FilterAfterThePluginsEachWhatTheOneBeforeLeft) {
  for (const char* name : {"c", "a", "b"}) AddNode(name);
  AddNode("small", "500m");
  first_.filter = Pass({"c", "b", "small"});
  second_.filter = Pass({"a", "b"});
  Make({&first_, &second_});
  const Attempt attempt = Schedule();
  EXPECT_EQ(attempt.outcome, Outcome::kBound) << attempt.message;
  EXPECT_EQ(attempt.node_name, "b");
  EXPECT_EQ(attempt.feasible_nodes, 1u);
  EXPECT_THAT(first_.calls, ElementsAre("filter a b c"));
  EXPECT_THAT(second_.calls, ElementsAre("filter b c"));
}

TEST_F(ExtenderTest, ABinderWasAskedToBindAfterTheLeaseWasLost) {
  AddNode("a");
  first_.bind = [](auto&&...) -> Result<void> { return {}; };
  bool leads = true;
  first_.set_may_bind([&] { return leads; });
  Make({&first_});
  EXPECT_EQ(Schedule().outcome, Outcome::kBound);
  leads = false;
  first_.calls.clear();
  const Attempt attempt = Schedule(MakePod("late").Request("cpu", "1"));
  EXPECT_EQ(attempt.outcome, Outcome::kError);
  EXPECT_EQ(attempt.message, "not sent: no longer the leader");
  EXPECT_THAT(first_.calls, IsEmpty());
}

TEST_F(ExtenderTest, ABindingThatAnExtenderDidNotConfirmGaveItsRoomAway) {
  AddNode("a");
  Error answer{ErrorCode::kDeadlineExceeded, "no answer"};
  first_.bind = [&](auto&&...) -> Result<void> { return answer; };
  bool is_bound = true;
  std::vector<std::string> asked;
  first_.set_confirm(
      [&](const framework::PodInfo& pod, const std::string& node_name, const Error& refusal) -> Result<void> {
        asked.push_back(pod.name() + " on " + node_name);
        return is_bound ? Result<void>() : Result<void>(refusal);
      });
  Make({&first_});
  EXPECT_EQ(Schedule(MakePod("bound").Request("cpu", "1")).outcome, Outcome::kBound);
  is_bound = false;
  const Attempt attempt = Schedule(MakePod("lost").Request("cpu", "1"));
  EXPECT_EQ(attempt.outcome, Outcome::kError);
  EXPECT_EQ(attempt.message, "no answer");
  EXPECT_THAT(asked, ElementsAre("bound on a", "lost on a"));
  answer = Error::Internal("no room");
  EXPECT_EQ(Schedule(MakePod("refused").Request("cpu", "1")).message, "no room");
  EXPECT_THAT(asked, SizeIs(2)) << "the extender has said that it did not bind the pod";
}

TEST_F(ExtenderTest, ReasonsAreToldLikeThoseOfPlugins) {
  for (const char* name : {"a", "b", "c", "silent"}) AddNode(name);
  AddNode("small", "500m");
  first_.filter = [](Nodes) -> Result<ExtenderVerdicts> {
    return ExtenderVerdicts{.feasible = {},
                            .failed = {{"a", "no licence"}, {"b", "no licence"}, {"c", "no licence"}, {"gone", "?"}},
                            .failed_and_unresolvable = {{"c", "wrong site"}}};
  };
  second_.filter = Pass({});
  Make({&first_, &second_});
  const Attempt attempt = Schedule();
  EXPECT_EQ(attempt.outcome, Outcome::kUnschedulable);
  EXPECT_EQ(attempt.message,
            "0/5 nodes are available: 1 Insufficient cpu, 1 wrong site, 2 no licence. no new claims to deallocate, "
            "preemption: 0/5 nodes are available: 2 No preemption victims found for incoming pod, 3 Preemption is not "
            "helpful for scheduling.");
  EXPECT_THAT(attempt.unschedulable_plugins, ElementsAre("Extender", "NodeResourcesFit"));
  EXPECT_THAT(second_.calls, IsEmpty()) << "there was no node left to ask about";
  const auto events = scheduler_->first_profile().EventsToRegister();
  ASSERT_TRUE(events.contains("Extender")) << "what an extender turned down is tried again on any event";
  EXPECT_THAT(events.at("Extender"), SizeIs(1));
}

TEST_F(ExtenderTest, AFilterThatFailsEndsTheCycleUnlessIgnorable) {
  AddNode("a");
  first_.filter = Broken<ExtenderVerdicts>("extender is down");
  second_.filter = Pass({"a"});
  Make({&first_, &second_});
  const Attempt attempt = Schedule();
  EXPECT_EQ(attempt.outcome, Outcome::kError);
  EXPECT_EQ(attempt.message, "extender is down");
  EXPECT_THAT(second_.calls, IsEmpty());

  first_.ignorable = true;
  Make({&first_, &second_});
  EXPECT_EQ(Schedule().outcome, Outcome::kBound);
}

TEST_F(ExtenderTest, ThoseThatMayBeIgnoredAreAskedLast) {
  AddNode("a");
  AddNode("b");
  first_.ignorable = true;
  first_.filter = Pass({"a"});
  second_.filter = Pass({"a"});
  Make({&first_, &second_});
  EXPECT_EQ(Schedule().outcome, Outcome::kBound);
  EXPECT_THAT(second_.calls, ElementsAre("filter a b"));
  EXPECT_THAT(first_.calls, ElementsAre("filter a"));
}

TEST_F(ExtenderTest, APodThatIsNobodysBusinessGoesTheShortWay) {
  AddNode("a");
  AddNode("b");
  first_.interested = [](const framework::PodInfo& pod) { return pod.name() == "gpu"; };
  first_.filter = Pass({});
  first_.prioritize = Scores({});
  first_.bind = Broken<void>("not mine");
  Make({&first_});
  const Attempt attempt = Schedule();
  EXPECT_EQ(attempt.outcome, Outcome::kBound) << attempt.message;
  EXPECT_THAT(attempt.evaluation.feasible, IsEmpty()) << "answered from what is kept";
  EXPECT_THAT(first_.calls, IsEmpty());
  EXPECT_EQ(Schedule(MakePod("gpu").Request("cpu", "1")).outcome, Outcome::kUnschedulable);
}

TEST_F(ExtenderTest, ScoresCountTenfoldTimesTheirWeight) {
  for (const char* name : {"a", "b", "c"}) AddNode(name);
  first_.score_weight = 3;
  first_.prioritize = Scores({{"b", 4}, {"c", 1}, {"elsewhere", 10}});
  second_.prioritize = Scores({{"b", 1}, {"c", 9}});
  Make({&first_, &second_});
  const Attempt attempt = Schedule();
  EXPECT_EQ(attempt.node_name, "b");
  const std::vector<int64_t>& totals = attempt.evaluation.totals;
  ASSERT_THAT(totals, SizeIs(3));
  EXPECT_EQ(totals[1] - totals[0], 4 * 3 * 10 + 1 * 10);
  EXPECT_EQ(totals[2] - totals[0], 1 * 3 * 10 + 9 * 10);
  EXPECT_EQ(attempt.score, totals[1]);
  EXPECT_EQ(attempt.evaluation.scores.back().plugin, "second");
}

TEST_F(ExtenderTest, AllArePrioritizingAtOnce) {
  AddNode("a");
  AddNode("b");
  size_t asked_before_first_answer = 0;
  first_.prioritize = [&]() -> Result<std::vector<HostPriority>> {
    asked_before_first_answer = first_.calls.size() + second_.calls.size();
    return std::vector<HostPriority>{};
  };
  second_.prioritize = Scores({{"b", 10}});
  Make({&first_, &second_});
  EXPECT_EQ(Schedule().node_name, "b");
  EXPECT_EQ(asked_before_first_answer, 2u);
}

TEST_F(ExtenderTest, FailingToPrioritizeHurtsNobody) {
  AddNode("a");
  AddNode("b");
  first_.prioritize = Broken<std::vector<HostPriority>>("extender is down");
  second_.prioritize = Scores({{"b", 10}});
  Make({&first_, &second_});
  const Attempt attempt = Schedule();
  EXPECT_EQ(attempt.outcome, Outcome::kBound);
  EXPECT_EQ(attempt.node_name, "b");
}

TEST_F(ExtenderTest, ANominationStandsOnlyIfTheExtendersAgree) {
  AddNode("a");
  AddNode("b");
  first_.filter = Pass({"b"});
  Make({&first_});
  const Attempt attempt = Schedule(MakePod("web").Request("cpu", "1").NominatedNode("a"));
  EXPECT_EQ(attempt.node_name, "b");
  EXPECT_FALSE(attempt.nominated);
  EXPECT_THAT(first_.calls, ElementsAre("filter a", "filter a b"));

  EXPECT_TRUE(Schedule(MakePod("next").Request("cpu", "1").NominatedNode("b")).nominated);
}

class PreemptingExtenderTest : public ExtenderTest {
 protected:
  PreemptingExtenderTest() {
    AddNode("n1");
    AddNode("n2");
    AddPod("cheap", "n1", "1", 1);
    AddPod("cheap-too", "n1", "1", 2);
    AddPod("dear", "n2", "2", 9);
  }
  Attempt SchedulePreemptor() { return Schedule(MakePod("vip").Request("cpu", "1").Priority(50)); }
};

TEST_F(PreemptingExtenderTest, StrikesCandidatesOffTheList) {
  first_.preempt = [](FakeExtender::Candidates candidates) -> Result<FakeExtender::Candidates> {
    std::erase_if(candidates, [](const PreemptionCandidate& candidate) { return candidate.node_name == "n1"; });
    return candidates;
  };
  Make({&first_});
  const Attempt attempt = SchedulePreemptor();
  EXPECT_EQ(attempt.post_filter.nominated_node_name, "n2");
  ASSERT_THAT(first_.calls, SizeIs(1));
  EXPECT_THAT(first_.calls[0], ::testing::AnyOf("preempt n1 n2", "preempt n2 n1"));
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate vip to n2", "evict dear for vip"));
}

TEST_F(PreemptingExtenderTest, ChoosesOtherVictims) {
  first_.preempt = [&](FakeExtender::Candidates) -> Result<FakeExtender::Candidates> {
    const auto& pods = world_.cluster.Find("n1")->pods();
    return FakeExtender::Candidates{{"n1", {.pods = {pods.begin(), pods.end()}, .pdb_violations = 0}}};
  };
  Make({&first_});
  EXPECT_THAT(SchedulePreemptor().post_filter.victims.pods, SizeIs(2));
}

TEST_F(PreemptingExtenderTest, ThatLeavesNothingEndsPreemption) {
  first_.preempt = [](FakeExtender::Candidates) -> Result<FakeExtender::Candidates> {
    return FakeExtender::Candidates{};
  };
  Make({&first_});
  const Attempt attempt = SchedulePreemptor();
  EXPECT_THAT(attempt.message, HasSubstr("preemption: no candidate node for preemption"));
  EXPECT_THAT(world_.api.calls, IsEmpty());
}

TEST_F(PreemptingExtenderTest, ThatFailsEndsPreemptionUnlessIgnorable) {
  first_.preempt = Broken<FakeExtender::Candidates>("extender is down");
  Make({&first_});
  EXPECT_THAT(SchedulePreemptor().message, HasSubstr("preemption: extender is down"));
  EXPECT_THAT(world_.api.calls, IsEmpty());

  first_.ignorable = true;
  Make({&first_});
  EXPECT_EQ(SchedulePreemptor().post_filter.nominated_node_name, "n1");
}

TEST_F(PreemptingExtenderTest, APreemptorSleptUntilSomethingHappenedBecauseAnExtenderDidNotAnswer) {
  first_.preempt = Broken<FakeExtender::Candidates>("context deadline exceeded");
  Make({&first_});
  const Attempt failed = SchedulePreemptor();
  EXPECT_EQ(failed.outcome, Outcome::kUnschedulable);
  EXPECT_THAT(failed.unschedulable_plugins, IsEmpty()) << "it waits for no event, only for its backoff";

  first_.preempt = [](FakeExtender::Candidates) -> Result<FakeExtender::Candidates> {
    return FakeExtender::Candidates{};
  };
  EXPECT_THAT(SchedulePreemptor().unschedulable_plugins, ElementsAre("NodeResourcesFit"));
}

TEST_F(ExtenderTest, TheFirstThatBindsDoesSoInPlaceOfThePlugins) {
  AddNode("a");
  first_.interested = [](const framework::PodInfo&) { return false; };
  first_.bind = Broken<void>("not mine");
  second_.bind = [] { return Result<void>(); };
  FakeExtender third{"third"};
  third.bind = Broken<void>("too late");
  Make({&first_, &second_, &third});
  EXPECT_EQ(Schedule().outcome, Outcome::kBound);
  EXPECT_THAT(second_.calls, ElementsAre("bind web to a"));
  EXPECT_THAT(world_.api.calls, IsEmpty());
}

TEST_F(ExtenderTest, ABindThatFailsIsAnErrorUnlessIgnorable) {
  AddNode("a");
  first_.bind = Broken<void>("extender is down");
  Make({&first_});
  const Attempt attempt = Schedule();
  EXPECT_EQ(attempt.outcome, Outcome::kError);
  EXPECT_EQ(attempt.message, "extender is down");
  EXPECT_FALSE(world_.cluster.IsAssumed("default/web"));
  EXPECT_THAT(world_.api.calls, IsEmpty());

  first_.ignorable = true;
  Make({&first_});
  EXPECT_EQ(Schedule().outcome, Outcome::kBound);
  EXPECT_THAT(world_.api.calls, ElementsAre("bind web to a"));
}

}  // namespace
}  // namespace berth::scheduler
