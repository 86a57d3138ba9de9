#include "scheduler/attempt_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/random.h"
#include "testing/builders.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakePod;
using berth::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr size_t kSmall = AttemptJournal::kLeastBytes;

class AttemptJournalTest : public ::testing::Test {
 protected:
  Attempt Bound(const PodBuilder& pod, const std::string& node) {
    Attempt attempt;
    attempt.pod = pod.Info();
    attempt.node_name = node;
    attempt.started = clock_.Now();
    clock_.Advance(std::chrono::milliseconds(1));
    return attempt;
  }
  Attempt Failed(const PodBuilder& pod, std::string message) {
    Attempt attempt = Bound(pod, "");
    attempt.outcome = Outcome::kUnschedulable;
    attempt.message = std::move(message);
    return attempt;
  }
  void Record(const Attempt& attempt, Ending ending) { journal_.Record(attempt, ending, clock_.Now(), 3); }
  static std::vector<std::string> Names(const std::vector<AttemptRecord>& records) {
    std::vector<std::string> names;
    for (const AttemptRecord& record : records) names.push_back(record.name);
    return names;
  }

  base::FakeClock clock_{base::Time(std::chrono::seconds(1'700'000'000))};
  AttemptJournal journal_{kSmall};
};

TEST_F(AttemptJournalTest, TellsWhatABoundAttemptFoundOut) {
  Attempt attempt = Bound(MakePod("web").Namespace("shop").Uid("u1").SchedulerName("fast").Priority(7), "n1");
  attempt.number = 3;
  attempt.first_attempt = clock_.Now() - std::chrono::seconds(5);
  attempt.feasible_nodes = 2;
  attempt.ties = 2;
  attempt.score = 612;
  attempt.scored = true;
  attempt.nominated = true;
  attempt.way = Way::kLane;
  Record(attempt, Ending::kBound);
  const std::vector<AttemptRecord> found = journal_.OfPod("shop", "web", 10);
  ASSERT_THAT(found, SizeIs(1));
  const AttemptRecord& record = found.front();
  EXPECT_EQ(record.sequence, 1u);
  EXPECT_EQ(record.name_space, "shop");
  EXPECT_EQ(record.uid, "u1");
  EXPECT_EQ(record.scheduler_name, "fast");
  EXPECT_EQ(record.priority, 7);
  EXPECT_EQ(record.started, attempt.started);
  EXPECT_EQ(record.ended, clock_.Now());
  EXPECT_EQ(record.first_attempt, attempt.first_attempt);
  EXPECT_EQ(record.number, 3u);
  EXPECT_EQ(record.node, "n1");
  EXPECT_TRUE(record.nominated);
  EXPECT_EQ(record.feasible, 2u);
  EXPECT_EQ(record.ties, 2u);
  EXPECT_EQ(record.nodes, 3u);
  EXPECT_EQ(record.score, 612);
  EXPECT_EQ(record.way, Way::kLane);
  EXPECT_FALSE(record.shortened);
  EXPECT_THAT(record.reasons, IsEmpty());
}

TEST_F(AttemptJournalTest, CountsNodesByReasonAndNamesWhatWouldWakeThePod) {
  Attempt attempt = Failed(MakePod("db"), "0/3 nodes are available: 2 Insufficient cpu, 1 cordoned.");
  const auto cpu = [] { return framework::Status::Unschedulable("Insufficient cpu").WithPlugin("NodeResourcesFit"); };
  attempt.diagnosis.node_to_status.Set(0, cpu());
  attempt.diagnosis.node_to_status.Set(1, framework::Status::Unschedulable("cordoned").WithPlugin("NodeUnschedulable"));
  attempt.diagnosis.node_to_status.Set(2, cpu());
  attempt.unschedulable_plugins = {"NodeResourcesFit", "NodeUnschedulable"};
  attempt.pending_plugins = {"DynamicResources"};
  attempt.post_filtered = true;
  attempt.post_filter.nominated_node_name = "n2";
  attempt.post_filter.victims = {{MakePod("low").Namespace("batch").Priority(-1).Info()}, 1};
  Record(attempt, Ending::kUnschedulable);
  const AttemptRecord record = journal_.OfPod("default", "db", 1).at(0);
  EXPECT_EQ(record.message, attempt.message);
  ASSERT_THAT(record.reasons, SizeIs(2));
  EXPECT_EQ(record.reasons[0].plugin, "NodeResourcesFit");
  EXPECT_EQ(record.reasons[0].reason, "Insufficient cpu");
  EXPECT_EQ(record.reasons[0].nodes, 2u) << "two statuses that read the same are one reason";
  EXPECT_EQ(record.reasons[1].nodes, 1u);
  EXPECT_THAT(record.plugins, ElementsAre("NodeResourcesFit", "NodeUnschedulable"));
  EXPECT_THAT(record.pending_plugins, ElementsAre("DynamicResources"));
  EXPECT_TRUE(record.preempted);
  EXPECT_EQ(record.nominated_node, "n2");
  ASSERT_THAT(record.victims, SizeIs(1));
  EXPECT_EQ(record.victims[0].pod, "batch/low");
  EXPECT_EQ(record.victims[0].priority, -1);
  EXPECT_EQ(record.pdb_violations, 1);
}

TEST_F(AttemptJournalTest, NodesThatPreFilterLeftOutCountUnderTheirSharedReason) {
  Attempt attempt = Failed(MakePod("db"), "0/3 nodes are available");
  attempt.diagnosis.node_to_status.SetAbsent(framework::Status::UnschedulableAndUnresolvable("not among the names"));
  attempt.diagnosis.node_to_status.Set(1, framework::Status::Unschedulable("full").WithPlugin("Fit"));
  Record(attempt, Ending::kUnschedulable);
  const AttemptRecord record = journal_.OfPod("default", "db", 1).at(0);
  ASSERT_THAT(record.reasons, SizeIs(2));
  EXPECT_EQ(record.reasons[0].reason, "not among the names");
  EXPECT_EQ(record.reasons[0].nodes, 2u);
  EXPECT_EQ(record.reasons[0].plugin, "");
}

TEST_F(AttemptJournalTest, APodOfTheSameNameAndAnotherUidIsToldApart) {
  Record(Failed(MakePod("db-0").Uid("old"), "full"), Ending::kUnschedulable);
  Record(Bound(MakePod("db-0").Uid("old"), "n1"), Ending::kBound);
  Record(Bound(MakePod("db-0").Namespace("other").Uid("else"), "n9"), Ending::kBound);
  Record(Failed(MakePod("db-0").Uid("new"), "full again"), Ending::kUnschedulable);
  const std::vector<AttemptRecord> found = journal_.OfPod("default", "db-0", 10);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].uid, "new");
  EXPECT_EQ(found[1].uid, "old");
  EXPECT_EQ(found[1].node, "n1");
  EXPECT_EQ(found[2].message, "full");
  EXPECT_THAT(journal_.OfPod("default", "db-0", 2), SizeIs(2));
  EXPECT_THAT(journal_.OfPod("default", "db-1", 2), IsEmpty());
}

TEST_F(AttemptJournalTest, FindsByNamespacePodNodeAndOutcomeNewestFirst) {
  Record(Bound(MakePod("a").Namespace("x"), "n1"), Ending::kBound);
  Record(Bound(MakePod("b").Namespace("y"), "n1"), Ending::kBound);
  Record(Failed(MakePod("c").Namespace("x"), "full"), Ending::kUnschedulable);
  Attempt promised = Failed(MakePod("d").Namespace("x"), "full");
  promised.post_filter.nominated_node_name = "n1";
  Record(promised, Ending::kUnschedulable);
  EXPECT_THAT(Names(journal_.Find({})), ElementsAre("d", "c", "b", "a"));
  EXPECT_THAT(Names(journal_.Find({.name_space = "x", .name = {}, .node = {}, .ending = {}})),
              ElementsAre("d", "c", "a"));
  EXPECT_THAT(Names(journal_.Find({.name_space = {}, .name = "b", .node = {}, .ending = {}})), ElementsAre("b"));
  EXPECT_THAT(Names(journal_.Find({.name_space = {}, .name = {}, .node = "n1", .ending = {}})),
              ElementsAre("d", "b", "a"));
  AttemptJournal::Filter failed;
  failed.ending = Ending::kUnschedulable;
  failed.limit = 1;
  EXPECT_THAT(Names(journal_.Find(failed)), ElementsAre("d"));
  failed.before = 4;
  EXPECT_THAT(Names(journal_.Find(failed)), ElementsAre("c")) << "the next page";
  EXPECT_THAT(journal_.Find({}, /*max_visited=*/2), SizeIs(2));
}

TEST_F(AttemptJournalTest, AnAttemptWithEndlessTextsIsShortenedAndKept) {
  Attempt attempt = Failed(MakePod("db"), std::string(100'000, 'x'));
  for (uint32_t node = 0; node < 500; ++node) {
    attempt.diagnosis.node_to_status.Set(
        node, framework::Status::Unschedulable(std::to_string(node) + std::string(2000, 'r')));
  }
  journal_.Record(attempt, Ending::kUnschedulable, clock_.Now(), 500);
  const std::vector<AttemptRecord> found = journal_.OfPod("default", "db", 1);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_TRUE(found[0].shortened);
  EXPECT_FALSE(found[0].message.empty());
  EXPECT_LE(journal_.bytes(), kSmall);
}

// Pods come and go, some again and again, in numbers for which there is no room: against a list of everything that was
// ever recorded.
TEST_F(AttemptJournalTest, ForgetsTheOldestFirstAndStaysWithinItsBytesWhileNamesChurn) {
  base::Random random(7);
  std::deque<AttemptRecord> all;  // the newest first
  for (uint64_t i = 1; i <= 6000; ++i) {
    const std::string name =
        random.Below(4) == 0 ? "again-" + std::to_string(random.Below(5)) : "pod-" + std::to_string(i);
    const PodBuilder pod =
        MakePod(name).Namespace("ns-" + std::to_string(random.Below(3))).Uid("u" + std::to_string(i));
    const bool bound = random.Below(2) == 0;
    Record(bound ? Bound(pod, "n1") : Failed(pod, std::string(random.Below(600), 'm')),
           bound ? Ending::kBound : Ending::kUnschedulable);
    AttemptRecord& told = all.emplace_front();
    told.name = name;
    told.name_space = pod.Info()->namespace_().str();
    told.uid = "u" + std::to_string(i);
    ASSERT_LE(journal_.bytes(), kSmall) << "after " << i;
  }
  EXPECT_EQ(journal_.last_sequence(), 6000u);
  AttemptJournal::Filter everything;
  everything.limit = 10'000;
  const std::vector<AttemptRecord> kept = journal_.Find(everything);
  ASSERT_EQ(kept.size(), journal_.size());
  ASSERT_GT(kept.size(), 50u);
  ASSERT_LT(kept.size(), 2000u);
  for (size_t i = 0; i < kept.size(); ++i) {
    ASSERT_EQ(kept[i].uid, all[i].uid) << "exactly the newest are kept, in order";
    ASSERT_EQ(kept[i].sequence, 6000 - i);
  }
  for (int k = 0; k < 5; ++k) {
    std::vector<std::string> expected, found;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (all[i].name == "again-" + std::to_string(k) && all[i].name_space == "ns-1") expected.push_back(all[i].uid);
    }
    for (const AttemptRecord& record : journal_.OfPod("ns-1", "again-" + std::to_string(k), 1000)) {
      found.push_back(record.uid);
    }
    EXPECT_EQ(found, expected) << k;
  }
  EXPECT_THAT(journal_.OfPod(all.back().name_space, "pod-1", 10), IsEmpty());
}

// Failures that repeat the one before, nearly repeat it, or do not: each record has to tell what its own attempt found.
TEST_F(AttemptJournalTest, AFailureThatRepeatsTheOneBeforeIsKeptShortAndToldWhole) {
  using framework::Status;
  base::Random random(11);
  const Status kept = Status::Unschedulable("Insufficient cpu").WithPlugin("NodeResourcesFit");
  const auto make = [&](uint64_t kind, uint64_t i) {
    Attempt attempt =
        Failed(MakePod("pod-" + std::to_string(i)).Uid("u" + std::to_string(i)), "0/3 nodes are available");
    framework::NodeToStatus& statuses = attempt.diagnosis.node_to_status;
    // One object for many attempts, as lanes have it, or one that reads the same.
    const Status cpu =
        random.Below(2) == 0 ? kept : Status::Unschedulable("Insufficient cpu").WithPlugin("NodeResourcesFit");
    statuses.Set(0, cpu);
    statuses.Set(1, kind == 1 ? Status::Unschedulable("Insufficient cpu").WithPlugin("Another") : cpu);
    if (kind != 2) statuses.Set(2, kind == 3 ? Status::Unschedulable("cordoned").WithPlugin("NodeResourcesFit") : cpu);
    statuses.SetAbsent(Status::Unschedulable(kind == 2 && i % 2 == 0 ? "left out" : "ruled out"));
    attempt.unschedulable_plugins = {"NodeResourcesFit"};
    if (kind == 4) attempt.unschedulable_plugins.insert("Another");
    if (kind == 5) attempt.pending_plugins = {"NodeResourcesFit"};
    if (kind == 6) attempt.message = "0/3 nodes are available!";
    if (kind == 7) attempt.post_filter.nominated_node_name = "n1";
    if (kind == 8) attempt.freed_node = "n2";
    return attempt;
  };
  const auto text = [](const AttemptRecord& record) {
    std::string told = record.uid + " " + record.message + " " + record.node + " " + record.nominated_node;
    for (const auto& reason : record.reasons) {
      told += " " + reason.plugin + ":" + reason.reason + ":" + std::to_string(reason.nodes);
    }
    for (const std::string& plugin : record.plugins) told += " " + plugin;
    for (const std::string& plugin : record.pending_plugins) told += " waits " + plugin;
    return told;
  };
  std::deque<std::string> expected;  // the newest first
  for (uint64_t i = 0; i < 3000; ++i) {
    const Attempt attempt = make(random.Below(3) == 0 ? random.Below(9) : 0, i);
    Record(attempt, Ending::kUnschedulable);
    if (random.Below(7) == 0) Record(Bound(MakePod("between"), "n1"), Ending::kBound);
    // By itself, with nothing before it to refer to.
    AttemptJournal alone(kSmall);
    alone.Record(attempt, Ending::kUnschedulable, clock_.Now(), 3);
    expected.push_front(text(alone.Find({}).at(0)));
  }
  AttemptJournal::Filter failed;
  failed.ending = Ending::kUnschedulable;
  failed.limit = 10'000;
  const std::vector<AttemptRecord> found = journal_.Find(failed);
  ASSERT_GT(found.size(), 100u);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(text(found[i]), expected[i]) << i;
  EXPECT_LE(journal_.bytes(), kSmall);
}

TEST_F(AttemptJournalTest, WhatIsRepeatedTakesLittleRoom) {
  const std::string long_message(400, 'm');
  const auto fill = [&](bool alike) {
    AttemptJournal journal(kSmall);
    for (int i = 0; i < 2000; ++i) {
      journal.Record(Failed(MakePod("p"), long_message + (alike ? "" : std::to_string(i))), Ending::kUnschedulable,
                     clock_.Now(), 3);
    }
    return journal.size();
  };
  EXPECT_GT(fill(true), 2 * fill(false));
}

}  // namespace
}  // namespace berth::scheduler
