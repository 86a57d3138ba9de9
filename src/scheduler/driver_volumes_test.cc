#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing/driver_fixture.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakePod;
using testing::DriverTest;
using ::testing::ElementsAre;

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

// Its room is free at once, its volume only when the write that was on its way has failed.
TEST_F(VolumeDriverTest, APodSleptOnWhenAVolumeWasGivenUpAfterItsPodWasDeleted) {
  PutBoth("default-scheduler");
  Remove(MakePod("first").Pvc("c1"));
  world_.clock.Advance(std::chrono::seconds(20));
  StepAll();
  ASSERT_THAT(log_, ElementsAre("failed next", "failed next"));
  ASSERT_EQ(binding_.size(), 1u);
  binding_[0]->set_status(framework::Status::Error("the server is currently unable to handle the request"));
  driver_->Finish(std::move(binding_[0]));
  world_.clock.Advance(std::chrono::seconds(20));
  StepAll();
  ASSERT_EQ(binding_.size(), 2u);
  EXPECT_EQ(binding_[1]->attempt().pod->name(), "next");
}

}  // namespace
}  // namespace berth::scheduler
