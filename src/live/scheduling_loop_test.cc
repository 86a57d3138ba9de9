#include "live/scheduling_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/bare_object.h"
#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;
using berth::testing::PodBuilder;
using client::ObjectChange;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using SchedulingLoopTest = testing::LoopFixture;

TEST_F(SchedulingLoopTest, SchedulesOnceEverythingIsListedAndItIsItsTurn) {
  TellNode("n1", "4");
  Tell(MakePod("web").SchedulerName("default-scheduler"));
  Settle();
  EXPECT_TRUE(loop_->synced());
  EXPECT_THAT(server_.lines(), ::testing::IsEmpty()) << "it is not its turn";
  loop_->StartScheduling();
  EXPECT_THAT(server_.Await({"POST /api/v1/namespaces/default/pods/web/binding"}), HasSubstr("\"name\":\"n1\""));
  EXPECT_THAT(server_.Await({"/events", "Successfully assigned default/web to n1"}),
              AllOf(HasSubstr("\"reason\":\"Scheduled\""), HasSubstr("\"action\":\"Binding\"")));
}

TEST_F(SchedulingLoopTest, CountsHowDecisionsWereFoundAndTimesLanes) {
  TellNode("n1", "4");
  TellNode("n2", "4");
  Tell(MakePod("web").SchedulerName("default-scheduler"));
  loop_->StartScheduling();
  EXPECT_THAT(server_.Await({"pods/web/binding"}), Not(::testing::IsEmpty()));
  Settle();
  const std::string text = registry_.Expose();
  EXPECT_THAT(text, HasSubstr("scheduler_berth_decisions_total{profile=\"default-scheduler\",way=\"lane\"} 1\n"));
  const std::string timed = "extension_point=\"Filter\",plugin=\"NodeResourcesFit\",work=\"build\"} 1\n";
  EXPECT_THAT(text, HasSubstr("scheduler_berth_lane_plugin_duration_seconds_count{" + timed));
}

TEST_F(SchedulingLoopTest, AKindThatIsNotServedHoldsUpNobody) {
  loop_->StartScheduling();
  TellNode("n1", "4");
  Settle();
  EXPECT_FALSE(loop_->synced());
  loop_->OnNotServed(api::Kind::kPod);
  Settle();
  EXPECT_TRUE(loop_->synced());
}

TEST_F(SchedulingLoopTest, NothingIsScheduledOnAPartOfTheFirstList) {
  loop_->StartScheduling();
  TellNode("n1", "4");
  const auto pod = MakePod("web").SchedulerName("default-scheduler");
  loop_->OnListing(api::Kind::kPod, {{ObjectChange::Type::kAdded, api::Object(PodBuilder(pod).Shared())}});
  Settle();
  EXPECT_FALSE(loop_->synced());
  loop_->OnChanges(api::Kind::kPod, {});
  EXPECT_THAT(server_.Await({"pods/web/binding"}), HasSubstr("\"name\":\"n1\""));
  EXPECT_TRUE(loop_->synced());
}

// All that is known about a pod whose deletion was missed: its names and UID.
TEST_F(SchedulingLoopTest, APodThatIsGoneGivesItsRoomBackWhateverElseIsKnownOfIt) {
  loop_->StartScheduling();
  TellNode("n1", "4");
  const auto placed = MakePod("placed").Node("n1").Request("cpu", "3");
  Tell(placed);
  Tell(MakePod("web").SchedulerName("default-scheduler").Request("cpu", "2"));
  EXPECT_THAT(server_.Await({"pods/web/status"}), HasSubstr("Insufficient cpu"));
  api::ObjectMeta bare;
  bare.name = "placed";
  bare.namespace_ = Symbol("default");
  bare.uid = PodBuilder(placed).Shared()->metadata.uid;
  loop_->OnChanges(api::Kind::kPod, {{ObjectChange::Type::kDeleted, api::MakeBareObject(api::Kind::kPod, bare)}});
  EXPECT_THAT(server_.Await({"pods/web/binding"}), HasSubstr("\"name\":\"n1\""));
}

TEST_F(SchedulingLoopTest, TellsWhyAPodIsPendingAndBindsItWhenRoomComes) {
  loop_->StartScheduling();
  TellNode("small", "1");
  Tell(MakePod("web").SchedulerName("default-scheduler").Request("cpu", "2"));
  const std::string patch = server_.Await({"PATCH /api/v1/namespaces/default/pods/web/status"});
  EXPECT_THAT(patch, AllOf(HasSubstr("\"type\":\"PodScheduled\""), HasSubstr("\"reason\":\"Unschedulable\""),
                           HasSubstr("0/1 nodes are available: 1 Insufficient cpu.")));
  EXPECT_THAT(server_.Await({"/events", "FailedScheduling"}), HasSubstr("\"type\":\"Warning\""));
  TellNode("large", "4");
  EXPECT_THAT(server_.Await({"pods/web/binding"}), HasSubstr("\"name\":\"large\""));
}

TEST_F(SchedulingLoopTest, ABindingThatFailsIsReportedAndTriedAgain) {
  server_.Answer("pods/web/binding", 409);
  // It is read, because an earlier attempt might have bound it.
  server_.Serve("GET /api/v1/namespaces/default/pods/web ", {api::EncodeJson(api::Object(MakePod("web").Shared()))});
  loop_->StartScheduling();
  TellNode("n1", "4");
  Tell(MakePod("web").SchedulerName("default-scheduler").Request("cpu", "4"));
  EXPECT_THAT(server_.Await({"PATCH", "pods/web/status"}), HasSubstr("\"reason\":\"SchedulerError\""));
  server_.Answer("pods/web/binding", 201);
  EXPECT_NE(server_.Await({"Successfully assigned default/web to n1"}), "") << "its room was given back";
}

TEST_F(SchedulingLoopTest, PreemptionMarksAndDeletesItsVictims) {
  TellNode("n1", "1");
  Tell(MakePod("low").Node("n1").Request("cpu", "1").StartTime("2026-01-01T00:00:00Z"));
  Tell(MakePod("vip").SchedulerName("default-scheduler").Request("cpu", "1").Priority(10));
  loop_->StartScheduling();
  EXPECT_THAT(server_.Await({"PATCH /api/v1/namespaces/default/pods/low/status"}),
              AllOf(HasSubstr("DisruptionTarget"), HasSubstr("PreemptionByScheduler"),
                    HasSubstr("default-scheduler: preempting to accommodate a higher priority pod")));
  EXPECT_THAT(server_.Await({"DELETE /api/v1/namespaces/default/pods/low"}), HasSubstr("default/low"));
  EXPECT_THAT(server_.Await({"PATCH /api/v1/namespaces/default/pods/vip/status"}),
              AllOf(HasSubstr("\"nominatedNodeName\":\"n1\""), HasSubstr("Unschedulable")))
      << "one patch says both";
  EXPECT_NE(server_.Await({"/events", "Preempted by pod default/vip on node n1"}), "");
  Tell(MakePod("low").Node("n1"), ObjectChange::Type::kDeleted);
  EXPECT_NE(server_.Await({"pods/vip/binding"}), "");
}

// It is gated while its victims terminate, and no event requeues a gated pod.
TEST_F(SchedulingLoopTest, APreemptorThatLeavesAndReturnsIsTriedAgain) {
  const std::string eviction = "DELETE /api/v1/namespaces/default/pods/low";
  server_.Hold(eviction);
  TellNode("n1", "1");
  Tell(MakePod("low").Node("n1").Request("cpu", "1").StartTime("2026-01-01T00:00:00Z"));
  const auto vip = [] { return MakePod("vip").SchedulerName("default-scheduler").Request("cpu", "1").Priority(10); };
  Tell(vip());
  loop_->StartScheduling();
  EXPECT_NE(server_.Await({eviction}), "");
  Tell(vip(), ObjectChange::Type::kDeleted);
  Tell(vip());
  Settle();
  server_.Release(eviction);
  Settle();
  Tell(MakePod("low").Node("n1"), ObjectChange::Type::kDeleted);
  EXPECT_NE(server_.Await({"pods/vip/binding"}), "");
}

TEST_F(SchedulingLoopTest, APodIsBoundOnceHoweverOftenItIsHeardOf) {
  loop_->StartScheduling();
  TellNode("n1", "8");
  for (int i = 0; i < 3; ++i) Tell(MakePod("web").SchedulerName("default-scheduler").Label("n", std::to_string(i)));
  EXPECT_NE(server_.Await({"Successfully assigned default/web"}), "");
  Tell(MakePod("web").SchedulerName("default-scheduler").Label("n", "4"), ObjectChange::Type::kModified);
  Tell(MakePod("last").SchedulerName("default-scheduler"));
  EXPECT_NE(server_.Await({"Successfully assigned default/last"}), "");
  int bindings = 0;
  for (const std::string& line : server_.lines()) bindings += line.find("pods/web/binding") != std::string::npos;
  EXPECT_EQ(bindings, 1);
}

}  // namespace
}  // namespace berth::live
