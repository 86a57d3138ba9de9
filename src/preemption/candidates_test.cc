#include "preemption/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::preemption {
namespace {

using ::berth::testing::At;
using ::berth::testing::FakeHandle;
using ::berth::testing::FitsCpu;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePdb;
using ::berth::testing::MakePod;
using framework::PreemptionCandidate;
using framework::Status;
using ::testing::ElementsAre;

framework::PodInfoPtr Victim(int32_t priority, std::string_view start = "2026-01-01T00:00:00Z") {
  return MakePod("v").Priority(priority).StartTime(start).Info();
}

PreemptionCandidate On(std::vector<framework::PodInfoPtr> victims, int64_t violations = 0) {
  return {"n", {std::move(victims), violations}};
}

TEST(BestCandidates, CriteriaInTheirOrder) {
  constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
  struct Case {
    std::string_view what;
    std::vector<PreemptionCandidate> candidates;
    std::vector<size_t> best;
  };
  const Case cases[] = {
      {"violations before everything", {On({Victim(1)}, 1), On({Victim(9), Victim(9)}, 0)}, {1}},
      {"the highest victim before the sum", {On({Victim(5)}), On({Victim(4), Victim(4), Victim(4)})}, {1}},
      {"the sum before the count", {On({Victim(5), Victim(4)}), On({Victim(5), Victim(3)})}, {1}},
      {"more victims of negative priority are not less", {On({Victim(-5), Victim(-5)}), On({Victim(-5)})}, {1}},
      {"the count when the sums are equal", {On({Victim(0), Victim(kLowest)}), On({Victim(0)})}, {1}},
      {"the later start",
       {On({Victim(1, "2026-01-01T01:00:00Z")}), On({Victim(1, "2026-01-01T03:00:00Z")}),
        On({Victim(1, "2026-01-01T02:00:00Z")})},
       {1}},
      {"of the most important victims only",
       {On({Victim(2, "2026-01-01T02:00:00Z"), Victim(1, "2026-01-01T09:00:00Z")}),
        On({Victim(2, "2026-01-01T03:00:00Z"), Victim(1, "2026-01-01T01:00:00Z")})},
       {1}},
      {"the earliest start of each node counts",
       {On({Victim(1, "2026-01-01T01:00:00Z"), Victim(1, "2026-01-01T09:00:00Z")}),
        On({Victim(1, "2026-01-01T02:00:00Z"), Victim(1, "2026-01-01T03:00:00Z")})},
       {1}},
      {"not started is latest", {On({Victim(0)}), On({MakePod("new").Info()})}, {1}},
      {"ties", {On({Victim(1)}), On({Victim(2)}), On({Victim(1)})}, {0, 2}},
      {"none", {}, {}},
  };
  for (const Case& c : cases) EXPECT_EQ(BestCandidates(c.candidates, At("2030-01-01T00:00:00Z")), c.best) << c.what;
}

TEST(NodesWorthTrying, ThoseEvictionMightHelp) {
  FakeHandle handle{FitsCpu};
  for (const char* name : {"a", "b", "c"}) handle.cluster().AddNode(MakeNode(name).Capacity("cpu", "1"));
  framework::NodeToStatus statuses;
  statuses.Set(handle.cluster().Node("a").index(), Status::Unschedulable("full"));
  statuses.Set(handle.cluster().Node("b").index(), Status::UnschedulableAndUnresolvable("tainted"));
  const auto names = [&] {
    std::vector<std::string> list;
    for (const auto node : NodesWorthTrying(handle.cluster(), statuses)) {
      list.push_back(handle.cluster().row(node).name());
    }
    return list;
  };
  EXPECT_THAT(names(), ElementsAre("a"));
  statuses.SetAbsent(Status::Unschedulable("PreFilter said so"));
  EXPECT_THAT(names(), ElementsAre("a", "c"));
}

class FindCandidatesTest : public ::testing::Test {
 protected:
  FindCandidatesTest() : pod_(MakePod("p").Priority(10).Request("cpu", "2").Info()) {}

  // A node whose only pod must go and is protected by a budget that allows no disruption.
  void AddProtected(const std::string& node) {
    handle_.cluster().AddNode(MakeNode(node).Capacity("cpu", "2"),
                              {MakePod("on-" + node).Request("cpu", "2").Label("app", "db").Info()});
  }
  void AddPlain(const std::string& node) {
    handle_.cluster().AddNode(MakeNode(node).Capacity("cpu", "2"),
                              {MakePod("on-" + node).Request("cpu", "2").Label("app", "web").Info()});
  }
  void AddFull(const std::string& node) {
    handle_.cluster().AddNode(MakeNode(node).Capacity("cpu", "2"),
                              {MakePod("on-" + node).Request("cpu", "2").Priority(10).Info()});
  }
  Findings Find(size_t offset, size_t wanted) {
    handle_.Add(MakePdb("db", {{"app", "db"}}, 0));
    std::vector<framework::NodeIndex> nodes(handle_.cluster().nodes().size());
    std::iota(nodes.begin(), nodes.end(), 0);
    return FindCandidates(DryRun(handle_, state_, *pod_), handle_.cluster(), nodes, offset, wanted);
  }
  static std::vector<std::string> Names(const Findings& findings) {
    std::vector<std::string> names;
    for (const PreemptionCandidate& candidate : findings.candidates) names.push_back(candidate.node_name);
    return names;
  }

  FakeHandle handle_{FitsCpu};
  framework::CycleState state_;
  framework::PodInfoPtr pod_;
};

TEST_F(FindCandidatesTest, GoesRoundFromTheOffsetUntilEnough) {
  for (const char* node : {"a", "b", "c", "d"}) AddPlain(node);
  EXPECT_THAT(Names(Find(0, 4)), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(Names(Find(3, 2)), ElementsAre("d", "a"));
}

TEST_F(FindCandidatesTest, GoesOnForACandidateThatViolatesNothing) {
  for (const char* node : {"a", "b", "c"}) AddProtected(node);
  AddPlain("d");
  AddPlain("e");
  EXPECT_THAT(Names(Find(0, 2)), ElementsAre("d", "a", "b"));
}

TEST_F(FindCandidatesTest, CountsBothKindsTowardsEnough) {
  AddProtected("a");
  AddPlain("b");
  AddPlain("c");
  EXPECT_THAT(Names(Find(0, 2)), ElementsAre("b", "a"));
}

TEST_F(FindCandidatesTest, KeepsVerdictsAndErrorsOfNodesTriedInVain) {
  AddFull("a");
  AddPlain("b");
  AddPlain("c");
  handle_.BreakFilterOn("b");
  const Findings findings = Find(0, 3);
  EXPECT_THAT(Names(findings), ElementsAre("c"));
  EXPECT_THAT(findings.errors, ElementsAre("filter broke on b"));
  EXPECT_EQ(findings.failures.explicit_count(), 2u);
  EXPECT_EQ(findings.failures.Get(handle_.cluster().Node("a").index()).Message(),
            "No preemption victims found for incoming pod");
}

}  // namespace
}  // namespace berth::preemption
