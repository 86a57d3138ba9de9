#include "queue/scheduling_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/builders.h"
#include "testing/by_priority_then_time.h"

namespace berth::queue {
namespace {

using framework::ActionType;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::QueueingHint;
using framework::Status;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::MakePod;

class SchedulingQueueTest : public ::testing::Test {
 protected:
  SchedulingQueueTest() {
    ProfileHooks hooks;
    hooks.pre_enqueue = [this](const PodInfo& pod) {
      return closed_gates_.contains(pod.name()) ? Status::Unschedulable("gated").WithPlugin("Gates")
                                                : Status::Success();
    };
    hooks.events["Fit"] = {{{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeAllocatable}, nullptr}};
    hooks.events["Picky"] = {
        {{EventResource::kPod, ActionType::kDelete}, [](const PodInfo&, const EventObject& before, const EventObject&) {
           return before.As<api::Pod>()->metadata.name == "blocker" ? QueueingHint::kQueue : QueueingHint::kSkip;
         }}};
    hooks.events["Outside"] = {{{EventResource::kPersistentVolumeClaim, ActionType::kUpdate}, nullptr}};
    hooks.events["Gates"] = {{{EventResource::kPod, ActionType::kUpdatePodSchedulingGatesEliminated}, nullptr}};
    hooks.events["Labels"] = {{{EventResource::kPod, ActionType::kUpdatePodLabel}, nullptr}};
    hooks.events["Tolerations"] = {{{EventResource::kPod, ActionType::kUpdatePodToleration}, nullptr}};
    queue_ = std::make_unique<SchedulingQueue>(
        clock_, sort_, std::map<std::string, ProfileHooks>{{"default-scheduler", hooks}}, SchedulingQueue::Options{});
  }

  static PodInfoPtr Pod(const std::string& name, int32_t priority = 0) {
    return MakePod(name).Uid(name).Priority(priority).Info();
  }
  base::Ticket TicketOf(const std::string& uid) const {
    const QueuedPod* pod = queue_->Find(uid);
    return pod ? pod->ticket : base::Ticket::kNone;
  }
  void Requeue(const std::string& uid, PluginNames unschedulable, PluginNames pending) {
    queue_->Requeue(uid, TicketOf(uid), std::move(unschedulable), std::move(pending));
  }
  std::string PopName() {
    const QueuedPod* pod = queue_->Pop();
    return pod ? pod->pod->name() : "none";
  }
  void AddNode() {
    queue_->OnEvent<api::Node>({EventResource::kNode, ActionType::kAdd}, nullptr, testing::MakeNode("n").Shared());
  }
  void DeletePod(const std::string& name) {
    queue_->OnEvent<api::Pod>({EventResource::kPod, ActionType::kDelete}, MakePod(name).Uid(name).Shared(), nullptr);
  }

  base::FakeClock clock_{base::Time(seconds(1000))};
  testing::ByPriorityThenTime sort_;
  std::set<std::string> closed_gates_;
  std::unique_ptr<SchedulingQueue> queue_;
};

TEST_F(SchedulingQueueTest, ShowsWhoStandsInLineInOrderAndForHowLong) {
  const auto in_line = [&](PodState state) {
    std::vector<std::string> names;
    queue_->ForEachInLine(state, [&](const WaitingPod& pod) {
      const std::optional<base::Time> due = queue_->DueAt(pod);
      names.push_back(pod.pod->name() + (due ? " " + std::to_string((*due - clock_.Now()) / seconds(1)) : ""));
    });
    return names;
  };
  closed_gates_ = {"held"};
  for (const char* name : {"sleeps", "broken", "late", "held"}) queue_->Add(Pod(name));
  queue_->Add(Pod("urgent", 10));
  EXPECT_THAT(in_line(PodState::kActive), ::testing::ElementsAre("urgent", "sleeps", "broken", "late"));
  for (int i = 0; i < 3; ++i) PopName();
  Requeue("sleeps", {"Fit"}, {});
  Requeue("broken", {}, {});
  EXPECT_THAT(in_line(PodState::kActive), ::testing::ElementsAre("late"));
  EXPECT_THAT(in_line(PodState::kUnschedulable), ::testing::UnorderedElementsAre("sleeps 300", "held"));
  EXPECT_THAT(in_line(PodState::kErrorBackoff), ::testing::ElementsAre("broken 2")) << "one second, and its window";
  EXPECT_THAT(in_line(PodState::kInFlight), ::testing::IsEmpty());
  clock_.Advance(seconds(100));
  EXPECT_THAT(in_line(PodState::kUnschedulable), ::testing::UnorderedElementsAre("sleeps 200", "held"));
}

TEST_F(SchedulingQueueTest, PopsByPriorityThenArrival) {
  queue_->Add(Pod("early"));
  clock_.Advance(milliseconds(1));
  queue_->Add(Pod("important", 10));
  queue_->Add(Pod("late"));
  EXPECT_EQ(PopName(), "important");
  EXPECT_EQ(PopName(), "early");
  EXPECT_EQ(PopName(), "late");
  EXPECT_EQ(PopName(), "none");
  EXPECT_EQ(queue_->counts().in_flight, 3u);
}

TEST_F(SchedulingQueueTest, ARejectedPodSleepsUntilAnEventItsPluginCaresAbout) {
  queue_->Add(Pod("a"));
  PopName();
  Requeue("a", {"Fit"}, {});
  EXPECT_EQ(queue_->counts().unschedulable, 1u);
  clock_.Advance(minutes(1));
  DeletePod("whatever");
  EXPECT_EQ(PopName(), "none");
  AddNode();
  EXPECT_EQ(PopName(), "a");
}

TEST_F(SchedulingQueueTest, AHintCanDeclineAnEvent) {
  queue_->Add(Pod("a"));
  PopName();
  Requeue("a", {"Picky"}, {});
  DeletePod("bystander");
  EXPECT_EQ(queue_->counts().unschedulable, 1u);
  DeletePod("blocker");
  EXPECT_EQ(queue_->counts().unschedulable, 0u);
}

TEST_F(SchedulingQueueTest, AnEventDuringTheFlightIsNotLost) {
  queue_->Add(Pod("a"));
  PopName();
  AddNode();
  Requeue("a", {"Fit"}, {});
  EXPECT_EQ(queue_->counts().backoff, 1u);
}

TEST_F(SchedulingQueueTest, AnEventBeforeTheFlightDoesNotCount) {
  queue_->Add(Pod("a"));
  queue_->Add(Pod("b"));
  PopName();
  AddNode();
  PopName();
  Requeue("b", {"Fit"}, {});
  EXPECT_EQ(queue_->counts().unschedulable, 1u);
}

TEST_F(SchedulingQueueTest, BackoffDoublesUpToTheLimit) {
  const PodBackoff backoff(clock_, seconds(1), seconds(10));
  for (const auto& [failures, wait] :
       std::vector<std::pair<int, int>>{{0, 0}, {1, 1}, {2, 2}, {3, 4}, {4, 8}, {5, 10}, {60, 10}}) {
    EXPECT_EQ(backoff.After(failures), seconds(wait)) << failures;
  }
}

TEST_F(SchedulingQueueTest, APodThatFailedByErrorWaitsOutItsBackoff) {
  queue_->Add(Pod("a"));
  PopName();
  Requeue("a", {}, {});
  EXPECT_EQ(PopName(), "none") << "errors are not taken early";
  ASSERT_TRUE(queue_->NextFlush().has_value());
  clock_.Set(*queue_->NextFlush());
  EXPECT_EQ(PopName(), "a");
}

TEST_F(SchedulingQueueTest, AnIdleSchedulerTakesFromBackoffEarly) {
  queue_->Add(Pod("a"));
  PopName();
  AddNode();
  Requeue("a", {"Fit"}, {});
  EXPECT_EQ(PopName(), "a");
}

TEST_F(SchedulingQueueTest, AReadyPodGoesBeforeOneInBackoff) {
  queue_->Add(Pod("failing", 100));
  PopName();
  AddNode();
  Requeue("failing", {"Fit"}, {});
  queue_->Add(Pod("fresh"));
  EXPECT_EQ(PopName(), "fresh");
}

TEST_F(SchedulingQueueTest, APendingPluginsEventSkipsTheBackoff) {
  queue_->Add(Pod("a"));
  PopName();
  Requeue("a", {}, {"Outside"});
  queue_->OnEvent<api::PersistentVolumeClaim>({EventResource::kPersistentVolumeClaim, ActionType::kUpdate},
                                              std::make_shared<const api::PersistentVolumeClaim>(),
                                              std::make_shared<const api::PersistentVolumeClaim>());
  EXPECT_EQ(queue_->counts().active, 1u);
}

TEST_F(SchedulingQueueTest, AGatedPodWaitsForItsGateOnly) {
  closed_gates_.insert("a");
  queue_->Add(Pod("a"));
  EXPECT_EQ(queue_->counts().gated, 1u);
  clock_.Advance(minutes(10));
  AddNode();
  EXPECT_EQ(PopName(), "none");
  closed_gates_.clear();
  queue_->Update(Pod("a"));
  queue_->Activate("a");
  EXPECT_EQ(PopName(), "a");
}

TEST_F(SchedulingQueueTest, AGateThatOpensSilentlyIsNoticedInTheEnd) {
  closed_gates_.insert("a");
  queue_->Add(Pod("a"));
  clock_.Set(*queue_->NextFlush());
  EXPECT_EQ(PopName(), "none") << "asked again, and still shut";
  EXPECT_EQ(queue_->counts().gated, 1u);
  closed_gates_.clear();
  EXPECT_EQ(PopName(), "none") << "not asked on every flush";
  clock_.Set(*queue_->NextFlush());
  EXPECT_EQ(PopName(), "a");
}

TEST_F(SchedulingQueueTest, ActivationDuringTheFlightIsNotLost) {
  queue_->Add(Pod("a"));
  queue_->Add(Pod("b"));
  PopName();
  PopName();
  queue_->Activate("a");
  Requeue("a", {"Fit"}, {});
  Requeue("b", {"Fit"}, {});
  EXPECT_EQ(queue_->counts().backoff, 1u);
  EXPECT_EQ(queue_->counts().unschedulable, 1u);
  EXPECT_EQ(PopName(), "a");
}

TEST_F(SchedulingQueueTest, ActivationOutOfTheBackoffDoesNotAskTheGatesAgain) {
  queue_->Add(Pod("a"));
  PopName();
  AddNode();
  Requeue("a", {"Fit"}, {});
  ASSERT_EQ(queue_->counts().backoff, 1u);
  closed_gates_.insert("a");
  queue_->Activate("a");
  EXPECT_EQ(queue_->counts().active, 1u);
}

TEST_F(SchedulingQueueTest, APodInFlightHearsThatOthersSleptTooLong) {
  queue_->Add(Pod("sleeper"));
  PopName();
  Requeue("sleeper", {"Picky"}, {});
  queue_->Add(Pod("flying"));
  PopName();
  clock_.Advance(minutes(6));
  queue_->Flush();
  Requeue("flying", {"Picky"}, {});
  EXPECT_EQ(queue_->counts().backoff, 1u);
}

TEST_F(SchedulingQueueTest, TheFirstHelpfulChangeOfAnUpdateDecides) {
  queue_->Add(MakePod("a").Uid("a").Label("x", "1").Info());
  PopName();
  Requeue("a", {"Labels"}, {"Tolerations"});
  queue_->Update(MakePod("a").Uid("a").Label("x", "2").Tolerate("t").Info());
  EXPECT_EQ(queue_->counts().backoff, 1u) << "labels come first, and only ask for a retry after the backoff";
}

TEST_F(SchedulingQueueTest, AWildcardWakesEverybody) {
  for (const char* name : {"a", "b"}) {
    queue_->Add(Pod(name));
    PopName();
    Requeue(name, {"Picky"}, {});
  }
  clock_.Advance(seconds(3));
  queue_->OnEvent(HappenedEvent{});
  EXPECT_EQ(queue_->counts().active, 2u);
}

TEST_F(SchedulingQueueTest, AnUpdateOfASleeperIsAnEventForItsPlugins) {
  closed_gates_.insert("a");
  queue_->Add(MakePod("a").Uid("a").Gate("wait").Info());
  closed_gates_.clear();
  queue_->Update(MakePod("a").Uid("a").Gate("wait").Label("x", "y").Info());
  EXPECT_EQ(queue_->counts().gated, 1u) << "the gating plugin did not ask for label changes";
  queue_->Update(MakePod("a").Uid("a").Info());
  EXPECT_EQ(PopName(), "a");
}

TEST_F(SchedulingQueueTest, AnUpdateKeepsThePlaceOfAReadyPod) {
  queue_->Add(Pod("a"));
  clock_.Advance(milliseconds(1));
  queue_->Add(Pod("b"));
  queue_->Update(MakePod("a").Uid("a").Label("x", "y").Info());
  EXPECT_EQ(PopName(), "a");
  queue_->Update(Pod("stranger"));
  EXPECT_EQ(PopName(), "b");
  EXPECT_EQ(PopName(), "stranger");
}

TEST_F(SchedulingQueueTest, ErrorsAndRejectionsAreCountedApart) {
  queue_->Add(Pod("a"));
  PopName();
  Requeue("a", {}, {});
  clock_.Advance(minutes(1));
  PopName();
  Requeue("a", {}, {});
  EXPECT_EQ(queue_->Find("a")->consecutive_errors, 2);
  clock_.Advance(minutes(1));
  PopName();
  Requeue("a", {"Fit"}, {});
  EXPECT_EQ(queue_->Find("a")->consecutive_errors, 0);
  EXPECT_EQ(queue_->Find("a")->unschedulable_count, 1);
  EXPECT_EQ(queue_->Find("a")->attempts, 3);
}

TEST_F(SchedulingQueueTest, BackoffsThatEndInTheSameSecondGoByPriority) {
  queue_->Add(Pod("unimportant"));
  queue_->Add(Pod("important", 10));
  EXPECT_EQ(PopName(), "important");
  EXPECT_EQ(PopName(), "unimportant");
  AddNode();
  Requeue("unimportant", {"Fit"}, {});
  clock_.Advance(milliseconds(300));
  Requeue("important", {"Fit"}, {});
  EXPECT_EQ(queue_->counts().backoff, 2u);
  EXPECT_EQ(PopName(), "important");
}

TEST_F(SchedulingQueueTest, NobodySleepsForever) {
  queue_->Add(Pod("a"));
  PopName();
  Requeue("a", {"Fit"}, {});
  clock_.Advance(minutes(5));
  EXPECT_EQ(PopName(), "none");
  clock_.Advance(seconds(1));
  EXPECT_EQ(PopName(), "a");
}

TEST_F(SchedulingQueueTest, ADeletedPodIsGoneWhereverItWas) {
  for (const char* name : {"active", "flying", "sleeping"}) queue_->Add(Pod(name));
  queue_->Delete("active");
  PopName();
  queue_->Delete("flying");
  Requeue("flying", {"Fit"}, {});
  PopName();
  Requeue("sleeping", {"Fit"}, {});
  queue_->Delete("sleeping");
  const SchedulingQueue::Counts counts = queue_->counts();
  EXPECT_EQ(counts.active + counts.backoff + counts.unschedulable + counts.gated + counts.in_flight, 0u);
}

TEST(InFlightEvents, ForgetsWhatNobodyCanAskFor) {
  InFlightEvents events;
  events.Record({});
  EXPECT_EQ(events.size(), 0u) << "nobody is in flight";
  const InFlightEvents::Cursor a = events.Begin();
  events.Record({});
  const InFlightEvents::Cursor b = events.Begin();
  events.Record({});
  const InFlightEvents::Cursor c = events.Begin();
  int seen = 0;
  events.ForEachSince(b, [&](const HappenedEvent&) { return ++seen > 0; });
  EXPECT_EQ(seen, 1);
  events.End(a);
  EXPECT_EQ(events.size(), 1u);
  events.End(c);
  EXPECT_EQ(events.size(), 1u) << "b still needs it";
  events.End(b);
  EXPECT_EQ(events.size(), 0u);
  EXPECT_EQ(events.in_flight(), 0u);
}

TEST_F(SchedulingQueueTest, TheEndOfAnOlderAttemptDoesNotTouchAPodThatCameBack) {
  queue_->Add(Pod("a"));
  const base::Ticket older = queue_->Pop()->ticket;
  queue_->Bind("a", older);
  queue_->Delete("a");  // Failed, then Pending again under the same UID
  queue_->Add(Pod("a"));
  const base::Ticket newer = queue_->Pop()->ticket;
  EXPECT_NE(older, newer);
  EXPECT_EQ(queue_->FindAttempt("a", older), nullptr);
  queue_->Requeue("a", older, {}, {});
  queue_->Done("a", older);
  queue_->Bind("a", older);
  EXPECT_EQ(queue_->counts().in_flight, 1u) << "the newer attempt is still under way";
  EXPECT_EQ(TicketOf("a"), newer);
  queue_->Bind("a", newer);
  queue_->Done("a", newer);
  EXPECT_EQ(queue_->Find("a"), nullptr);
}

TEST_F(SchedulingQueueTest, AnEventCanLeaveOnePodAlone) {
  for (const char* name : {"own", "other"}) {
    queue_->Add(Pod(name));
    PopName();
    Requeue(name, {"Fit"}, {});
  }
  clock_.Advance(seconds(20));
  queue_->OnEvent<api::Node>({EventResource::kNode, ActionType::kAdd}, nullptr, testing::MakeNode("n").Shared(), "own");
  EXPECT_EQ(PopName(), "other");
  EXPECT_EQ(PopName(), "none");
}

// Another queue continues where this one stopped.
TEST_F(SchedulingQueueTest, ARestoredQueueGivesTheSamePodsAtTheSameTimes) {
  closed_gates_.insert("gated");
  for (const char* name : {"a", "b", "c", "d", "gated"}) queue_->Add(Pod(name, name[0] == 'c' ? 5 : 0));
  EXPECT_EQ(PopName(), "c");
  Requeue("c", {"Fit"}, {});
  EXPECT_EQ(PopName(), "a");
  Requeue("a", {}, {});
  EXPECT_EQ(PopName(), "b");
  queue_->Bind("b", TicketOf("b"));
  const SchedulingQueue::Saved saved = queue_->Save();

  ProfileHooks hooks;
  hooks.pre_enqueue = [](const PodInfo&) { return Status::Success(); };
  hooks.events["Fit"] = {{{EventResource::kNode, ActionType::kAdd}, nullptr}};
  SchedulingQueue again(clock_, sort_, {{"default-scheduler", hooks}}, {});
  again.Restore(saved);
  EXPECT_EQ(again.counts().active, queue_->counts().active);
  EXPECT_EQ(again.counts().backoff, queue_->counts().backoff);
  EXPECT_EQ(again.counts().unschedulable, queue_->counts().unschedulable);
  EXPECT_EQ(again.counts().gated, queue_->counts().gated);
  EXPECT_EQ(again.NextFlush(), queue_->NextFlush());
  for (int i = 0; i < 3; ++i) {
    const QueuedPod *one = queue_->Pop(), *other = again.Pop();
    ASSERT_EQ(one == nullptr, other == nullptr);
    if (one == nullptr) {
      clock_.Advance(seconds(10));
      continue;
    }
    EXPECT_EQ(one->pod->name(), other->pod->name());
    EXPECT_EQ(one->ticket, other->ticket);
    EXPECT_EQ(one->attempts, other->attempts);
  }
  const base::Ticket ticket = again.Find("b")->ticket;
  again.Requeue("b", ticket, {}, {});
  EXPECT_NE(again.Find("b"), nullptr);
  EXPECT_EQ(again.Find("b")->ticket, base::Ticket::kNone);
}

}  // namespace
}  // namespace berth::queue
