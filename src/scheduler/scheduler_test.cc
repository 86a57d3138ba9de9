#include "scheduler/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cluster/testing/picture.h"
#include "config/load.h"
#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using cluster::testing::Picture;
using engine::testing::Add;
using framework::PermitResult;
using framework::Status;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using StatusFn = std::function<Status()>;

// The default plugins, and what a test adds to them.
class SchedulerTest : public ::testing::Test {
 protected:
  void AddNode(const std::string& name, const std::string& cpu = "2") {
    world_.cluster.UpsertNode(MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "8Gi").Shared());
  }
  void AddPod(const std::string& name, const std::string& node, const std::string& cpu, int32_t priority = 0) {
    world_.cluster.UpsertPod(
        MakePod(name).Request("cpu", cpu).Priority(priority).Node(node).StartTime("2026-01-01T00:00:00Z").Shared());
  }
  std::unique_ptr<Scheduler> Make(const std::vector<std::string>& more = {}, uint64_t seed = 1,
                                  std::vector<std::unique_ptr<BindingCycle>>* taken = nullptr) {
    config::KubeSchedulerConfiguration config = config::DefaultConfiguration(world_.gates);
    for (const std::string& name : more) config.profiles[0].plugins.multi_point.enabled.push_back({name, 0});
    Scheduler::Options options{.seed = seed, .verify_incremental = true, .exhaustive_preemption = true};
    if (taken)
      options.take_binding = [taken](std::unique_ptr<BindingCycle> cycle) { taken->push_back(std::move(cycle)); };
    Result<std::unique_ptr<Scheduler>> scheduler = Scheduler::Create(config, registry_, world_.gates, world_.cluster,
                                                                     world_.clock, world_.api, std::move(options));
    CHECK_WHY(scheduler.ok(), scheduler.ok() ? "" : scheduler.error().message.c_str());
    return std::move(*scheduler);
  }
  std::string SeenInTheCluster() const { return Picture(world_.cluster); }

  engine::testing::World world_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  std::vector<std::string> log_;
};

TEST_F(SchedulerTest, TellsEveryReasonWhenAllFiltersAreToBeChecked) {
  world_.cluster.UpsertNode(MakeNode("cordoned").Capacity("cpu", "1").Unschedulable().Shared());
  AddNode("small", "1");
  const auto told = [&](bool all) {
    config::KubeSchedulerConfiguration config = config::DefaultConfiguration(world_.gates);
    config.always_check_all_predicates = all;
    auto scheduler = Scheduler::Create(config, registry_, world_.gates, world_.cluster, world_.clock, world_.api,
                                       {.verify_incremental = true});
    return (*scheduler)->ScheduleOne(MakePod("big").Request("cpu", "2").Info(), base::Ticket{1});
  };
  const Attempt first = told(false);
  const Attempt all = told(true);
  EXPECT_THAT(first.message, ::testing::HasSubstr("1 Insufficient cpu, 1 node(s) were unschedulable."));
  EXPECT_THAT(all.message, ::testing::HasSubstr("1 node(s) were unschedulable, 2 Insufficient cpu."));
  EXPECT_EQ(all.unschedulable_plugins, first.unschedulable_plugins) << "the pod waits for the same events";
  for (const framework::NodeInfo* node : world_.cluster.nodes()) {
    EXPECT_EQ(all.diagnosis.node_to_status.Get(node->index()).code(),
              first.diagnosis.node_to_status.Get(node->index()).code());
  }
}

TEST_F(SchedulerTest, LooksAtAsManyNodesAsAPercentageCallsFor) {
  for (int i = 0; i < 300; ++i) AddNode("n" + std::to_string(i));
  const auto feasible = [&](std::optional<int32_t> global, std::optional<int32_t> own, std::string_view sampling) {
    config::KubeSchedulerConfiguration config = config::DefaultConfiguration(world_.gates);
    config.percentage_of_nodes_to_score = global;
    config.profiles[0].percentage_of_nodes_to_score = own;
    config.node_sampling = sampling;
    auto scheduler = Scheduler::Create(config, registry_, world_.gates, world_.cluster, world_.clock, world_.api, {});
    const Attempt attempt = (*scheduler)->ScheduleOne(MakePod("p").Request("cpu", "1").Info(), base::Ticket{1});
    world_.cluster.Forget("default/p");
    return std::pair(attempt.feasible_nodes, attempt.way);
  };
  EXPECT_EQ(feasible({}, {}, ""), std::pair(size_t{300}, Way::kLane));
  EXPECT_EQ(feasible(0, {}, "Exact"), std::pair(size_t{300}, Way::kLane));
  EXPECT_EQ(feasible(100, {}, ""), std::pair(size_t{300}, Way::kLane));
  EXPECT_EQ(feasible(50, {}, ""), std::pair(size_t{150}, Way::kSample));
  EXPECT_EQ(feasible(50, 40, ""), std::pair(size_t{120}, Way::kSample)) << "the profile's comes first";
  EXPECT_EQ(feasible(50, 0, ""), std::pair(size_t{300}, Way::kLane));
  EXPECT_EQ(feasible(1, {}, ""), std::pair(size_t{100}, Way::kSample)) << "at least a hundred";
  EXPECT_EQ(feasible({}, {}, "Upstream"), std::pair(size_t{144}, Way::kSample)) << "50 - 300 / 125 percent";
}

TEST_F(SchedulerTest, BindsAPodToANodeWithRoom) {
  AddNode("full", "100m");
  AddNode("free");
  const auto scheduler = Make();
  const Attempt attempt = scheduler->ScheduleOne(MakePod("web").Request("cpu", "1").Info(), base::Ticket{1});
  EXPECT_EQ(attempt.outcome, Outcome::kBound) << attempt.message;
  EXPECT_EQ(attempt.node_name, "free");
  EXPECT_THAT(world_.api.calls, ElementsAre("bind web to free"));
  EXPECT_TRUE(world_.cluster.IsAssumed("default/web"));
  EXPECT_EQ(scheduler->ScheduleOne(MakePod("next").Request("cpu", "1500m").Info(), base::Ticket{1}).outcome,
            Outcome::kUnschedulable)
      << "the first pod takes its room at once";
}

TEST_F(SchedulerTest, WithoutNodesNothingIsTried) {
  const Attempt attempt = Make()->ScheduleOne(MakePod("web").Info(), base::Ticket{1});
  EXPECT_EQ(attempt.outcome, Outcome::kUnschedulable);
  EXPECT_EQ(attempt.message, "no nodes available to schedule pods");
  EXPECT_THAT(attempt.unschedulable_plugins, IsEmpty());
}

TEST_F(SchedulerTest, SaysWhyAPodFitsNowhere) {
  AddNode("busy-1", "4");
  AddNode("busy-2", "4");
  AddPod("equal-1", "busy-1", "1");
  AddPod("equal-2", "busy-2", "1");
  world_.cluster.UpsertNode(MakeNode("tainted").Capacity("cpu", "8").Taint("gpu").Shared());
  const Attempt attempt = Make()->ScheduleOne(MakePod("web").Request("cpu", "4").Info(), base::Ticket{1});
  EXPECT_EQ(attempt.outcome, Outcome::kUnschedulable);
  EXPECT_EQ(
      attempt.message,
      "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. no new claims to deallocate, "
      "preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found "
      "for incoming pod.");
  EXPECT_THAT(attempt.unschedulable_plugins, ElementsAre("NodeResourcesFit", "TaintToleration"));
  EXPECT_THAT(world_.api.calls, IsEmpty());
}

TEST_F(SchedulerTest, PreemptionEvictsTheVictimsAndNominates) {
  AddNode("n1");
  AddNode("n2");
  AddPod("low-1", "n1", "1", 1);
  AddPod("low-2", "n1", "1", 2);
  AddPod("high", "n2", "2", 100);
  world_.cluster.nominator().Nominate(MakePod("hopeful").Request("cpu", "1").Priority(3).Info(), "n1");
  const auto scheduler = Make();
  const auto pod = MakePod("vip").Request("cpu", "2").Priority(50).Info();
  const Attempt attempt = scheduler->ScheduleOne(pod, base::Ticket{1});
  EXPECT_EQ(attempt.outcome, Outcome::kUnschedulable);
  EXPECT_EQ(attempt.post_filter.nominated_node_name, "n1");
  EXPECT_THAT(world_.api.calls, ::testing::UnorderedElementsAre("nominate vip to n1", "evict low-1 for vip",
                                                                "evict low-2 for vip", "nominate hopeful to nothing"));
  EXPECT_EQ(world_.cluster.nominator().NodeOf("default/vip"), "n1");
  EXPECT_EQ(world_.cluster.nominator().NodeOf("default/hopeful"), "") << "its promise rested on room that is taken now";

  // The victims go; the room is kept for the pod, which then takes it.
  world_.cluster.RemovePod("default/low-1");
  world_.cluster.RemovePod("default/low-2");
  EXPECT_EQ(scheduler->ScheduleOne(MakePod("thief").Request("cpu", "1").Info(), base::Ticket{1}).outcome,
            Outcome::kUnschedulable);
  EXPECT_EQ(scheduler->ScheduleOne(pod, base::Ticket{1}).node_name, "n1");
  EXPECT_TRUE(world_.cluster.nominator().empty());
}

TEST_F(SchedulerTest, AReserveFailureLeavesNoTrace) {
  Add<engine::testing::Reserver>(registry_, "First", &log_);
  Add<engine::testing::Reserver>(registry_, "Second", &log_, StatusFn([] { return Status::Unschedulable("taken"); }));
  AddNode("n1");
  const std::string before = SeenInTheCluster();
  const Attempt attempt =
      Make({"First", "Second"})
          ->ScheduleOne(MakePod("web").Request("cpu", "1").NominatedNode("n1").Info(), base::Ticket{1});
  EXPECT_EQ(attempt.outcome, Outcome::kUnschedulable);
  EXPECT_EQ(attempt.message, "0/1 nodes are available: 1 taken.");
  EXPECT_EQ(attempt.node_name, "");
  EXPECT_THAT(attempt.unschedulable_plugins, ElementsAre("Second"));
  EXPECT_THAT(log_, ElementsAre("reserve First", "reserve Second", "unreserve Second", "unreserve First"));
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate web to nothing"));
  EXPECT_EQ(SeenInTheCluster(), before);
}

TEST_F(SchedulerTest, ABindFailureLeavesNoTrace) {
  Add<engine::testing::Reserver>(registry_, "Reserver", &log_);
  AddNode("n1");
  const std::string before = SeenInTheCluster();
  world_.api.bind_answer = Status::Error("conflict");
  const Attempt attempt = Make({"Reserver"})->ScheduleOne(MakePod("web").Request("cpu", "1").Info(), base::Ticket{1});
  EXPECT_EQ(attempt.outcome, Outcome::kError);
  EXPECT_THAT(attempt.message, ::testing::HasSubstr("running Bind plugin \"DefaultBinder\": "));
  EXPECT_THAT(attempt.unschedulable_plugins, IsEmpty()) << "to be tried again after a backoff, whatever happens";
  EXPECT_THAT(log_, ElementsAre("reserve Reserver", "unreserve Reserver"));
  EXPECT_EQ(SeenInTheCluster(), before);
}

TEST_F(SchedulerTest, APreBindFailureLeavesNoTrace) {
  std::vector<std::string> steps;
  Add<engine::testing::PreBinder>(registry_, "PreBinder", &steps, Status::Success(),
                                  Status::Unschedulable("volume is gone"));
  AddNode("n1");
  const std::string before = SeenInTheCluster();
  const Attempt attempt = Make({"PreBinder"})->ScheduleOne(MakePod("web").Request("cpu", "1").Info(), base::Ticket{1});
  EXPECT_EQ(attempt.message, "volume is gone");
  EXPECT_THAT(attempt.unschedulable_plugins, IsEmpty());
  EXPECT_THAT(world_.api.calls, IsEmpty());
  EXPECT_EQ(SeenInTheCluster(), before);
}

TEST_F(SchedulerTest, ABindingCycleMayRunElsewhere) {
  AddNode("n1");
  std::vector<std::unique_ptr<BindingCycle>> taken;
  const auto scheduler = Make({}, 1, &taken);
  const Attempt attempt = scheduler->ScheduleOne(MakePod("web").Request("cpu", "1").Info(), base::Ticket{1});
  EXPECT_EQ(attempt.outcome, Outcome::kBinding);
  EXPECT_EQ(attempt.node_name, "n1");
  EXPECT_TRUE(world_.cluster.IsAssumed("default/web")) << "it takes its room at once";
  EXPECT_THAT(world_.api.calls, IsEmpty());
  ASSERT_EQ(taken.size(), 1u);
  taken[0]->Run();
  EXPECT_THAT(world_.api.calls, ElementsAre("bind web to n1"));
  const Attempt finished = scheduler->Finish(std::move(taken[0]));
  EXPECT_EQ(finished.outcome, Outcome::kBound);
  EXPECT_EQ(finished.node_name, "n1");
  EXPECT_TRUE(world_.cluster.IsAssumed("default/web"));
}

TEST_F(SchedulerTest, ABindingCycleThatFailsElsewhereLeavesNoTrace) {
  Add<engine::testing::Reserver>(registry_, "Reserver", &log_);
  AddNode("n1");
  const std::string before = SeenInTheCluster();
  world_.api.bind_answer = Status::Error("conflict");
  std::vector<std::unique_ptr<BindingCycle>> taken;
  const auto scheduler = Make({"Reserver"}, 1, &taken);
  (void)scheduler->ScheduleOne(MakePod("web").Request("cpu", "1").Info(), base::Ticket{1});
  taken.at(0)->Run();
  EXPECT_EQ(scheduler->Finish(std::move(taken[0])).outcome, Outcome::kError);
  EXPECT_THAT(log_, ElementsAre("reserve Reserver", "unreserve Reserver"));
  EXPECT_EQ(SeenInTheCluster(), before);
}

TEST_F(SchedulerTest, ABindingThatTheApiConfirmedStandsThoughItsAnswerWasLost) {
  AddNode("n1");
  world_.api.bind_answer = Status::Error("connection reset");
  std::vector<std::unique_ptr<BindingCycle>> taken;
  const auto scheduler = Make({}, 1, &taken);
  (void)scheduler->ScheduleOne(MakePod("web").Request("cpu", "1").Info(), base::Ticket{1});
  taken.at(0)->Run();
  world_.cluster.UpsertPod(MakePod("web").Request("cpu", "1").Node("n1").Shared());
  EXPECT_EQ(scheduler->Finish(std::move(taken[0])).outcome, Outcome::kError);
  EXPECT_EQ(world_.cluster.NodeOf("default/web"), "n1");
}

class PermitTest : public SchedulerTest {
 protected:
  PermitTest() {
    Add<engine::testing::Permitter>(registry_, "Gang", PermitResult{Status::Wait(), seconds(10)});
    Add<engine::testing::Permitter>(registry_, "Budget", PermitResult{Status::Wait(), seconds(20)});
    Add<engine::testing::Reserver>(registry_, "Reserver", &log_);
    AddNode("n1");
    before_ = SeenInTheCluster();
    scheduler_ = Make({"Gang", "Budget", "Reserver"});
    waiting_ = scheduler_->ScheduleOne(MakePod("web").Request("cpu", "1").Info(), base::Ticket{1});
  }

  std::string before_;
  std::unique_ptr<Scheduler> scheduler_;
  Attempt waiting_;
};

TEST_F(PermitTest, AWaitingPodHoldsItsRoomUntilAllAllowIt) {
  EXPECT_EQ(waiting_.outcome, Outcome::kWaiting);
  EXPECT_EQ(waiting_.node_name, "n1");
  EXPECT_TRUE(world_.cluster.IsAssumed("default/web"));
  EXPECT_THAT(world_.api.calls, IsEmpty());
  scheduler_->waiting_pods().Allow("default/web", "Gang");
  EXPECT_THAT(scheduler_->FinishWaiting(), IsEmpty());
  scheduler_->waiting_pods().Allow("default/web", "Budget");
  const std::vector<Attempt> finished = scheduler_->FinishWaiting();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].outcome, Outcome::kBound);
  EXPECT_EQ(finished[0].node_name, "n1");
  EXPECT_THAT(world_.api.calls, ElementsAre("bind web to n1"));
  EXPECT_TRUE(world_.cluster.IsAssumed("default/web"));
  EXPECT_THAT(scheduler_->FinishWaiting(), IsEmpty());
}

TEST_F(PermitTest, ARejectedPodGivesItsRoomBack) {
  scheduler_->waiting_pods().Reject("default/web", "Gang", "too few members");
  const std::vector<Attempt> finished = scheduler_->FinishWaiting();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].outcome, Outcome::kUnschedulable);
  EXPECT_EQ(finished[0].message, "0/1 nodes are available: 1 too few members.");
  EXPECT_THAT(finished[0].unschedulable_plugins, ElementsAre("Gang"));
  EXPECT_THAT(log_, ElementsAre("reserve Reserver", "unreserve Reserver"));
  EXPECT_EQ(SeenInTheCluster(), before_);
}

TEST_F(PermitTest, ThePatienceOfOnePluginIsThatOfAll) {
  world_.clock.Advance(seconds(9));
  EXPECT_THAT(scheduler_->FinishWaiting(), IsEmpty());
  world_.clock.Advance(seconds(1));
  const std::vector<Attempt> finished = scheduler_->FinishWaiting();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].outcome, Outcome::kUnschedulable);
  EXPECT_THAT(finished[0].message, ::testing::HasSubstr("rejected due to timeout after waiting"));
  EXPECT_THAT(finished[0].unschedulable_plugins, ElementsAre("Gang"));
  EXPECT_EQ(SeenInTheCluster(), before_);
}

TEST_F(PermitTest, AWaitingVictimIsTurnedAwayInsteadOfEvicted) {
  const Attempt attempt =
      scheduler_->ScheduleOne(MakePod("vip").Request("cpu", "2").Priority(9).Info(), base::Ticket{1});
  EXPECT_EQ(attempt.post_filter.nominated_node_name, "n1");
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate vip to n1"));
  const std::vector<Attempt> finished = scheduler_->FinishWaiting();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].pod->name(), "web");
  EXPECT_EQ(SeenInTheCluster(), before_);
}

TEST_F(SchedulerTest, AWaitingPodNoLongerCountsAsNominated) {
  Add<engine::testing::Permitter>(registry_, "Gang", PermitResult{Status::Wait(), seconds(10)});
  AddNode("n1", "2");
  const auto scheduler = Make({"Gang"});
  const auto pod = MakePod("web").Request("cpu", "1").Priority(5).Info();
  world_.cluster.nominator().Nominate(pod, "n1");
  EXPECT_EQ(scheduler->ScheduleOne(pod, base::Ticket{1}).outcome, Outcome::kWaiting);
  EXPECT_EQ(scheduler->ScheduleOne(MakePod("other").Request("cpu", "1").Info(), base::Ticket{1}).outcome,
            Outcome::kWaiting)
      << "the pod counts once, not twice";
}

TEST_F(SchedulerTest, TiesAreBrokenByTheSeed) {
  for (int i = 0; i < 4; ++i) AddNode("n" + std::to_string(i));
  const auto choice = [&](uint64_t seed) {
    const Attempt attempt = Make({}, seed)->ScheduleOne(MakePod("web").Request("cpu", "1").Info(), base::Ticket{1});
    world_.cluster.Forget("default/web");
    return attempt.node_name;
  };
  std::set<std::string> chosen;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string node = choice(seed);
    EXPECT_EQ(choice(seed), node);
    chosen.insert(node);
  }
  EXPECT_EQ(chosen.size(), 4u);
}

TEST_F(SchedulerTest, EachPodIsItsSchedulersBusiness) {
  const auto scheduler = Make();
  EXPECT_NE(scheduler->FindProfile("default-scheduler"), nullptr);
  EXPECT_EQ(scheduler->FindProfile(""), scheduler->FindProfile("default-scheduler"));
  EXPECT_EQ(scheduler->FindProfile("somebody-else"), nullptr);
}

TEST_F(SchedulerTest, ProfilesMustBeDistinctAndAgreeOnTheQueue) {
  Add<engine::testing::Sorter>(registry_, "OtherSort");
  const auto error_of = [&](const std::function<void(config::KubeSchedulerConfiguration&)>& change) {
    config::KubeSchedulerConfiguration config = config::DefaultConfiguration(world_.gates);
    change(config);
    const auto scheduler = Scheduler::Create(config, registry_, world_.gates, world_.cluster, world_.clock, world_.api,
                                             Scheduler::Options{});
    return scheduler.ok() ? "none" : scheduler.error().message;
  };
  EXPECT_EQ(error_of([](auto& config) { config.profiles.push_back(config.profiles[0]); }),
            "duplicate profile with scheduler name \"default-scheduler\"");
  EXPECT_EQ(error_of([](auto& config) { config.profiles.clear(); }), "at least one profile is required");
  EXPECT_THAT(error_of([](auto& config) {
                config.profiles.push_back(config.profiles[0]);
                config.profiles[1].scheduler_name = "second";
                auto& sort = config.profiles[1].plugins.at(config::ExtensionPoint::kQueueSort);
                sort.disabled = engine::testing::PluginsNamed({"*"});
                sort.enabled = engine::testing::PluginsNamed({"OtherSort"});
              }),
              ::testing::HasSubstr("different queue sort plugins for profile \"second\": \"OtherSort\", first: "
                                   "\"PrioritySort\""));
  EXPECT_EQ(error_of([](auto& config) {
              auto& sort = config.profiles[0].plugins.at(config::ExtensionPoint::kQueueSort);
              sort.disabled = engine::testing::PluginsNamed({"*"});
              sort.enabled = engine::testing::PluginsNamed({"OtherSort"});
              config.profiles.push_back(config.profiles[0]);
              config.profiles[1].scheduler_name = "second";
              config.profiles[1].plugin_config.push_back({"OtherSort", {}, R"({"by": "name"})"});
            }),
            "initializing profiles: different queue sort plugin args for profile \"second\"");
  EXPECT_THAT(error_of([](auto& config) {
                config.profiles[0].plugins.multi_point.enabled.push_back({"Nothing", 0});
              }),
              ::testing::HasSubstr("\"Nothing\" does not exist"));
}

}  // namespace
}  // namespace berth::scheduler
