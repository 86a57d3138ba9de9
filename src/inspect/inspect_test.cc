#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "engine/testing/world.h"
#include "inspect/collect.h"
#include "inspect/render.h"
#include "inspect/simulator_annotations.h"
#include "inspect/testing/json_schema.h"
#include "plugins/registry.h"
#include "scheduler/driver.h"
#include "testing/builders.h"

namespace berth::inspect {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::SchemaProblem;
using ::testing::SizeIs;

// A driver with a journal, as in the live scheduler, with a clock that the test moves.
class InspectTest : public ::testing::Test, private scheduler::DriverObserver {
 protected:
  InspectTest() {
    auto made = scheduler::Driver::Create(config::DefaultConfiguration(world_.gates), plugins::InTreeRegistry(),
                                          world_.gates, world_.clock, world_.api, *this, {});
    CHECK(made.ok());
    driver_ = std::move(*made);
  }

  void Put(PodBuilder pod) {
    pod.SchedulerName("default-scheduler").raw().metadata.resource_version = std::to_string(++version_);
    driver_->Put(api::Object(pod.Shared()));
  }
  void PutNode(const std::string& name, const std::string& cpu) {
    driver_->Put(
        api::Object(MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "8Gi").Capacity("pods", "110").Shared()));
  }
  void StepAll() {
    for (int i = 0; i < 100 && driver_->Step(); ++i) {
    }
  }
  base::Time Now() const { return world_.clock.Now(); }
  std::optional<PodView> Ask(const std::string& name, std::function<bool()> out_of_time = {}) {
    return CollectPod(*driver_, &journal_, Now(),
                      {.name_space = "default", .name = name, .out_of_time = std::move(out_of_time)});
  }
  static const QueueView::Lane& LaneOf(const QueueView& view, PodPlace place) {
    return *std::find_if(view.lanes.begin(), view.lanes.end(), [&](const auto& lane) { return lane.place == place; });
  }
  static std::vector<std::string> PodsOf(const QueueView::Lane& lane) {
    std::vector<std::string> pods;
    for (const PendingPod& pod : lane.pods) pods.push_back(pod.pod);
    return pods;
  }

  void OnBound(const scheduler::Attempt& attempt) override { Write(attempt, scheduler::Ending::kBound); }
  void OnFailed(const scheduler::Attempt& attempt, const framework::PodInfo&) override {
    Write(attempt, scheduler::Ending::kUnschedulable);
  }
  void Write(const scheduler::Attempt& attempt, scheduler::Ending ending) {
    journal_.Record(attempt, ending, Now(), driver_->cluster().nodes().size());
  }

  engine::testing::World world_;
  scheduler::AttemptJournal journal_{1 << 20};
  std::unique_ptr<scheduler::Driver> driver_;
  int version_ = 0;
};

TEST_F(InspectTest, APendingPodIsToldWithItsAttemptsWhatWouldWakeItAndEveryNodesVerdict) {
  PutNode("small", "1");
  PutNode("tiny", "500m");
  Put(MakePod("db").Request("cpu", "2"));
  StepAll();
  world_.clock.Advance(std::chrono::seconds(30));
  const std::optional<PodView> view = Ask("db");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->place, PodPlace::kUnschedulable);
  EXPECT_EQ(view->pending->left, std::chrono::seconds(270));
  ASSERT_THAT(view->attempts, SizeIs(1));
  EXPECT_THAT(view->attempts[0].message, HasSubstr("0/2 nodes are available: 2 Insufficient cpu."));
  ASSERT_THAT(view->wake_ups, SizeIs(1));
  EXPECT_EQ(view->wake_ups[0].plugin, "NodeResourcesFit");
  EXPECT_THAT(view->wake_ups[0].events,
              ElementsAre("PodDelete", "PodUpdatePodScaleDown", "NodeAdd", "NodeUpdateNodeAllocatable",
                          "resource.k8s.io/DeviceClassAdd", "resource.k8s.io/DeviceClassUpdate"));
  ASSERT_TRUE(view->now);
  EXPECT_THAT(view->now->nodes, SizeIs(2));
  EXPECT_FALSE(view->now->cut_short);

  const std::string json = ToJson(*view);
  EXPECT_EQ(SchemaProblem(json), "");
  EXPECT_THAT(json, HasSubstr("\"place\":\"Unschedulable\""));
  EXPECT_THAT(json,
              HasSubstr("\"reasons\":[{\"plugin\":\"NodeResourcesFit\",\"reason\":\"Insufficient cpu\",\"nodes\":2}]"));
  const std::string text = ToText(*view);
  EXPECT_THAT(text, HasSubstr("default/db is unschedulable, 4m30s left at most\n"));
  EXPECT_THAT(text, HasSubstr("#1 30s ago Unschedulable: 0/2 nodes are available"));
  EXPECT_THAT(text, HasSubstr("NodeResourcesFit: Insufficient cpu: "));
  EXPECT_THAT(text, HasSubstr("Would fit with"));
}

TEST_F(InspectTest, OfManyNodesTheClosestAreWrittenAndTheOthersCounted) {
  for (int i = 1; i <= 9; ++i) PutNode("n" + std::to_string(i), std::to_string(i * 100) + "m");
  Put(MakePod("db").Request("cpu", "1"));
  StepAll();
  const std::optional<PodView> view = Ask("db");
  const explain::Explanation trimmed = Trimmed(*view->now, 2);
  ASSERT_THAT(trimmed.nodes, SizeIs(2));
  EXPECT_EQ(trimmed.nodes[0].node, "n9");
  EXPECT_EQ(trimmed.nodes[1].node, "n8");
  const std::string json = ToJson(*view, 2);
  EXPECT_EQ(SchemaProblem(json), "");
  EXPECT_THAT(json, HasSubstr("\"nodes\":9,\"feasibleNodes\":0,"));
  EXPECT_THAT(json, HasSubstr("\"nodesLeftOut\":7"));
}

// When it is placed again, neither its own requests nor its own anti-affinity must count against it.
TEST_F(InspectTest, APlacedPodIsExplainedAsIfItWerePlacedAgain) {
  PutNode("a", "2");
  PutNode("b", "1");
  const auto pod = [] {
    return MakePod("web")
        .Label("app", "web")
        .Request("cpu", "2")
        .PodAntiAffinity("kubernetes.io/hostname", {{"app", "web"}});
  };
  Put(pod());
  StepAll();
  Put(pod().Node("a"));
  const std::optional<PodView> view = Ask("web");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->place, PodPlace::kPlaced);
  EXPECT_EQ(view->node, "a");
  ASSERT_TRUE(view->now);
  EXPECT_EQ(view->now->node, "a");
  ASSERT_THAT(view->now->nodes, SizeIs(2));
  EXPECT_TRUE(view->now->nodes[0].feasible()) << view->now->nodes[0].rejections[0].reason;
  EXPECT_FALSE(view->now->nodes[1].feasible());
  EXPECT_EQ(driver_->cluster().Find("a")->pods().size(), 1u) << "the picture itself is as before";
  EXPECT_EQ(SchemaProblem(ToJson(*view)), "");
  EXPECT_THAT(ToText(*view), HasSubstr("default/web is on a; 1 of 2 nodes was feasible"));
}

TEST_F(InspectTest, ScoresOfThePlacedPodNameTheRunnerUp) {
  PutNode("a", "4");
  PutNode("b", "8");
  PutNode("c", "6");
  Put(MakePod("web").Request("cpu", "1"));
  StepAll();
  Put(MakePod("web").Request("cpu", "1").Node("b"));
  const std::optional<PodView> view = Ask("web");
  ASSERT_TRUE(view->now);
  EXPECT_EQ(view->now->runner_up, "c");
  EXPECT_EQ(view->attempts[0].node, "b");
  EXPECT_EQ(view->attempts[0].ties, 1u);
  EXPECT_THAT(ToText(*view), HasSubstr("NodeResourcesFit"));
  EXPECT_EQ(SchemaProblem(ToJson(*view)), "");
}

TEST_F(InspectTest, APodThatWouldFitByNowIsToldSoWithTheBestNodes) {
  PutNode("small", "1");
  Put(MakePod("db").Request("cpu", "2"));
  StepAll();
  PutNode("large", "4");  // moves it to its backoff; nothing is scheduled
  const std::optional<PodView> view = Ask("db");
  EXPECT_EQ(view->place, PodPlace::kBackoff);
  EXPECT_THAT(ToText(*view), HasSubstr("Tried now, it would fit on 1 of 2 nodes"));
  EXPECT_EQ(SchemaProblem(ToJson(*view)), "");
}

TEST_F(InspectTest, OfAPodThatIsGoneTheJournalStillTells) {
  PutNode("a", "2");
  const PodBuilder pod = MakePod("job").SchedulerName("default-scheduler").Request("cpu", "9");
  Put(pod);
  StepAll();
  driver_->Remove(api::Object(PodBuilder(pod).Shared()));
  const std::optional<PodView> view = Ask("job");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->place, PodPlace::kGone);
  EXPECT_FALSE(view->now);
  EXPECT_EQ(SchemaProblem(ToJson(*view)), "");
  EXPECT_THAT(ToText(*view), HasSubstr("default/job is gone\n"));
  EXPECT_FALSE(Ask("nobody"));
}

TEST_F(InspectTest, WithoutTimeEveryNodeStillHasItsFirstReason) {
  PutNode("small", "1");
  PutNode("tiny", "500m");
  Put(MakePod("db").Request("cpu", "2").NodeSelector("disk", "ssd"));
  StepAll();
  const std::optional<PodView> view = Ask("db", [] { return true; });
  ASSERT_TRUE(view->now);
  EXPECT_TRUE(view->now->cut_short);
  ASSERT_THAT(view->now->nodes, SizeIs(2));
  for (const explain::NodeVerdict& verdict : view->now->nodes) {
    ASSERT_THAT(verdict.rejections, SizeIs(1));
    EXPECT_EQ(verdict.rejections[0].plugin, "NodeAffinity");
    EXPECT_THAT(verdict.rejections[0].findings, IsEmpty());
  }
  EXPECT_FALSE(view->now->preemption);
  EXPECT_THAT(view->now->remedies, IsEmpty());
  EXPECT_EQ(SchemaProblem(ToJson(*view)), "");
  EXPECT_THAT(ToText(*view), HasSubstr("left out"));
}

TEST_F(InspectTest, TheQueueIsShownLaneByLaneInItsOrder) {
  PutNode("a", "1");
  Put(MakePod("first").Request("cpu", "9"));
  Put(MakePod("second").Request("cpu", "9").Priority(5));
  Put(MakePod("held").Gate("example.com/wait"));
  StepAll();
  Put(MakePod("late").Priority(1));
  Put(MakePod("urgent").Priority(9));
  const QueueView view = CollectQueue(*driver_, Now(), 100, "");
  EXPECT_THAT(PodsOf(LaneOf(view, PodPlace::kActive)), ElementsAre("default/urgent", "default/late"));
  EXPECT_THAT(PodsOf(LaneOf(view, PodPlace::kUnschedulable)),
              ::testing::UnorderedElementsAre("default/first", "default/second"));
  ASSERT_THAT(PodsOf(LaneOf(view, PodPlace::kGated)), ElementsAre("default/held"));
  EXPECT_EQ(LaneOf(view, PodPlace::kGated).pods[0].gating_plugin, "SchedulingGates");
  EXPECT_EQ(LaneOf(view, PodPlace::kActive).pods[1].position, 2u);
  EXPECT_EQ(SchemaProblem(ToJson(view)), "");
  EXPECT_THAT(ToText(view), HasSubstr("Gated: 1 pod\n"));

  const QueueView one = CollectQueue(*driver_, Now(), 1, "");
  EXPECT_THAT(PodsOf(LaneOf(one, PodPlace::kActive)), ElementsAre("default/urgent"));
  EXPECT_EQ(LaneOf(one, PodPlace::kActive).total, 2u);
  const QueueView other = CollectQueue(*driver_, Now(), 100, "other");
  EXPECT_THAT(LaneOf(other, PodPlace::kActive).pods, IsEmpty());
  EXPECT_EQ(LaneOf(other, PodPlace::kActive).total, 2u);
}

TEST_F(InspectTest, DecisionsAndNodesAreAsTheirSchemasSay) {
  PutNode("a", "1");
  PutNode("b", "4");
  Put(MakePod("low").Request("cpu", "4").Node("b").StartTime("2026-01-01T00:00:00Z"));
  Put(MakePod("vip").Request("cpu", "4").Priority(10));
  Put(MakePod("web").Request("cpu", "500m"));
  StepAll();
  const DecisionsView decisions = CollectDecisions(&journal_, Now(), {});
  ASSERT_THAT(decisions.attempts, SizeIs(2));
  EXPECT_EQ(decisions.attempts[0].node, "a");
  EXPECT_EQ(decisions.attempts[1].nominated_node, "b");
  EXPECT_EQ(decisions.attempts[1].victims[0].pod, "default/low");
  EXPECT_EQ(SchemaProblem(ToJson(decisions)), "");
  EXPECT_THAT(ToText(decisions), HasSubstr("default/web"));
  EXPECT_EQ(SchemaProblem(ToJson(CollectDecisions(nullptr, Now(), {}))), "");

  const NodesView nodes = CollectNodes(*driver_, Now(), 1, "");
  EXPECT_EQ(nodes.total, 2u);
  ASSERT_THAT(nodes.nodes, SizeIs(1));
  EXPECT_EQ(SchemaProblem(ToJson(nodes)), "");
  EXPECT_THAT(ToText(nodes), HasSubstr("1 of 2 nodes\n"));
  const NodesView one = CollectNodes(*driver_, Now(), 10, "b");
  ASSERT_THAT(one.nodes, SizeIs(1));
  EXPECT_EQ(SchemaProblem(ToJson(one)), "");
  EXPECT_THAT(ToJson(one), HasSubstr("\"pods\":[{\"pod\":\"default/low\",\"priority\":0}]"));
}

// Explanations run the live profile's plugins: they must not change their random source or anything they keep.
TEST_F(InspectTest, WhoeverAsksTheSamePodsGoToTheSameNodes) {
  const auto run = [](bool ask) {
    engine::testing::World world(5);
    struct Recorder final : scheduler::DriverObserver {
      void OnBound(const scheduler::Attempt& attempt) override {
        log += fmt::format("{} {} {}\n", attempt.pod->name(), attempt.node_name, attempt.score);
      }
      void OnFailed(const scheduler::Attempt& attempt, const framework::PodInfo&) override {
        log += fmt::format("{} {} {}\n", attempt.pod->name(), attempt.message, attempt.post_filter.nominated_node_name);
      }
      std::string log;
    } recorder;
    scheduler::Driver::Options options;
    options.scheduler.verify_incremental = true;
    auto driver = scheduler::Driver::Create(config::DefaultConfiguration(world.gates), plugins::InTreeRegistry(),
                                            world.gates, world.clock, world.api, recorder, std::move(options));
    CHECK(driver.ok());
    for (int i = 0; i < 12; ++i) {
      (*driver)->Put(api::Object(MakeNode("n" + std::to_string(i))
                                     .Label("topology.kubernetes.io/zone", std::to_string(i % 3))
                                     .Capacity("cpu", "2")
                                     .Capacity("memory", "8Gi")
                                     .Capacity("pods", "110")
                                     .Shared()));
    }
    base::Random random(11);
    for (int i = 0; i < 60; ++i) {
      const std::string name = "p" + std::to_string(i);
      PodBuilder pod = MakePod(name).SchedulerName("default-scheduler").Label("app", i % 2 == 0 ? "x" : "y");
      pod.Request("cpu", std::to_string(200 * (1 + random.Below(4))) + "m").Priority(static_cast<int>(random.Below(3)));
      if (i % 3 == 0) pod.SpreadConstraint(1, "topology.kubernetes.io/zone", "DoNotSchedule", {{"app", "x"}});
      if (i % 5 == 0) pod.PodAntiAffinity("kubernetes.io/hostname", {{"app", "y"}});
      (*driver)->Put(api::Object(pod.Shared()));
      world.clock.Advance(std::chrono::milliseconds(300));
      for (int steps = 0; steps < 3; ++steps) {
        (*driver)->Step();
        for (const std::string& asked : {name, "p" + std::to_string(random.Below(60))}) {
          if (ask) (void)CollectPod(**driver, nullptr, world.clock.Now(), {.name_space = "default", .name = asked});
        }
      }
    }
    return recorder.log;
  };
  const std::string quiet = run(false);
  EXPECT_GE(std::count(quiet.begin(), quiet.end(), '\n'), 60);
  EXPECT_THAT(quiet, HasSubstr("nodes are available")) << "some must fail";
  EXPECT_EQ(run(true), quiet);
}

TEST_F(InspectTest, EventsHaveTheAttemptsSinceAndNoMoreThanAskedFor) {
  PutNode("a", "10");
  for (int i = 0; i < 5; ++i) Put(MakePod("p" + std::to_string(i)).Request("cpu", "1"));
  StepAll();
  const auto count = [&](uint64_t after, size_t limit) {
    return CollectEvents(*driver_, &journal_, Now(), after, limit).attempts.size();
  };
  EXPECT_EQ(count(0, 200), 5u);
  EXPECT_EQ(count(3, 200), 2u);
  EXPECT_EQ(count(5, 200), 0u);
  EXPECT_EQ(count(0, 2), 2u);
  EXPECT_EQ(count(77, 200), 5u) << "of another run";
  const EventsView view = CollectEvents(*driver_, &journal_, Now(), 3, 200);
  EXPECT_EQ(view.sequence, 5u);
  EXPECT_EQ(view.attempts[0].sequence, 5u);
  const std::string event = ToEvent(view, std::chrono::milliseconds(500));
  EXPECT_THAT(event, ::testing::StartsWith("retry: 500\nid: 5\ndata: {"));
  EXPECT_TRUE(event.ends_with("}\n\n"));
  EXPECT_EQ(std::count(event.begin(), event.end(), '\n'), 4) << "nothing breaks the line of data";
  EXPECT_EQ(CollectEvents(*driver_, nullptr, Now(), 0, 200).sequence, 0u);
}

// As kube-scheduler-simulator writes them.
class AnnotationsTest : public ::testing::Test, private scheduler::DriverObserver {
 protected:
  AnnotationTexts Annotate(PodBuilder pod, size_t longest = kLongestAnnotation) {
    longest_ = longest;
    scheduler::Driver::Options options;
    options.scheduler.scope = engine::Scope::kEverything;
    auto made = scheduler::Driver::Create(config::DefaultConfiguration(world_.gates), plugins::InTreeRegistry(),
                                          world_.gates, world_.clock, world_.api, *this, std::move(options));
    CHECK(made.ok());
    driver_ = std::move(*made);
    for (const char* name : {"a", "b", "c"}) {
      const std::string cpu = name == std::string("c") ? "1" : name == std::string("b") ? "8" : "4";
      driver_->Put(
          api::Object(MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "8Gi").Capacity("pods", "110").Shared()));
    }
    driver_->Put(api::Object(pod.SchedulerName("default-scheduler").Shared()));
    driver_->Step();
    return texts_;
  }
  void OnCycleEnd(const scheduler::Attempt& attempt) override {
    texts_ = SimulatorAnnotations(attempt, driver_->scheduler().first_profile(), longest_);
  }
  static std::string TextOf(const AnnotationTexts& texts, const std::string& name) {
    for (const auto& [key, text] : texts) {
      if (key == "kube-scheduler-simulator.sigs.k8s.io/" + name) return text;
    }
    return "none";
  }

  engine::testing::World world_;
  std::unique_ptr<scheduler::Driver> driver_;
  AnnotationTexts texts_;
  size_t longest_ = 0;
};

TEST_F(AnnotationsTest, HaveFiltersUpToTheOneThatRejectsAndScoresOfTheBestFirst) {
  const AnnotationTexts texts = Annotate(MakePod("web").Request("cpu", "2"));
  const std::string filters = TextOf(texts, "filter-result");
  EXPECT_THAT(filters, ::testing::StartsWith("{\"b\":{\"NodeUnschedulable\":\"passed\""));
  EXPECT_THAT(filters, HasSubstr("\"NodeResourcesFit\":\"Insufficient cpu\"}}")) << "nothing after the rejection";
  EXPECT_THAT(TextOf(texts, "score-result"), ::testing::StartsWith("{\"b\":{\""));
  EXPECT_THAT(TextOf(texts, "finalscore-result"), HasSubstr("\"TaintToleration\":\"300\""));
  EXPECT_EQ(TextOf(texts, "postfilter-result"), "none");
  EXPECT_EQ(SelectedNodeAnnotation("b").second, "b");
  for (const auto& [name, text] : texts) EXPECT_TRUE(codec::ParseJson(text, name).ok()) << text;
}

TEST_F(AnnotationsTest, NodesThatDoNotFitIntoTheTextAreLeftOut) {
  const size_t all = TextOf(Annotate(MakePod("web").Request("cpu", "2")), "filter-result").size();
  const AnnotationTexts texts = Annotate(MakePod("web").Request("cpu", "2"), all - 10);
  const std::string filters = TextOf(texts, "filter-result");
  EXPECT_LT(filters.size(), all);
  EXPECT_THAT(filters, HasSubstr("\"b\":"));
  EXPECT_THAT(filters, Not(HasSubstr("\"c\":")));
  EXPECT_TRUE(codec::ParseJson(filters, "filters").ok());
}

// Names come from anyone who may create pods; a terminal must not interpret them.
TEST_F(InspectTest, NothingReachesATerminalAsAControlCharacter) {
  PutNode("a\x1b[2J", "1");
  Put(MakePod("db\x1b]0;owned\x07").Request("cpu", "9"));
  StepAll();
  const std::optional<PodView> view = Ask("db\x1b]0;owned\x07");
  ASSERT_TRUE(view);
  for (const std::string& text :
       {ToText(*view), ToText(CollectQueue(*driver_, Now(), 10, "")), ToText(CollectDecisions(&journal_, Now(), {})),
        ToText(CollectNodes(*driver_, Now(), 10, "")), ToJson(*view)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\x07")));
  }
}

}  // namespace
}  // namespace berth::inspect
