#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing/driver_fixture.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakePod;
using berth::testing::PodBuilder;
using testing::DriverTest;
using ::testing::ElementsAre;

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

// The patch that announced the promise may still be on its way, and would nominate the pod again.
TEST_F(EndedNominationTest, ANominationThatTheApiHadNotShownYetOutlivedAFailedBinding) {
  Remove(MakePod("first").Node("n1").Request("cpu", "2"));
  StepAll();
  ASSERT_EQ(binding_.size(), 1u);
  world_.api.calls.clear();
  Finish(0, framework::Status::Error("refused"));
  EXPECT_THAT(world_.api.calls, ::testing::Contains("nominate vip to nothing"));
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

}  // namespace
}  // namespace berth::scheduler
