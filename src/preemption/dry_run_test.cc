#include "preemption/dry_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::preemption {
namespace {

using ::berth::testing::FakeHandle;
using ::berth::testing::FitsCpu;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePdb;
using ::berth::testing::MakePod;
using ::berth::testing::PodBuilder;
using framework::Code;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

PodBuilder Pod(std::string_view name, int32_t priority, std::string_view cpu,
               std::string_view start = "2026-01-01T00:00:00Z") {
  return MakePod(name).Priority(priority).Request("cpu", cpu).StartTime(start);
}

std::vector<std::string> Names(const framework::Victims& victims) {
  std::vector<std::string> names;
  for (const auto& pod : victims.pods) names.push_back(pod->name());
  return names;
}

Trial TryOn(FakeHandle& handle, PodBuilder pod, std::string_view node = "n") {
  const framework::CycleState state;
  const framework::PodInfoPtr info = pod.Info();
  return DryRun(handle, state, *info).Try(*handle.cluster().Find(node));
}

TEST(DryRun, EvictsTheLeastThatIsEnough) {
  struct Case {
    std::string_view what;
    std::vector<framework::PodInfoPtr> running;  // on 4 cores
    std::string_view wanted;
    std::vector<std::string> victims;
  };
  const Case cases[] = {
      {"the lowest priority goes", {Pod("low", 1, "2").Info(), Pod("mid", 2, "2").Info()}, "2", {"low"}},
      {"the younger goes",
       {Pod("young", 1, "2", "2026-01-01T02:00:00Z").Info(), Pod("old", 1, "2", "2026-01-01T01:00:00Z").Info()},
       "2",
       {"young"}},
      {"not started is youngest of all",
       {MakePod("new").Request("cpu", "2").Info(), Pod("old", 0, "2").Info()},
       "1",
       {"new"}},
      {"several, most important first",
       {Pod("a", 1, "1").Info(), Pod("b", 3, "1").Info(), Pod("c", 2, "1").Info(), Pod("d", 4, "1").Info()},
       "3",
       {"b", "c", "a"}},
      {"a small one is spared although less important",
       {Pod("small", 1, "1").Info(), Pod("big", 2, "3").Info()},
       "3",
       {"big"}},
      {"equals stay in the node's order", {Pod("a", 1, "2").Info(), Pod("b", 1, "2").Info()}, "2", {"b"}},
  };
  for (const Case& c : cases) {
    FakeHandle handle{FitsCpu};
    handle.cluster().AddNode(MakeNode("n").Capacity("cpu", "4"), c.running);
    const Trial trial = TryOn(handle, Pod("p", 10, c.wanted));
    EXPECT_TRUE(trial.status.ok()) << c.what << ": " << trial.status.Message();
    EXPECT_THAT(Names(trial.victims), ElementsAreArray(c.victims)) << c.what;
    EXPECT_EQ(trial.victims.pdb_violations, 0) << c.what;
  }
}

TEST(DryRun, SparesProtectedPodsFirst) {
  FakeHandle handle{FitsCpu};
  handle.cluster().AddNode(MakeNode("n").Capacity("cpu", "4"),
                           {Pod("protected", 1, "2").Label("app", "db").Info(), Pod("plain", 5, "2").Info()});
  handle.Add(MakePdb("db", {{"app", "db"}}, 0));
  const Trial one = TryOn(handle, Pod("p", 10, "2"));
  EXPECT_THAT(Names(one.victims), ElementsAre("plain")) << "although it is the more important one";
  EXPECT_EQ(one.victims.pdb_violations, 0);

  const Trial both = TryOn(handle, Pod("p", 10, "3"));
  EXPECT_THAT(Names(both.victims), ElementsAre("plain", "protected"));
  EXPECT_EQ(both.victims.pdb_violations, 1);
}

TEST(DryRun, SaysWhatStillStandsInTheWay) {
  FakeHandle handle{FitsCpu};
  handle.cluster().AddNode(MakeNode("n").Capacity("cpu", "4"),
                           {Pod("low", 1, "1").Info(), Pod("peer", 10, "3").Info()});
  handle.cluster().AddNode(MakeNode("peers").Capacity("cpu", "4"), {Pod("peer2", 10, "4").Info()});
  handle.cluster().AddNode(MakeNode("broken").Capacity("cpu", "4"), {Pod("x", 1, "4").Info()});
  handle.BreakFilterOn("broken");

  const Trial too_little = TryOn(handle, Pod("p", 10, "2"));
  EXPECT_EQ(too_little.status.code(), Code::kUnschedulable);
  EXPECT_EQ(too_little.status.Message(), "Insufficient cpu");
  EXPECT_THAT(too_little.victims.pods, IsEmpty());

  const Trial nobody = TryOn(handle, Pod("p", 10, "2"), "peers");
  EXPECT_EQ(nobody.status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(nobody.status.Message(), "No preemption victims found for incoming pod");

  EXPECT_TRUE(TryOn(handle, Pod("p", 10, "2"), "broken").status.IsError());
}

TEST(DryRun, CountsPodsNominatedToTheNode) {
  FakeHandle handle{FitsCpu};
  handle.cluster().AddNode(MakeNode("n").Capacity("cpu", "4"), {Pod("a", 1, "2").Info(), Pod("b", 2, "2").Info()});
  handle.nominator().Nominate(Pod("promised", 10, "2").Info(), "n");
  EXPECT_THAT(Names(TryOn(handle, Pod("p", 10, "2")).victims), ElementsAre("b", "a"));
  EXPECT_THAT(Names(TryOn(handle, Pod("p", 11, "2")).victims), ElementsAre("a")) << "the promise is to a lesser pod";
}

TEST(DryRun, FiltersThatContradictThemselvesAreAnError) {
  FakeHandle handle{FitsCpu};
  handle.cluster().AddNode(MakeNode("n").Capacity("cpu", "4"), {Pod("a", 1, "1").Info()});
  const Trial trial = TryOn(handle, Pod("p", 10, "1"));
  EXPECT_TRUE(trial.status.IsError());
  EXPECT_EQ(trial.status.Message(), "expected at least one victim pod on node \"n\"");
}

TEST(DryRun, LeavesTheNodeAsItIs) {
  FakeHandle handle{FitsCpu};
  handle.cluster().AddNode(MakeNode("n").Capacity("cpu", "4"), {Pod("a", 1, "4").Info()});
  const framework::NodeInfo& node = *handle.cluster().Find("n");
  const uint64_t generation = node.generation();
  EXPECT_TRUE(TryOn(handle, Pod("p", 10, "2")).status.ok());
  EXPECT_EQ(node.generation(), generation);
  EXPECT_EQ(node.pods().size(), 1u);
}

}  // namespace
}  // namespace berth::preemption
