#include "scheduler/event_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "plugins/registry.h"
#include "scheduler/queue_setup.h"
#include "testing/builders.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::MakePvc;
using berth::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A queue and a picture that hear of everything through the handlers.
class EventHandlersTest : public ::testing::Test {
 protected:
  EventHandlersTest() {
    engine::testing::Add<engine::testing::Permitter>(
        registry_, "Gang", framework::PermitResult{framework::Status::Wait(), std::chrono::seconds(10)});
    config::KubeSchedulerConfiguration config = config::DefaultConfiguration(world_.gates);
    config.profiles.push_back(config.profiles[0]);
    config.profiles[1].scheduler_name = "gang";
    config.profiles[1].plugins.multi_point.enabled.push_back({"Gang", 0});
    Scheduler::Options options;
    options.take_binding = [this](std::unique_ptr<BindingCycle> cycle) { binding_.push_back(std::move(cycle)); };
    auto scheduler =
        Scheduler::Create(config, registry_, world_.gates, world_.cluster, world_.clock, world_.api, options);
    CHECK(scheduler.ok());
    scheduler_ = std::move(*scheduler);
    queue_ = std::make_unique<queue::SchedulingQueue>(world_.clock, scheduler_->first_profile().queue_sort(),
                                                      QueueHooks(*scheduler_), queue::SchedulingQueue::Options{});
    handlers_ = std::make_unique<EventHandlers>(world_.cluster, *queue_, *scheduler_, world_.gates, world_.clock);
    handlers_->set_observer(
        [this](const framework::ClusterEvent& event, base::Duration) { events_.push_back(event.Label()); });
  }

  void Put(PodBuilder pod) {
    pod.raw().metadata.resource_version = std::to_string(++version_);
    handlers_->Put(api::Object(pod.Shared()));
  }
  void Remove(PodBuilder pod) { handlers_->Remove(api::Object(pod.Shared())); }
  void PutNode(const std::string& name, const std::string& cpu) {
    handlers_->Put(api::Object(MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "8Gi").Shared()));
  }
  // One cycle, as the live scheduler runs it.
  Outcome ScheduleNext() {
    const queue::QueuedPod* next = queue_->Pop();
    const framework::PodInfoPtr pod = next->pod;
    const Attempt attempt = scheduler_->ScheduleOne(pod, next->ticket);
    if (attempt.outcome == Outcome::kBinding) queue_->Bind(pod->uid(), attempt.ticket);
    if (attempt.outcome == Outcome::kUnschedulable) {
      queue_->Requeue(pod->uid(), attempt.ticket, attempt.unschedulable_plugins, attempt.pending_plugins);
    }
    return attempt.outcome;
  }
  std::vector<std::string> TakeEvents() { return std::exchange(events_, {}); }

  engine::testing::World world_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  std::vector<std::unique_ptr<BindingCycle>> binding_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
  std::unique_ptr<EventHandlers> handlers_;
  std::vector<std::string> events_;
  int version_ = 0;
};

TEST_F(EventHandlersTest, PodsGoWhereTheyBelong) {
  PutNode("n1", "4");
  Put(MakePod("pending"));
  Put(MakePod("running").Node("n1"));
  Put(MakePod("foreign").SchedulerName("somebody-else"));
  EXPECT_NE(queue_->Find("default/pending"), nullptr);
  EXPECT_NE(world_.cluster.FindPod("default/running"), nullptr);
  EXPECT_EQ(queue_->Find("default/foreign"), nullptr);
  EXPECT_EQ(world_.cluster.FindPod("default/foreign"), nullptr);
  EXPECT_THAT(TakeEvents(), ElementsAre("NodeAdd", "UnschedulablePodAdd", "AssignedPodAdd"));
}

TEST_F(EventHandlersTest, APodThatSomebodyElseBindsLeavesTheQueue) {
  PutNode("n1", "4");
  Put(MakePod("web"));
  Put(MakePod("web").Node("n1"));
  EXPECT_EQ(queue_->Pop(), nullptr);
  EXPECT_EQ(world_.cluster.NodeOf("default/web"), "n1");
}

TEST_F(EventHandlersTest, TheApiConfirmsAnAssumedPod) {
  PutNode("n1", "4");
  Put(MakePod("web"));
  ASSERT_EQ(ScheduleNext(), Outcome::kBinding);
  binding_[0]->Run();
  Put(MakePod("web").Node("n1"));
  EXPECT_FALSE(world_.cluster.IsAssumed("default/web"));
  EXPECT_EQ(scheduler_->Finish(std::move(binding_[0])).outcome, Outcome::kBound);
  EXPECT_EQ(world_.cluster.NodeOf("default/web"), "n1");
}

TEST_F(EventHandlersTest, NewsOfAPendingPodThatIsAssumedAreOld) {
  PutNode("n1", "4");
  Put(MakePod("web"));
  ASSERT_EQ(ScheduleNext(), Outcome::kBinding);
  Put(MakePod("web").Label("app", "web"));
  EXPECT_EQ(queue_->Pop(), nullptr) << "it must not be scheduled twice";
  EXPECT_TRUE(world_.cluster.IsAssumed("default/web"));
}

TEST_F(EventHandlersTest, ADeletedPodGivesItsRoomBackWhileItIsBeingBound) {
  PutNode("n1", "1");
  Put(MakePod("web").Request("cpu", "1"));
  ASSERT_EQ(ScheduleNext(), Outcome::kBinding);
  Put(MakePod("next").Request("cpu", "1"));
  ASSERT_EQ(ScheduleNext(), Outcome::kUnschedulable);
  TakeEvents();
  Remove(MakePod("web").Request("cpu", "1"));
  EXPECT_THAT(TakeEvents(), ElementsAre("UnschedulablePodDelete", "AssignedPodDelete"));
  EXPECT_EQ(world_.cluster.FindPod("default/web"), nullptr);
  ASSERT_EQ(ScheduleNext(), Outcome::kBinding) << "the pod that had no room was woken";
  // The binding that had been under way fails, and finds nothing left to undo.
  world_.api.bind_answer = framework::Status::Error("pods \"web\" not found");
  binding_[0]->Run();
  const Attempt ended = scheduler_->Finish(std::move(binding_[0]));
  EXPECT_EQ(ended.outcome, Outcome::kError);
  EXPECT_EQ(ended.freed_node, "") << "its room was given back when it was deleted";
  queue_->Requeue("default/web", ended.ticket, {}, {});
  EXPECT_EQ(queue_->Find("default/web"), nullptr);
  EXPECT_TRUE(world_.cluster.IsAssumed("default/next"));
}

TEST_F(EventHandlersTest, ADeletedPodThatWaitsForPermissionIsTurnedAway) {
  PutNode("n1", "1");
  Put(MakePod("web").SchedulerName("gang"));
  ASSERT_EQ(ScheduleNext(), Outcome::kWaiting);
  Put(MakePod("web").SchedulerName("gang").Terminating());
  const std::vector<Attempt> finished = scheduler_->FinishWaiting();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].outcome, Outcome::kUnschedulable);
  EXPECT_EQ(world_.cluster.FindPod("default/web"), nullptr);
}

TEST_F(EventHandlersTest, NominationsFollowTheApiAndOutliveItsSilence) {
  PutNode("n1", "1");
  Put(MakePod("web").NominatedNode("n1"));
  EXPECT_EQ(world_.cluster.nominator().NodeOf("default/web"), "n1");
  TakeEvents();
  Put(MakePod("web"));
  EXPECT_EQ(world_.cluster.nominator().NodeOf("default/web"), "");
  EXPECT_THAT(TakeEvents(), ElementsAre("UnschedulablePodUpdate", "AssignedPodDelete"))
      << "the room it was promised is free for others";

  world_.cluster.nominator().Nominate(world_.cluster.MakePodInfo(MakePod("web").Shared()), "n1");
  Put(MakePod("web").Label("app", "web"));
  EXPECT_EQ(world_.cluster.nominator().NodeOf("default/web"), "n1") << "the API has not heard of it yet";
  Remove(MakePod("web"));
  EXPECT_TRUE(world_.cluster.nominator().empty());
  EXPECT_THAT(TakeEvents(), ElementsAre("UnschedulablePodUpdate", "UnschedulablePodDelete", "AssignedPodDelete"));
}

TEST_F(EventHandlersTest, WhatChangedIsWhatPodsHearOf) {
  PutNode("n1", "1");
  TakeEvents();
  PutNode("n1", "1");
  EXPECT_THAT(TakeEvents(), IsEmpty());
  PutNode("n1", "2");
  EXPECT_THAT(TakeEvents(), ElementsAre("NodeUpdateNodeAllocatable"));
  handlers_->Put(api::MakeObject(MakePvc("data")));
  handlers_->Put(api::MakeObject(MakePvc("data")));
  handlers_->Remove(api::MakeObject(MakePvc("data")));
  handlers_->Remove(api::MakeObject(MakePvc("data")));
  EXPECT_THAT(TakeEvents(),
              ElementsAre("PersistentVolumeClaimAdd", "PersistentVolumeClaimUpdate", "PersistentVolumeClaimDelete"));
  handlers_->Remove(api::Object(MakeNode("n1").Shared()));
  EXPECT_THAT(TakeEvents(), ElementsAre("NodeDelete"));
  EXPECT_TRUE(world_.cluster.nodes().empty());
}

}  // namespace
}  // namespace berth::scheduler
