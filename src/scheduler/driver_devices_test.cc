#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dra/testing/devices.h"
#include "scheduler/testing/driver_fixture.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakePod;
using berth::testing::PodBuilder;
using testing::DriverTest;
using ::testing::ElementsAre;
using ::testing::Not;

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

// A pod whose claim is allocated on n1 and reserved for it: by an earlier attempt, which may have bound it, or by
// whoever binds it while it waits or is in PreBind.
class BoundPodTest : public DeviceDriverTest {
 protected:
  BoundPodTest() {
    PutNode("n2", "4");
    const auto allocated = dra::testing::MakeAllocated("c1", "n1", {"g0"});
    allocated->status.allocation->node_selector = api::NodeSelector{
        {{.match_expressions = {}, .match_fields = {{Symbol("metadata.name"), "In", {Symbol("n1")}}}}}};
    allocated->status.reserved_for.push_back({"", "pods", "first", PodWith("first", "c1").Obj().metadata.uid});
    Put(allocated);
  }
  static ::testing::Matcher<std::vector<std::string>> HasUnreserved() {
    return ::testing::Contains("unreserve c1 for first");
  }
};

TEST_F(BoundPodTest, AReservationIsEndedWhenAPodThatIsNotBoundFails) {
  Put(PodWith("first", "c1"));
  StepAll();
  Finish(0, framework::Status::Error("no"));
  EXPECT_THAT(world_.api.calls, HasUnreserved());
}

TEST_F(BoundPodTest, APodThatSomebodyElseHadBoundLostItsReservationByTheEndOfItsWaitForPermission) {
  Put(PodWith("first", "c1").SchedulerName("gang"));
  StepAll();
  ASSERT_FALSE(driver_->scheduler().waiting_pods().empty());
  Put(PodWith("first", "c1").SchedulerName("gang").Node("n2"));
  EXPECT_TRUE(driver_->scheduler().waiting_pods().empty());
  EXPECT_THAT(log_, ElementsAre("stale first"));
  EXPECT_THAT(world_.api.calls, Not(HasUnreserved()));
}

TEST_F(BoundPodTest, APodThatWasBoundWhereItsAttemptMeantToBindItLostItsReservationByTheEndOfItsWait) {
  Put(PodWith("first", "c1").SchedulerName("gang"));
  StepAll();
  ASSERT_FALSE(driver_->scheduler().waiting_pods().empty());
  Put(PodWith("first", "c1").SchedulerName("gang").Node("n1"));
  EXPECT_TRUE(driver_->scheduler().waiting_pods().empty());
  ASSERT_EQ(driver_->binding(), 1u) << "it goes on: PreBind writes what is missing, and Bind finds it bound";
  Finish(0);
  EXPECT_THAT(log_, ElementsAre("bound first"));
  EXPECT_THAT(world_.api.calls, Not(HasUnreserved()));
}

TEST_F(BoundPodTest, APodThatWasBoundWhereItsAttemptMeantToBindItGoesThroughPreBind) {
  Put(PodWith("first", "c1"));
  StepAll();
  ASSERT_EQ(driver_->binding(), 1u);
  Put(PodWith("first", "c1").Node("n1"));
  Finish(0);
  EXPECT_THAT(log_, ElementsAre("bound first"));
  EXPECT_THAT(world_.api.calls, Not(HasUnreserved()));
}

TEST_F(BoundPodTest, APodThatIsBoundLostItsReservationWhenItsAttemptFailed) {
  for (const char* node : {"n1", "n2"}) {
    Put(PodWith("first", "c1"));
    StepAll();
    ASSERT_EQ(driver_->binding(), 1u);
    Put(PodWith("first", "c1").Node(node));
    Finish(binding_.size() - 1, framework::Status::Error("already bound, and who knows where"));
    EXPECT_THAT(log_, ElementsAre("stale first"));
    EXPECT_THAT(world_.api.calls, Not(HasUnreserved()));
    Remove(PodWith("first", "c1").Node(node));
    log_.clear();
  }
}

// Storm seed 9033: the later attempt had written its reservation before the earlier one ended, and the running pod lost
// it.
TEST_F(BoundPodTest, TheEndOfAnEarlierAttemptEndedTheReservationOfALaterOne) {
  Put(PodWith("first", "c1"));
  StepAll();
  Remove(PodWith("first", "c1"));
  Put(PodWith("first", "c1"));
  StepAll();
  ASSERT_EQ(driver_->binding(), 2u);
  Finish(0, framework::Status::Error("no answer"));
  EXPECT_THAT(world_.api.calls, Not(HasUnreserved()));
  Finish(1, framework::Status::Error("no"));
  EXPECT_THAT(world_.api.calls, HasUnreserved()) << "it has no later attempt";
}

TEST_F(BoundPodTest, DevicesThatWereOnTheirWayToAPodThatIsBoundElsewhereAreFree) {
  Put(dra::testing::MakeClaim("c1", {dra::testing::MakeRequest("r", 1)}));
  Put(PodWith("first", "c1").SchedulerName("gang"));
  StepAll();
  Put(PodWith("next", "c2"));
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed next"));
  Put(PodWith("first", "c1").SchedulerName("gang").Node("n2"));
  world_.clock.Advance(std::chrono::seconds(20));
  StepAll();
  EXPECT_EQ(driver_->binding(), 1u);
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

}  // namespace
}  // namespace berth::scheduler
