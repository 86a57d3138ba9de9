#include "scheduler/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "config/load.h"
#include "dra/testing/devices.h"
#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A driver whose binding cycles end when the test says so.
class DriverTest : public ::testing::Test, private DriverObserver {
 protected:
  enum class Profiles { kPlain, kWithSlow };

  explicit DriverTest(Profiles profiles = Profiles::kPlain) {
    framework::Registry registry = plugins::InTreeRegistry();
    engine::testing::Add<engine::testing::Permitter>(
        registry, "Gang", framework::PermitResult{framework::Status::Wait(), std::chrono::seconds(10)});
    config::KubeSchedulerConfiguration config = config::DefaultConfiguration(world_.gates);
    config.profiles.push_back(config.profiles[0]);
    config.profiles[1].scheduler_name = "gang";
    config.profiles[1].plugins.multi_point.enabled.push_back({"Gang", 0});
    engine::testing::Add<engine::testing::PreBinder>(registry, "Slow", &pre_binds_, framework::Status::Success());
    if (profiles == Profiles::kWithSlow) {
      config.profiles.push_back(config.profiles[0]);
      config.profiles[2].scheduler_name = "slow";
      config.profiles[2].plugins.multi_point.enabled.push_back({"Slow", 0});
    }
    Driver::Options options;
    options.scheduler.announces_nodes = true;
    options.scheduler.verify_incremental = true;
    options.scheduler.take_binding = [this](std::unique_ptr<BindingCycle> cycle) {
      binding_.push_back(std::move(cycle));
    };
    options.on_posted = [this] { ++posted_; };
    auto made = Driver::Create(config, registry, world_.gates, world_.clock, world_.api, *this, std::move(options));
    CHECK(made.ok());
    driver_ = std::move(*made);
  }

  void Put(PodBuilder pod) {
    pod.raw().metadata.resource_version = std::to_string(++version_);
    driver_->Put(api::Object(pod.Shared()));
  }
  void Remove(PodBuilder pod) { driver_->Remove(api::Object(pod.Shared())); }
  void PutNode(const std::string& name, const std::string& cpu) {
    driver_->Put(
        api::Object(MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "8Gi").Capacity("pods", "110").Shared()));
  }
  void StepAll() {
    for (int i = 0; i < 100 && driver_->Step(); ++i) {
    }
  }
  // The binding cycle that was handed out as number `index` ends.
  void Finish(size_t index, framework::Status answer = {}) {
    world_.api.bind_answer = std::move(answer);
    binding_[index]->Run();
    driver_->Finish(std::move(binding_[index]));
  }
  bool IsPending(const std::string& uid) const { return driver_->queue().Find(uid) != nullptr; }
  const cluster::Cluster& cluster() const { return static_cast<const Driver&>(*driver_).cluster(); }

  void OnBound(const Attempt& attempt) override { log_.push_back("bound " + attempt.pod->name()); }
  void OnFailed(const Attempt& attempt, const framework::PodInfo& newest) override {
    log_.push_back("failed " + attempt.pod->name());
    newest_ = newest.shared_pod();
  }
  void OnStale(const Attempt& attempt) override { log_.push_back("stale " + attempt.pod->name()); }
  void OnSkipped(const framework::PodInfo& pod) override { log_.push_back("skipped " + pod.name()); }

  engine::testing::World world_;
  std::vector<std::string> pre_binds_;
  std::unique_ptr<Driver> driver_;
  std::vector<std::unique_ptr<BindingCycle>> binding_;  // they go before the picture in which they hold room
  std::vector<std::string> log_;
  std::shared_ptr<const api::Pod> newest_;
  int version_ = 0;
  std::atomic<int> posted_ = 0;
};

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

TEST_F(DriverTest, APodThatWaitsForPermissionIsAnnouncedUntilItIsRejected) {
  PutNode("n1", "1");
  Put(MakePod("waiting").Request("cpu", "1").SchedulerName("gang"));
  StepAll();
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate waiting to n1"));
  driver_->scheduler().waiting_pods().Reject("default/waiting", "Gang", "no");
  StepAll();
  EXPECT_THAT(world_.api.calls, ElementsAre("nominate waiting to n1", "nominate waiting to nothing"));
}

// Storm seed 30480: the nomination had been withdrawn before the API was told of it, so no event reported its end.
TEST_F(DriverTest, APodSleptOnWhenANominationThatTheApiNeverShowedWasWithdrawn) {
  PutNode("n1", "2");
  Put(MakePod("first").Node("n1").Request("cpu", "2"));
  Put(MakePod("vip").Request("cpu", "2").Priority(100));
  StepAll();
  ASSERT_THAT(world_.api.calls, ::testing::Contains("nominate vip to n1"));
  Put(MakePod("other").Node("n1").Request("cpu", "1").Priority(200));
  Remove(MakePod("first").Node("n1").Request("cpu", "2"));
  Put(MakePod("low").Request("cpu", "1"));
  StepAll();
  world_.clock.Advance(std::chrono::seconds(2));
  StepAll();
  EXPECT_THAT(log_, ElementsAre("failed vip", "failed low", "failed vip")) << "low fails for the promise to vip";
  ASSERT_EQ(binding_.size(), 1u);
  EXPECT_EQ(binding_[0]->attempt().pod->name(), "low");
}

// Of a nomination that ends, whichever way, those who want the node must hear.
class EndedNominationTest : public DriverTest {
 protected:
  // vip has evicted first, and low fails only because the node is promised to vip.
  EndedNominationTest() {
    driver_->Put(api::Object(
        MakeNode("n1").Capacity("cpu", "2").Capacity("pods", "110").Capacity("example.com/disk", "1").Shared()));
    Put(MakePod("first").Node("n1").Request("cpu", "2"));
    Put(Vip());
    StepAll();
    CHECK(cluster().nominator().NodeOf("default/vip") == "n1");
  }

  static PodBuilder Vip() { return MakePod("vip").Request("cpu", "2").Priority(100); }
  static PodBuilder ShownVip() {
    PodBuilder vip = Vip();
    vip.raw().status.nominated_node_name = "n1";
    return vip;
  }
  void FailLow() {
    Remove(MakePod("first").Node("n1").Request("cpu", "2"));
    Put(MakePod("low").Request("cpu", "1").Request("example.com/disk", "1"));
    ASSERT_TRUE(driver_->Step());
    ASSERT_THAT(log_, ElementsAre("failed vip", "failed low"));
  }
  void ExpectThatLowIsTried() {
    world_.clock.Advance(std::chrono::seconds(2));
    StepAll();
    ASSERT_FALSE(binding_.empty()) << "low sleeps on";
    EXPECT_EQ(binding_.back()->attempt().pod->name(), "low");
  }
};

TEST_F(EndedNominationTest, APodSleptOnWhenAPreemptorWasDeletedBeforeTheApiShowedItsNomination) {
  FailLow();
  Remove(Vip());
  ExpectThatLowIsTried();
}

// Pods with a finalizer are seen while they are being deleted, and are not tried any more.
TEST_F(EndedNominationTest, APodSleptOnWhenAPreemptorThatWasBeingDeletedWasGone) {
  FailLow();
  PodBuilder going = ShownVip();
  going.raw().metadata.deletion_timestamp = api::Time{};
  Put(going);
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed vip", "failed low", "skipped vip"));
  Remove(going);
  ExpectThatLowIsTried();
}

TEST_F(EndedNominationTest, APodSleptOnWhenAPreemptorWasPlacedOnAnotherNodeThanItWasPromised) {
  Put(ShownVip());
  Put(MakePod("other").Node("n1").Request("cpu", "1").Priority(200));
  FailLow();
  PutNode("n2", "2");
  ExpectThatLowIsTried();
  ASSERT_EQ(binding_.size(), 2u);
  EXPECT_EQ(binding_[0]->attempt().pod->name(), "vip");
  EXPECT_EQ(binding_[0]->attempt().node_name, "n2");
}

// The API shows the old promise until it shows another one: storm seed 4327.
TEST_F(EndedNominationTest, APodSleptOnWhenAWithdrawnNominationWasReplacedBeforeTheApiShowedThat) {
  Put(ShownVip());
  Put(MakePod("other").Node("n1").Request("cpu", "1").Priority(200));
  FailLow();
  StepAll();
  ASSERT_EQ(cluster().nominator().NodeOf("default/vip"), "") << "it does not fit beside other, and withdraws";
  ExpectThatLowIsTried();
}

TEST_F(EndedNominationTest, APodSleptOnWhenAPreemptorWasBoundElsewhereBySomebodyElse) {
  PutNode("n2", "0");
  FailLow();
  Put(Vip().Node("n2"));
  ExpectThatLowIsTried();
}

// The victims of the second attempt were evicted for nothing.
TEST_F(DriverTest, TheEndOfAnEarlierAttemptWithdrewTheNominationOfALaterOne) {
  PutNode("n1", "2");
  const auto vip = [] { return MakePod("vip").Request("cpu", "2").Priority(100); };
  Put(vip());
  StepAll();
  Remove(vip());
  Put(MakePod("first").Node("n1").Request("cpu", "2"));
  Put(vip());
  StepAll();
  ASSERT_EQ(cluster().nominator().NodeOf("default/vip"), "n1");
  world_.api.calls.clear();
  Finish(0, framework::Status::Error("timeout"));
  EXPECT_EQ(cluster().nominator().NodeOf("default/vip"), "n1");
  EXPECT_THAT(world_.api.calls, ElementsAre("bind vip to n1"));
}

// A recording that began between the two was decided otherwise: storm seed 4652.
TEST_F(DriverTest, ACheckpointKeepsANominationToANodeThatIsGone) {
  PutNode("n1", "1");
  Put(MakePod("first").Node("n1").Request("cpu", "1"));
  Put(MakePod("vip").Request("cpu", "1").Priority(100));
  StepAll();
  ASSERT_THAT(world_.api.calls, ::testing::Contains("nominate vip to n1"));
  driver_->Remove(api::Object(MakeNode("n1").Shared()));
  const Checkpoint taken = driver_->TakeCheckpoint();
  ASSERT_EQ(taken.nominations.size(), 1u);
  EXPECT_EQ(taken.nominations[0].pod->name(), "vip");
  EXPECT_EQ(taken.nominations[0].node_name, "n1");
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

// Devices on n1, and claims of one device each. Writing a claim fails, so that no binding comes to a good end.
class DeviceDriverTest : public DriverTest {
 protected:
  DeviceDriverTest() {
    PutNode("n1", "4");
    Put(dra::testing::MakeClass("gpu"));
    Put(dra::testing::MakeSlice("n1", {dra::testing::MakeDevice("g0")}));
    for (const char* claim : {"c1", "c2"}) {
      Put(dra::testing::MakeClaim(claim, {dra::testing::MakeRequest("r", 1)}));
    }
  }
  using DriverTest::Put;
  template <class T>
  void Put(const std::shared_ptr<T>& object) {
    object->metadata.resource_version = std::to_string(++version_);
    driver_->Put(api::Object(std::shared_ptr<const T>(object)));
  }
  static PodBuilder PodWith(const std::string& name, const std::string& claim) {
    return MakePod(name).ResourceClaim("device", claim);
  }
  // The end of the first binding comes when its pod is gone, so that nothing but what it gives back can help.
  void LoseFirst(const std::string& name, const std::string& claim) {
    Remove(PodWith(name, claim));
    world_.clock.Advance(std::chrono::seconds(20));
    StepAll();
    ASSERT_EQ(driver_->binding(), 1u) << "its devices are still on their way";
    Finish(0);
    StepAll();
    EXPECT_EQ(driver_->binding(), 1u) << "the next one has them";
  }
};

TEST_F(DeviceDriverTest, APodThatSharesAClaimSleptOnWhenTheAllocationOfThatClaimWasGivenUp) {
  Put(PodWith("first", "c1"));
  StepAll();
  Put(PodWith("next", "c1"));
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed next"));
  LoseFirst("first", "c1");
}

TEST_F(DeviceDriverTest, APodSleptOnWhenDevicesThatWereMeantForAnotherClaimBecameFree) {
  Put(PodWith("first", "c1"));
  StepAll();
  Put(PodWith("next", "c2"));
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed next"));
  LoseFirst("first", "c1");
}

// What the controller of claims does in two steps may be seen as one, after a gap in the watch.
TEST_F(DeviceDriverTest, APodSleptOnWhenAClaimWasDeletedTogetherWithItsAllocation) {
  const auto allocated = dra::testing::MakeAllocated("c1", "n1", {"g0"});
  Put(allocated);
  Put(PodWith("next", "c2"));
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed next"));
  driver_->Remove(api::Object(std::shared_ptr<const api::ResourceClaim>(allocated)));
  world_.clock.Advance(std::chrono::seconds(20));
  StepAll();
  EXPECT_EQ(driver_->binding(), 1u);
}

// Storm seed 18881.
TEST_F(DeviceDriverTest, APodThatReturnedSleptOnWhenItsEarlierAttemptGaveItsDevicesUp) {
  Put(PodWith("first", "c1"));
  StepAll();
  Remove(PodWith("first", "c1"));
  Put(PodWith("first", "c1"));
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed first")) << "its claim is being allocated";
  Finish(0);
  ASSERT_THAT(log_, ElementsAre("failed first", "stale first"));
  world_.clock.Advance(std::chrono::seconds(20));
  StepAll();
  EXPECT_EQ(driver_->binding(), 1u);
}

// Storm seed 2240.
TEST_F(DeviceDriverTest, APodWasBoundToDevicesThatItsOwnPostFilterHadGivenUp) {
  const auto allocated = dra::testing::MakeAllocated("c1", "n2", {"g0"});
  allocated->status.allocation->node_selector =
      api::NodeSelector{{{.match_expressions = {}, .match_fields = {{Symbol("metadata.name"), "In", {Symbol("n2")}}}}}};
  allocated->status.reserved_for.push_back({"", "pods", "first", PodWith("first", "c1").Obj().metadata.uid});
  Put(allocated);
  Put(PodWith("first", "c1"));
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed first")) << "its devices are elsewhere: the claim is being deallocated";
  PutNode("n2", "4");
  world_.clock.Advance(std::chrono::seconds(20));
  StepAll();
  ASSERT_EQ(driver_->binding(), 1u) << "the API server has not reported that yet";
  Finish(0);
  EXPECT_THAT(log_, ElementsAre("failed first", "failed first")) << "the claim has to be written again first";
}

// Storm seed 19139.
TEST_F(DeviceDriverTest, TheEndOfAnAttemptFreedTheDevicesOfALaterOne) {
  Put(PodWith("first", "c1"));
  StepAll();
  binding_[0]->Run();  // the claim could not be written: its devices are free again, though nobody has heard of the end
  Remove(PodWith("first", "c1"));
  Put(PodWith("second", "c1"));
  StepAll();
  ASSERT_EQ(driver_->binding(), 2u);
  driver_->Finish(std::move(binding_[0]));
  Put(PodWith("third", "c2"));
  StepAll();
  EXPECT_EQ(driver_->binding(), 1u) << "the only device is on its way to c1";
  EXPECT_THAT(log_, ::testing::Contains("failed third"));
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

// One volume on n1, and two claims that want it. First has it set aside, and next waits for it.
class VolumeDriverTest : public DriverTest {
 protected:
  VolumeDriverTest() {
    PutNode("n1", "4");
    driver_->Put(api::MakeObject(
        berth::testing::MakeStorageClass("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")));
    api::PersistentVolume volume = berth::testing::MakePv("disk", {.storage_class = "local"});
    volume.metadata.resource_version = "1";
    driver_->Put(api::MakeObject(volume));
    for (const char* claim : {"c1", "c2"}) {
      driver_->Put(api::MakeObject(berth::testing::MakePvc(claim, {.storage_class = "local"})));
    }
  }
  void PutBoth(const std::string& profile) {
    Put(MakePod("first").SchedulerName(profile).Pvc("c1"));
    StepAll();
    Put(MakePod("next").SchedulerName(profile).Pvc("c2"));
    StepAll();
    ASSERT_THAT(log_, ElementsAre("failed next"));
  }
};

TEST_F(VolumeDriverTest, APodSleptOnWhenAVolumeThatWasSetAsideForAnotherWasGivenUpInPermit) {
  PutBoth("gang");
  driver_->scheduler().waiting_pods().Reject("default/first", "Gang", "the others did not come");
  world_.clock.Advance(std::chrono::seconds(2));
  StepAll();
  EXPECT_TRUE(driver_->scheduler().waiting_pods().IsWaiting("default/next")) << "it has the volume";
}

TEST_F(VolumeDriverTest, APodSleptOnWhenAVolumeThatWasSetAsideForAnotherCouldNotBeWritten) {
  PutBoth("default-scheduler");
  ASSERT_EQ(binding_.size(), 1u);
  binding_[0]->set_status(framework::Status::Error("the server is currently unable to handle the request"));
  driver_->Finish(std::move(binding_[0]));
  StepAll();
  ASSERT_EQ(binding_.size(), 2u);
  EXPECT_EQ(binding_[1]->attempt().pod->name(), "next");
}

}  // namespace
}  // namespace berth::scheduler
