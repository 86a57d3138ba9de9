#include "live/evictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/testing/loop_fixture.h"
#include "live/testing/virtual_loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;
using client::ObjectChange;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDeleteFirst = "DELETE /api/v1/namespaces/default/pods/first";
constexpr const char* kDeleteLast = "DELETE /api/v1/namespaces/default/pods/last";

// A node filled by two pods, the more important one first, and a pod that needs all of it.
class EvictionsTest : public testing::LoopFixture {
 protected:
  using PodBuilder = berth::testing::PodBuilder;

  void Preempt() {
    TellNode("n1", "2");
    Tell(First());
    Tell(Last());
    Tell(MakePod("vip").SchedulerName("default-scheduler").Request("cpu", "2").Priority(10));
    loop_->StartScheduling();
  }
  static PodBuilder First() {
    return MakePod("first").Node("n1").Request("cpu", "1").Priority(2).StartTime("2026-01-01T00:00:00Z");
  }
  static PodBuilder Last() {
    return MakePod("last").Node("n1").Request("cpu", "1").Priority(1).StartTime("2026-01-01T00:00:00Z");
  }
  size_t Gated() {
    std::promise<size_t> gated;
    loop_->Post([&] { gated.set_value(loop_->driver().queue().counts().gated); });
    return gated.get_future().get();
  }
  double Ended(std::string_view result) { return metrics_.preemption_goroutines_execution.With(result).value(); }
  int Count(const std::string& part) {
    int count = 0;
    for (const std::string& line : server_.lines()) count += line.find(part) != std::string::npos;
    return count;
  }
};

TEST_F(EvictionsTest, ThePreemptorIsHeldBackUntilEveryVictimIsBeingDeleted) {
  server_.Hold(kDeleteFirst);
  server_.Hold(kDeleteLast);
  Preempt();
  ASSERT_NE(server_.Await({kDeleteFirst}), "");
  // Room elsewhere would requeue it if it were not held back.
  TellNode("n2", "2");
  EXPECT_EQ(Gated(), 1u);
  EXPECT_EQ(Count(kDeleteLast), 0) << "the last one waits for the others";
  server_.Release(kDeleteFirst);
  ASSERT_NE(server_.Await({kDeleteLast}), "");
  EXPECT_EQ(Gated(), 1u);
  EXPECT_EQ(Count("pods/vip/binding"), 0);
  // From here on nothing holds it back, and it may be bound at any time.
  server_.Release(kDeleteLast);
  Tell(First(), ObjectChange::Type::kDeleted);
  Tell(Last(), ObjectChange::Type::kDeleted);
  EXPECT_NE(server_.Await({"pods/vip/binding"}), "");
}

TEST_F(EvictionsTest, OnceTheLastVictimIsGoingTheAnswerIsNotWaitedFor) {
  server_.Hold(kDeleteLast);
  Preempt();
  ASSERT_NE(server_.Await({kDeleteLast}), "");
  Tell(First(), ObjectChange::Type::kDeleted);
  EXPECT_EQ(Gated(), 1u) << "one is gone, and nobody knows of the other";
  Tell(Last(), ObjectChange::Type::kDeleted);
  EXPECT_NE(server_.Await({"pods/vip/binding"}), "");
  EXPECT_EQ(Ended("success"), 0);
  server_.Release(kDeleteLast);
}

TEST_F(EvictionsTest, AFailureSparesTheLastVictimAndThePreemptorIsTriedAgain) {
  server_.Answer(kDeleteFirst, 403);
  server_.Hold(kDeleteFirst);
  Preempt();
  ASSERT_NE(server_.Await({kDeleteFirst}), "");
  server_.Answer(kDeleteFirst, 201);
  EXPECT_EQ(Count(kDeleteLast), 0);
  server_.Release(kDeleteFirst);
  // The second attempt succeeds.
  ASSERT_NE(server_.Await({kDeleteLast}), "");
  EXPECT_EQ(Count(kDeleteFirst), 2);
  EXPECT_EQ(Ended("error"), 1);
}

TEST_F(EvictionsTest, APreemptorSleptOnWhenItsLastVictimWasGoneBeforeItsTurn) {
  server_.Hold(kDeleteFirst);
  server_.Answer("pods/last", 404);
  Preempt();
  ASSERT_NE(server_.Await({kDeleteFirst}), "");
  Tell(Last(), ObjectChange::Type::kDeleted);
  Tell(First(), ObjectChange::Type::kDeleted);
  Settle();
  EXPECT_EQ(Count("pods/vip/binding"), 0) << "it is held back";
  server_.Release(kDeleteFirst);
  EXPECT_NE(server_.Await({"pods/vip/binding"}), "");
}

// Storm seed 13008. The watch leaves out pods that have ended, so it reports them as deleted.
TEST_F(EvictionsTest, AVictimThatHadEndedByItselfWasDeletedAllTheSame) {
  server_.Hold(kDeleteFirst);
  Preempt();
  ASSERT_NE(server_.Await({kDeleteFirst}), "");
  Tell(Last(), ObjectChange::Type::kDeleted);
  Settle();
  server_.Release(kDeleteFirst);
  Tell(First(), ObjectChange::Type::kDeleted);
  EXPECT_NE(server_.Await({"pods/vip/binding"}), "");
  EXPECT_EQ(Count("pods/last"), 0);
}

TEST_F(EvictionsTest, AVictimThatIsGoneAlreadyIsNoFailure) {
  server_.Answer(kDeleteFirst, 404);
  Preempt();
  EXPECT_NE(server_.Await({kDeleteLast}), "");
  EXPECT_NE(server_.Await({"/events", "Preempted by pod default/vip on node n1", "\"name\":\"last\""}), "");
  EXPECT_THAT(server_.lines(), Not(Contains(::testing::AllOf(HasSubstr("Preempted by pod"), HasSubstr("first")))));
}

// The victims were thought to be gone already, and nothing was to happen any more.
TEST_F(EvictionsTest, APreemptorSleptOnWhenAProxyAnsweredForItsVictim) {
  server_.Answer(kDeleteFirst, 404);
  server_.Serve(kDeleteFirst, {"default backend - 404"});
  server_.Hold(kDeleteFirst);
  Preempt();
  ASSERT_NE(server_.Await({kDeleteFirst}), "");
  server_.Answer(kDeleteFirst, 201);
  server_.Release(kDeleteFirst);
  ASSERT_NE(server_.Await({kDeleteLast}), "");
  EXPECT_EQ(Count(kDeleteFirst), 2);
  EXPECT_EQ(Ended("error"), 1);
}

class FailedEvictionTest : public testing::VirtualLoopFixture {};

// Activating the preemptor as soon as its eviction fails would fill the day with attempts.
TEST_F(FailedEvictionTest, AnEvictionThatAlwaysFailedWasTriedAgainWithoutAPause) {
  server_.Answer("DELETE", 403);
  TellPod(MakePod("victim").Node("n1").Request("cpu", "4").StartTime("2026-01-01T00:00:00Z"));
  TellPod(MakePod("vip").SchedulerName("default-scheduler").Request("cpu", "4").Priority(10));
  loop_->StartScheduling();
  Pass(std::chrono::seconds(60));
  EXPECT_GE(Count("DELETE", "pods/victim"), 6u);
  EXPECT_LE(Count("DELETE", "pods/victim"), 10u);
}

// What the API knows of the victim does not name a node yet.
TEST_F(EvictionsTest, TheEventDidNotNameTheNodeOfAVictimWhoseBindingWasOnItsWay) {
  server_.Hold("pods/victim/binding");
  TellNode("n1", "1");
  Tell(MakePod("victim").SchedulerName("default-scheduler").Request("cpu", "1"));
  loop_->StartScheduling();
  ASSERT_NE(server_.Await({"pods/victim/binding"}), "");
  Tell(MakePod("vip").SchedulerName("default-scheduler").Request("cpu", "1").Priority(10));
  Settle();
  server_.Release("pods/victim/binding");
  ASSERT_NE(server_.Await({"DELETE", "pods/victim"}), "");
  EXPECT_NE(server_.Await({"/events", "Preempted by pod default/vip on node n1"}), "");
}

// Provisioning its volume would have taken minutes.
TEST_F(EvictionsTest, AVictimThatWaitsForItsVolumeIsTakenBackAndNotDeleted) {
  loop_->OnChanges(api::Kind::kStorageClass,
                   {{ObjectChange::Type::kAdded, api::MakeObject(berth::testing::MakeStorageClass(
                                                     "slow", "WaitForFirstConsumer", "csi.example.com"))}});
  const auto tell_claim = [&](const api::PersistentVolumeClaim& claim) {
    loop_->OnChanges(api::Kind::kPersistentVolumeClaim, {{ObjectChange::Type::kAdded, api::MakeObject(claim)}});
  };
  api::PersistentVolumeClaim claim = berth::testing::MakePvc("data", {.storage_class = "slow"});
  tell_claim(claim);
  server_.Hold("persistentvolumeclaims/data");
  server_.Serve(
      "persistentvolumeclaims/data",
      {R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"data","namespace":"default"}})"});
  TellNode("n1", "1");
  Tell(MakePod("victim").SchedulerName("default-scheduler").Request("cpu", "1").Pvc("data"));
  loop_->StartScheduling();
  ASSERT_NE(server_.Await({"PATCH", "persistentvolumeclaims/data", "selected-node"}), "");
  claim.metadata.annotations.Set("volume.kubernetes.io/selected-node", "n1");
  tell_claim(claim);
  Settle();
  server_.Release("persistentvolumeclaims/data");
  Tell(MakePod("vip").SchedulerName("default-scheduler").Request("cpu", "1").Priority(10));
  EXPECT_NE(server_.Await({"PATCH", "pods/victim/status", "SchedulerError",
                           "running PreBind plugin \\\"VolumeBinding\\\": preempted by DefaultPreemption"}),
            "");
  EXPECT_NE(server_.Await({"POST", "events", "Preempted by pod default/vip on node n1 (in kube-scheduler memory)."}),
            "");
  EXPECT_NE(server_.Await({"POST", "pods/vip/binding"}), "") << "the room that was given back wakes the preemptor";
  EXPECT_EQ(Count("DELETE"), 0);
}

}  // namespace
}  // namespace berth::live
