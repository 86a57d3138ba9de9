// State kept while pods are added and removed must equal counting from scratch.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/testing/kept_cycle.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using ::berth::testing::FakeHandle;
using ::berth::testing::kHostLabel;
using ::berth::testing::kZoneLabel;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePlugin;
using ::berth::testing::MakePod;
using ::berth::testing::MakeService;
using ::berth::testing::NodeBuilder;
using ::berth::testing::PodBuilder;
using ::berth::testing::SelectorOf;
using framework::NodeInfo;

// Labels are sometimes missing, empty or shared; two nodes may have the same hostname label.
NodeBuilder RandomNode(std::mt19937& random, int i) {
  NodeBuilder node = MakeNode("n" + std::to_string(i));
  static const std::vector<std::string> zones = {"a", "b", "c", ""};
  if (random() % 6 != 0) node.Label(kZoneLabel, zones[random() % 10 == 0 ? 3 : random() % 3]);
  if (random() % 8 != 0) node.Label(kHostLabel, "n" + std::to_string(random() % 8 == 0 ? 0 : i));
  if (random() % 3 == 0) node.Label("disk", "ssd");
  if (random() % 5 == 0) node.Taint("gpu");
  return node;
}
PodBuilder RandomSpreadPod(std::mt19937& random, const std::string& name) {
  PodBuilder pod = MakePod(name);
  pod.Namespace(random() % 6 == 0 ? "red" : "default");
  if (random() % 5 != 0) pod.Label("app", random() % 3 == 0 ? "db" : "web");
  if (random() % 3 == 0) pod.Label("version", random() % 2 == 0 ? "1" : "2");
  if (random() % 6 == 0) pod.Terminating();
  return pod;
}

api::TopologySpreadConstraint Constraint(const char* key, std::string_view when, api::LabelSelector selector) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = 1;
  constraint.topology_key = Symbol(key);
  constraint.when_unsatisfiable = when;
  constraint.label_selector = std::move(selector);
  return constraint;
}

// Pods to be scheduled, with every kind of constraint.
std::vector<PodBuilder> Shapes() {
  const auto web = [] { return MakePod("incoming").Label("app", "web").Label("version", "1"); };
  std::vector<PodBuilder> shapes = {web(), MakePod("plain")};
  for (const std::string_view when : {kDoNotSchedule, kScheduleAnyway}) {
    for (const char* key : {kZoneLabel, kHostLabel}) {
      shapes.push_back(web().SpreadConstraint(1, key, when, {{"app", "web"}}));
      shapes.push_back(web().SpreadConstraint(2, key, when, {{"app", "db"}}));
      shapes.push_back(web().SpreadConstraint(1, key, when, SelectorOf("app", "Exists")));
      shapes.push_back(web().SpreadConstraint(1, key, when, api::LabelSelector()));
      shapes.push_back(web().NodeSelector("disk", "ssd").SpreadConstraint(1, key, when, {{"app", "web"}}));
      api::TopologySpreadConstraint picky = Constraint(key, when, SelectorOf({{"app", "web"}}));
      picky.node_taints_policy = "Honor";
      picky.node_affinity_policy = "Ignore";
      picky.match_label_keys = {Symbol("version")};
      if (when == kDoNotSchedule) picky.min_domains = 3;
      shapes.push_back(web().NodeSelector("disk", "ssd").SpreadConstraint(picky));
    }
    shapes.push_back(web()
                         .SpreadConstraint(1, kZoneLabel, when, {{"app", "web"}})
                         .SpreadConstraint(3, kHostLabel, when, {{"app", "web"}}));
    shapes.push_back(web()
                         .SpreadConstraint(1, kHostLabel, when, {{"app", "db"}})
                         .SpreadConstraint(2, kZoneLabel, when, SelectorOf("app", "Exists"))
                         .SpreadConstraint(1, "disk", when, {{"app", "web"}}));
  }
  shapes.push_back(web()
                       .SpreadConstraint(1, kZoneLabel, kDoNotSchedule, {{"app", "web"}})
                       .SpreadConstraint(1, kHostLabel, kScheduleAnyway, {{"app", "web"}}));
  return shapes;
}

std::vector<const NodeInfo*> RandomNodes(std::mt19937& random, std::span<const NodeInfo* const> all) {
  std::vector<const NodeInfo*> some;
  for (const NodeInfo* node : all) {
    if (random() % 4 != 0) some.push_back(node);
  }
  return some;
}

TEST(PodTopologySpreadIncremental, KeptStateIsAsFresh) {
  for (const PodBuilder& shape : Shapes()) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      std::mt19937 random(seed);
      FakeHandle handle;
      const int node_count = 3 + static_cast<int>(random() % 8);
      for (int i = 0; i < node_count; ++i) handle.cluster().AddNode(RandomNode(random, i));
      // The pod without constraints gets the default ones for it.
      handle.Add(MakeService("web", {{"app", "web"}}));
      const auto plugin = MakePlugin<PodTopologySpread>(handle);
      Traffic traffic(handle.cluster(), random, RandomSpreadPod);
      for (int i = 0; i < 10; ++i) traffic.Step();

      std::vector<const NodeInfo*> feasible = RandomNodes(random, handle.cluster().nodes());
      KeptCycle<PodTopologySpread> kept(*plugin, shape.Info(), handle.cluster(), feasible);
      for (int step = 0; step < 40; ++step) {
        std::vector<SeenChange> changes;
        for (unsigned i = random() % 3 + 1; i > 0; --i) {
          for (const SeenChange& change : traffic.Step()) changes.push_back(change);
        }
        for (const SeenChange& change : changes) kept.Follow(change);
        if (random() % 4 == 0) feasible = RandomNodes(random, handle.cluster().nodes());
        kept.Settle(feasible);
        kept.ExpectAsFresh();
        ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << " step " << step;
      }
      EXPECT_EQ(kept.restarts(), 0) << "every change can be followed";
    }
  }
}

// The engine need not report changes to a PreScore that it will run again.
TEST(PodTopologySpreadIncremental, PreScoreFindsOutWhatItWasNotTold) {
  FakeHandle handle;
  for (const char* name : {"a1", "a2", "b1"}) {
    handle.cluster().AddNode(MakeNode(name).Label(kHostLabel, name).Label(kZoneLabel, std::string(name, 1)));
  }
  const auto plugin = MakePlugin<PodTopologySpread>(handle);
  const framework::PodInfoPtr pod = MakePod("p")
                                        .Label("app", "web")
                                        .SpreadConstraint(1, kZoneLabel, kScheduleAnyway, {{"app", "web"}})
                                        .SpreadConstraint(1, kHostLabel, kScheduleAnyway, {{"app", "web"}})
                                        .Info();
  const auto nodes = handle.cluster().nodes();
  framework::CycleState kept;
  ASSERT_TRUE(plugin->PreScore(kept, *pod, nodes).ok());
  const framework::CycleState copy = kept.Clone();
  handle.cluster().AddPod(MakePod("w1").Label("app", "web").Node("a1"));
  handle.cluster().AddPod(MakePod("w2").Label("app", "web").Node("b1"));
  const framework::PodInfoPtr told = handle.cluster().Node("a1").pods().front();
  ASSERT_TRUE(plugin->CatchUpPreScore(kept, *pod, {*told, handle.cluster().Node("a1"), +1}));
  ASSERT_TRUE(plugin->PreScore(kept, *pod, nodes.subspan(0, 2)).ok());

  framework::CycleState fresh;
  ASSERT_TRUE(plugin->PreScore(fresh, *pod, nodes.subspan(0, 2)).ok());
  for (const NodeInfo* node : nodes.subspan(0, 2)) {
    EXPECT_EQ(plugin->Score(kept, *pod, *node).score, plugin->Score(fresh, *pod, *node).score) << node->name();
    EXPECT_EQ(plugin->Score(copy, *pod, *node).score, 0) << "the copy does not notice";
  }
}

TEST(PodTopologySpreadIncremental, AfterPreFilterScoresStandUntilTheNextPreScore) {
  FakeHandle handle;
  handle.cluster().AddNode(MakeNode("a").Label(kZoneLabel, "a"));
  handle.cluster().AddPod(MakePod("w").Label("app", "web").Node("a"));
  const auto plugin = MakePlugin<PodTopologySpread>(handle);
  const framework::PodInfoPtr pod =
      MakePod("p").Label("app", "web").SpreadConstraint(1, kZoneLabel, kScheduleAnyway, {{"app", "web"}}).Info();
  framework::CycleState state;
  ASSERT_TRUE(plugin->PreScore(state, *pod, handle.cluster().nodes()).ok());
  EXPECT_TRUE(plugin->PreFilter(state, *pod).status.IsSkip());
  EXPECT_EQ(plugin->Score(state, *pod, handle.cluster().Node("a")).score, 1);

  handle.cluster().AddNode(MakeNode("b").Label(kZoneLabel, "b"));
  EXPECT_TRUE(plugin->PreFilter(state, *pod).status.IsSkip());
  ASSERT_TRUE(plugin->PreScore(state, *pod, handle.cluster().nodes()).ok()) << "of the new nodes, not the old";
  EXPECT_EQ(plugin->Score(state, *pod, handle.cluster().Node("b")).score, 0);
}

}  // namespace
}  // namespace berth::plugins
