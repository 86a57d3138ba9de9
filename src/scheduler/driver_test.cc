#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "scheduler/testing/driver_fixture.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakePod;
using testing::DriverTest;
using ::testing::ElementsAre;

TEST_F(DriverTest, APodIsBoundAndLeavesNothingBehind) {
  PutNode("n1", "4");
  Put(MakePod("web").Request("cpu", "1"));
  StepAll();
  EXPECT_EQ(driver_->binding(), 1u);
  Finish(0);
  EXPECT_THAT(log_, ElementsAre("bound web"));
  Put(MakePod("web").Request("cpu", "1").Node("n1"));
  EXPECT_EQ(driver_->binding(), 0u);
  EXPECT_FALSE(IsPending("default/web"));
  EXPECT_EQ(driver_->queue().counts().in_flight, 0u);
  EXPECT_FALSE(cluster().IsAssumed("default/web"));
}

// A pod whose bind is slow turns Failed and back to Pending, with the same UID.
TEST_F(DriverTest, APodThatLeavesAndReturnsWhileItIsBeingBoundDoesNotStopTheScheduler) {
  PutNode("n1", "4");
  Put(MakePod("web").Request("cpu", "1"));
  StepAll();
  Remove(MakePod("web").Request("cpu", "1"));
  Put(MakePod("web").Request("cpu", "1"));
  StepAll();
  ASSERT_EQ(driver_->binding(), 2u);
  Finish(0, framework::Status::Error("pods \"web\" not found"));
  EXPECT_THAT(log_, ElementsAre("stale web"));
  EXPECT_TRUE(cluster().IsAssumed("default/web")) << "the second attempt's room";
  EXPECT_TRUE(IsPending("default/web"));
  Finish(1);
  EXPECT_THAT(log_, ElementsAre("stale web", "bound web"));
  EXPECT_EQ(driver_->binding(), 0u);

  Put(MakePod("next").Request("cpu", "1"));
  StepAll();
  EXPECT_EQ(driver_->binding(), 1u) << "the scheduler goes on";
}

TEST_F(DriverTest, AnEndThatComesAfterTheSecondAttemptsEndChangesNothing) {
  PutNode("n1", "1");
  Put(MakePod("web").Request("cpu", "1"));
  StepAll();
  Remove(MakePod("web").Request("cpu", "1"));
  Put(MakePod("web").Request("cpu", "1"));
  StepAll();
  ASSERT_EQ(driver_->binding(), 2u);
  Finish(1);
  Put(MakePod("web").Request("cpu", "1").Node("n1"));
  Finish(0, framework::Status::Error("already assigned"));
  EXPECT_EQ(cluster().NodeOf("default/web"), "n1");
  Put(MakePod("next").Request("cpu", "1"));
  StepAll();
  EXPECT_EQ(driver_->binding(), 0u) << "its room was not given away";
}

TEST_F(DriverTest, APodRejectedWhileItWaitsForPermissionWakesThoseWhoWantItsRoom) {
  PutNode("n1", "1");
  Put(MakePod("waiting").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  Put(MakePod("next").Request("cpu", "1"));
  StepAll();
  EXPECT_THAT(log_, ElementsAre("failed next"));
  driver_->scheduler().waiting_pods().Reject("default/waiting", "Gang", "no");
  world_.clock.Advance(std::chrono::seconds(2));
  StepAll();
  EXPECT_EQ(driver_->binding(), 1u) << "next has the room that the rejected pod gave back";
}

TEST_F(DriverTest, APreemptorIsWokenWhenItsOnlyVictimWaitedForPermission) {
  PutNode("n1", "1");
  Put(MakePod("victim").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  Put(MakePod("vip").Request("cpu", "1").Priority(100));
  StepAll();
  EXPECT_THAT(world_.api.calls, ::testing::Contains("nominate vip to n1"));
  world_.clock.Advance(std::chrono::seconds(2));
  StepAll();
  ASSERT_EQ(driver_->binding(), 1u);
  EXPECT_EQ(binding_[0]->attempt().pod->name(), "vip");
}

// No event would have requeued it: a preempted pod was rejected in the name of a plugin that waits for none.
TEST_F(DriverTest, AVictimThatHadWaitedForPermissionSleptAlthoughAnotherNodeHadRoom) {
  PutNode("n1", "2");
  Put(MakePod("victim").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  PutNode("n2", "1");
  Put(MakePod("vip").Request("cpu", "2").Priority(100));
  StepAll();
  world_.clock.Advance(std::chrono::seconds(2));
  StepAll();
  EXPECT_EQ(cluster().NodeOf("default/vip"), "n1");
  EXPECT_EQ(cluster().NodeOf("default/victim"), "n2");
}

// Storm seed 1105, in which an earlier attempt had bound it.
TEST_F(DriverTest, APodThatSomebodyElseHadBoundWaitedOnForPermission) {
  PutNode("n1", "1");
  PutNode("n2", "1");
  for (const bool as_meant : {true, false}) {
    const auto pod = [] { return MakePod("waiting").Request("cpu", "1").SchedulerName("gang"); };
    Put(pod());
    StepAll();
    ASSERT_FALSE(driver_->scheduler().waiting_pods().empty());
    const std::string meant = cluster().NodeOf("default/waiting");
    const std::string bound_to = as_meant ? meant : meant == "n1" ? "n2" : "n1";
    Put(pod().Node(bound_to));
    StepAll();
    EXPECT_TRUE(driver_->scheduler().waiting_pods().empty());
    EXPECT_EQ(cluster().NodeOf("default/waiting"), bound_to);
    ASSERT_EQ(driver_->binding(), as_meant ? 1u : 0u);
    if (as_meant) Finish(0);
    EXPECT_THAT(log_, ElementsAre(as_meant ? "bound waiting" : "stale waiting"));
    Remove(pod().Node(bound_to));
    log_.clear();
  }
}

TEST_F(DriverTest, APodThatWaitsForPermissionIsAnnouncedUntilItIsRejected) {
  PutNode("n1", "1");
  Put(MakePod("waiting").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate waiting to n1"));
  driver_->scheduler().waiting_pods().Reject("default/waiting", "Gang", "no");
  StepAll();
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate waiting to n1", "nominate waiting to nothing"));
}

class SlowDriverTest : public DriverTest {
 protected:
  SlowDriverTest() : DriverTest(Profiles::kWithSlow) {}
};

TEST_F(SlowDriverTest, APodWhosePreBindHasSomethingToDoIsAnnouncedUntilItsBindingFails) {
  PutNode("n1", "4");
  Put(MakePod("plain").Request("cpu", "1"));
  Put(MakePod("slow").Request("cpu", "1").SchedulerName("slow"));
  StepAll();
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate slow to n1")) << "the other one is bound soon enough";
  ASSERT_EQ(binding_.size(), 2u);
  Finish(1, framework::Status::Error("timeout"));
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate slow to n1", "bind slow to n1", "nominate slow to nothing"));
  EXPECT_THAT(pre_binds_, ElementsAre("pre-flight Slow", "pre-bind Slow")) << "it is asked once";
  Finish(0);
  EXPECT_THAT(world_.api.calls.back(), "bind plain to n1");
}

// Storm seed 73889: room was held for a pod for good. An earlier attempt had announced its node, and nobody withdrew
// that when the attempt ended, because the pod had left and returned.
TEST_F(SlowDriverTest, APodKeptTheNodeThatAnEarlierAttemptHadAnnounced) {
  PutNode("n1", "1");
  const auto slow = [] { return MakePod("slow").Request("cpu", "1").SchedulerName("slow"); };
  Put(slow());
  StepAll();
  Remove(slow());
  Put(MakePod("other").Node("n1").Request("cpu", "1"));
  Put(slow());
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed slow"));
  Finish(0, framework::Status::Error("timeout"));
  EXPECT_EQ(world_.api.calls.back(), "nominate slow to nothing");
}

TEST_F(SlowDriverTest, TheEndOfAnEarlierAttemptWithdrewTheNodeThatALaterOneHadAnnounced) {
  PutNode("n1", "1");
  const auto slow = [] { return MakePod("slow").Request("cpu", "1").SchedulerName("slow"); };
  Put(slow());
  StepAll();
  Remove(slow());
  Put(slow());
  StepAll();
  ASSERT_EQ(binding_.size(), 2u);
  Finish(0, framework::Status::Error("timeout"));
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate slow to n1", "nominate slow to n1", "bind slow to n1"));
}

TEST_F(SlowDriverTest, AVictimThatIsStillInPreBindGoesBackToTheQueueInsteadOfBeingDeleted) {
  PutNode("n1", "1");
  Put(MakePod("victim").Request("cpu", "1").SchedulerName("slow"));
  StepAll();
  Put(MakePod("vip").Request("cpu", "1").Priority(100));
  StepAll();
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate victim to n1", "nominate vip to n1")) << "nobody is evicted";
  EXPECT_THAT(log_, ElementsAre("failed vip"));
  Finish(0);
  EXPECT_THAT(log_, ElementsAre("failed vip", "failed victim"));
  EXPECT_EQ(world_.api.calls.back(), "nominate victim to nothing") << "it was not bound";
  EXPECT_TRUE(IsPending("default/victim"));
  world_.clock.Advance(std::chrono::seconds(2));
  StepAll();
  ASSERT_EQ(driver_->binding(), 1u) << "the room that was given back has woken the preemptor";
  EXPECT_EQ(binding_[1]->attempt().pod->name(), "vip");
}

TEST_F(SlowDriverTest, AVictimWhosePreBindIsOverIsDeleted) {
  PutNode("n1", "1");
  Put(MakePod("victim").Request("cpu", "1").SchedulerName("slow"));
  StepAll();
  binding_[0]->Run();
  Put(MakePod("vip").Request("cpu", "1").Priority(100));
  StepAll();
  EXPECT_THAT(world_.api.calls, ::testing::Contains("evict victim for vip"));
  driver_->Finish(std::move(binding_[0]));
  EXPECT_THAT(log_, ElementsAre("failed vip", "bound victim"));
}

TEST_F(SlowDriverTest, TheEndOfAnEarlierAttemptLeavesTheLaterOneInPreBind) {
  PutNode("n1", "1");
  const auto victim = [] { return MakePod("victim").Request("cpu", "1").SchedulerName("slow"); };
  Put(victim());
  StepAll();
  Remove(victim());
  Put(victim());
  StepAll();
  ASSERT_EQ(binding_.size(), 2u);
  Finish(0, framework::Status::Error("timeout"));
  Put(MakePod("vip").Request("cpu", "1").Priority(100));
  StepAll();
  EXPECT_THAT(world_.api.calls, ::testing::Not(::testing::Contains("evict victim for vip")));
  Finish(1);
  EXPECT_THAT(log_, ElementsAre("stale victim", "failed vip", "failed victim"));
}

TEST_F(SlowDriverTest, AnEarlierAttemptOfTheVictimWasTakenBackInsteadOfTheOneThatHadTheRoom) {
  PutNode("n1", "1");
  Put(MakePod("victim").Request("cpu", "1").SchedulerName("slow"));
  StepAll();
  Remove(MakePod("victim").Request("cpu", "1").SchedulerName("slow"));
  Put(MakePod("victim").Request("cpu", "1"));  // nothing to do in PreBind this time
  StepAll();
  ASSERT_EQ(binding_.size(), 2u);
  Put(MakePod("vip").Request("cpu", "1").Priority(100));
  StepAll();
  EXPECT_THAT(world_.api.calls, ::testing::Contains("evict victim for vip"));
}

TEST_F(DriverTest, AVictimWithoutWorkInPreBindIsDeletedAtOnce) {
  PutNode("n1", "1");
  Put(MakePod("victim").Request("cpu", "1"));
  StepAll();
  Put(MakePod("vip").Request("cpu", "1").Priority(100));
  StepAll();
  EXPECT_THAT(world_.api.calls, ::testing::Contains("evict victim for vip"));
}

TEST_F(DriverTest, ADeletedWaitingPodGivesItsRoomBackOnce) {
  PutNode("n1", "1");
  Put(MakePod("waiting").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  Remove(MakePod("waiting").Request("cpu", "1").SchedulerName("gang"));
  Put(MakePod("waiting").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  EXPECT_TRUE(cluster().IsAssumed("default/waiting")) << "the second attempt waits";
  EXPECT_THAT(log_, ElementsAre("stale waiting"));
  EXPECT_EQ(driver_->scheduler().waiting_pods().pods().size(), 1u);
}

// Two binds of a pod that left and returned: the first one, to another node, is the one that took effect.
TEST_F(DriverTest, APodThatTurnsOutToBeOnAnotherNodeWakesThoseWhoWantItsRoom) {
  PutNode("n1", "1");
  Put(MakePod("web").Request("cpu", "1"));
  StepAll();
  PutNode("n2", "1");
  Put(MakePod("other").Node("n2").Request("cpu", "1"));
  Put(MakePod("next").Request("cpu", "1"));
  StepAll();
  EXPECT_THAT(log_, ElementsAre("failed next"));
  Put(MakePod("web").Request("cpu", "1").Node("n3"));
  world_.clock.Advance(std::chrono::minutes(1));
  StepAll();
  ASSERT_EQ(binding_.size(), 2u) << "n1 is free";
  EXPECT_EQ(binding_[1]->attempt().pod->name(), "next");
}

TEST_F(DriverTest, ARetryAfterAFailedBindTakesTheNewestVersion) {
  PutNode("n1", "4");
  Put(MakePod("web").Request("cpu", "1"));
  StepAll();
  Put(MakePod("web").Request("cpu", "1").Label("tier", "new"));
  Finish(0, framework::Status::Error("timeout"));
  ASSERT_TRUE(newest_);
  EXPECT_EQ(newest_->metadata.labels.size(), 1u);
  world_.clock.Advance(std::chrono::seconds(20));
  StepAll();
  ASSERT_EQ(binding_.size(), 2u);
  EXPECT_EQ(binding_[1]->attempt().pod->pod().metadata.labels.size(), 1u);
}

TEST_F(DriverTest, APodDeletedWhileItIsBeingBoundIsNotTriedAgain) {
  PutNode("n1", "4");
  Put(MakePod("web").Request("cpu", "1"));
  StepAll();
  Put(MakePod("web").Request("cpu", "1").Terminating());
  Finish(0, framework::Status::Error("timeout"));
  world_.clock.Advance(std::chrono::seconds(20));
  StepAll();
  EXPECT_EQ(binding_.size(), 1u);
  EXPECT_THAT(log_, ElementsAre("failed web", "skipped web"));
  EXPECT_FALSE(IsPending("default/web"));
}

TEST_F(DriverTest, NoMoreArePlacedWhileTooManyAreBeingBound) {
  for (int i = 0; i < 6; ++i) PutNode("n" + std::to_string(i), "4");
  for (int i = 0; i < 600; ++i) Put(MakePod("p" + std::to_string(i)).Uid("u" + std::to_string(i)));
  while (driver_->Step()) {
  }
  EXPECT_EQ(driver_->binding(), Driver::Options().max_binding) << "there is room for 660";
  Finish(0);
  EXPECT_TRUE(driver_->Step());
}

// Off the scheduling thread a plugin has a BindingHandle; what it asks for there happens between two cycles.
TEST_F(DriverTest, APodThatWaitsIsAllowedFromAnotherThread) {
  PutNode("n1", "1");
  Put(MakePod("waiting").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  EXPECT_EQ(driver_->binding(), 0u);
  framework::BindingHandle& handle = *driver_->scheduler().FindProfile("gang");
  std::thread([&] { handle.Allow("default/waiting", "Gang"); }).join();
  EXPECT_EQ(driver_->binding(), 0u) << "not in the middle of whatever is going on";
  EXPECT_FALSE(driver_->Step());
  EXPECT_EQ(driver_->binding(), 1u);
}

TEST_F(DriverTest, APodThatWaitsIsRejectedFromAnotherThread) {
  PutNode("n1", "1");
  Put(MakePod("waiting").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  framework::BindingHandle& handle = *driver_->scheduler().FindProfile("gang");
  std::thread([&] { handle.Reject("default/waiting", "Gang", "the others did not come"); }).join();
  EXPECT_FALSE(driver_->Step());
  EXPECT_THAT(log_, ElementsAre("failed waiting"));
}

TEST_F(DriverTest, AnAnswerThatCameLateDecidedALaterAttemptOfThePod) {
  PutNode("n1", "1");
  Put(MakePod("waiting").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  const base::Ticket first = permitted_;
  world_.clock.Advance(std::chrono::seconds(11));
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed waiting")) << "it has waited long enough";
  driver_->Activate("default/waiting");
  StepAll();
  ASSERT_NE(permitted_, first);
  framework::BindingHandle& handle = *driver_->scheduler().FindProfile("gang");
  handle.Allow("default/waiting", "Gang", first);
  handle.Reject("default/waiting", "Gang", "the others did not come", first);
  StepAll();
  EXPECT_EQ(driver_->scheduler().waiting_pods().pods().size(), 1u);
  handle.Allow("default/waiting", "Gang", permitted_);
  StepAll();
  EXPECT_EQ(driver_->binding(), 1u);
  EXPECT_THAT(log_, ElementsAre("failed waiting"));
}

TEST_F(DriverTest, SiblingsThatAPluginActivatesDoNotSitOutTheirBackoff) {
  PutNode("n1", "1");
  Put(MakePod("sibling").Request("cpu", "2"));
  Put(MakePod("stranger").Request("cpu", "2"));
  StepAll();
  EXPECT_THAT(log_, ElementsAre("failed sibling", "failed stranger"));
  framework::BindingHandle& handle = *driver_->scheduler().FindProfile("default-scheduler");
  std::thread([&] { handle.Activate({"default/sibling", "default/nobody"}); }).join();
  EXPECT_TRUE(driver_->Step());
  EXPECT_FALSE(driver_->Step());
  EXPECT_THAT(log_, ElementsAre("failed sibling", "failed stranger", "failed sibling"));
}

TEST_F(DriverTest, WorkThatIsPostedInTheMiddleOfWorkIsDoneTheNextTime) {
  framework::BindingHandle& handle = *driver_->scheduler().FindProfile("default-scheduler");
  handle.Post([&] {
    log_.push_back("first");
    handle.Post([&] { log_.push_back("second"); });
  });
  EXPECT_FALSE(driver_->Step());
  EXPECT_THAT(log_, ElementsAre("first"));
  EXPECT_FALSE(driver_->Step());
  EXPECT_THAT(log_, ElementsAre("first", "second"));
  EXPECT_EQ(posted_, 2) << "whoever runs the driver hears of it";
}

// Two scheduler names, as the fixture has them; the plugins of the first are `change`d.
config::KubeSchedulerConfiguration Reconfigured(const config::FeatureGates& gates,
                                                const std::function<void(config::Plugins&)>& change) {
  config::KubeSchedulerConfiguration config = config::DefaultConfiguration(gates);
  config.profiles.push_back(config.profiles[0]);
  config.profiles[1].scheduler_name = "gang";
  change(config.profiles[0].plugins);
  return config;
}

void DropFit(config::Plugins& plugins) {
  std::erase_if(plugins.multi_point.enabled, [](const auto& plugin) { return plugin.name == "NodeResourcesFit"; });
}

TEST_F(DriverTest, AfterReconfiguringSleepingPodsAreAskedAgain) {
  PutNode("n1", "1");
  Put(MakePod("big").SchedulerName("default-scheduler").Request("cpu", "2"));
  StepAll();
  EXPECT_THAT(log_, ElementsAre("failed big"));
  ASSERT_TRUE(driver_->Reconfigure(Reconfigured(world_.gates, DropFit), plugins::InTreeRegistry()).ok());
  world_.clock.Advance(std::chrono::seconds(2));
  StepAll();
  ASSERT_EQ(binding_.size(), 1u) << "nothing rejects it any more";
  Finish(0);
  EXPECT_THAT(log_, ElementsAre("failed big", "bound big"));
}

TEST_F(DriverTest, AttemptsUnderWayEndUnderTheOldConfiguration) {
  PutNode("n1", "8");
  Put(MakePod("held").SchedulerName("gang"));
  Put(MakePod("good").SchedulerName("default-scheduler"));
  Put(MakePod("bad").SchedulerName("default-scheduler"));
  StepAll();
  ASSERT_EQ(binding_.size(), 2u);
  ASSERT_TRUE(driver_->Reconfigure(Reconfigured(world_.gates, DropFit), plugins::InTreeRegistry()).ok());
  Finish(0);
  Finish(1, framework::Status::Error("no"));
  EXPECT_EQ(log_.size(), 2u);
  // The one that waited for permission still has its time-out, of a plugin that is in no profile any more.
  world_.clock.Advance(std::chrono::seconds(11));
  log_.clear();
  StepAll();
  EXPECT_THAT(log_, ::testing::Contains("failed held"));
  EXPECT_EQ(cluster().assumed_count(), binding_.size() - 2 + 1) << "its room was given back";
}

TEST_F(DriverTest, AConfigurationThatIsRefusedChangesNothing) {
  PutNode("n1", "1");
  config::KubeSchedulerConfiguration renamed = Reconfigured(world_.gates, [](auto&) {});
  renamed.profiles[1].scheduler_name = "other";
  const Result<void> names = driver_->Reconfigure(renamed, plugins::InTreeRegistry());
  ASSERT_FALSE(names.ok());
  EXPECT_THAT(names.error().message,
              ::testing::HasSubstr("expected [default-scheduler gang], found [default-scheduler other]"));
  const auto unknown = [](config::Plugins& plugins) { plugins.multi_point.enabled.push_back({"NoSuch", 0}); };
  EXPECT_FALSE(driver_->Reconfigure(Reconfigured(world_.gates, unknown), plugins::InTreeRegistry()).ok());
  Put(MakePod("big").SchedulerName("default-scheduler").Request("cpu", "2"));
  Put(MakePod("small").SchedulerName("gang").Request("cpu", "500m"));
  StepAll();
  EXPECT_THAT(log_, ElementsAre("failed big"));
  EXPECT_EQ(driver_->scheduler().waiting_pods().pods().size(), 1u) << "Gang still holds pods";
}

// The work refers to the plugin and its handle, which are gone by then.
TEST_F(DriverTest, WorkWasRunThatAPluginOfARefusedConfigurationHadPosted) {
  using Made = Result<std::unique_ptr<framework::Plugin>>;
  framework::Registry registry = plugins::InTreeRegistry();
  bool ran = false;
  const auto post = [&](const config::PluginArgs&, framework::Handle& handle) -> Made {
    handle.Post([&] { ran = true; });
    handle.Activate({"default/web"});
    return Made(std::make_unique<engine::testing::Sorter>("Asks"));
  };
  const auto fail = [](const config::PluginArgs&, framework::Handle&) -> Made { return Error::InvalidArgument("no"); };
  ASSERT_TRUE(registry.Register("Asks", post, "a test").ok());
  ASSERT_TRUE(registry.Register("Fails", fail, "a test").ok());
  const auto both = [](config::Plugins& plugins) {
    plugins.multi_point.enabled.push_back({"Asks", 0});
    plugins.multi_point.enabled.push_back({"Fails", 0});
  };
  EXPECT_FALSE(driver_->Reconfigure(Reconfigured(world_.gates, both), registry).ok());
  StepAll();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace berth::scheduler
