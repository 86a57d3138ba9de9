#include "plugins/node_affinity/node_affinity.h"

#include <gmock/gmock.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::EventResource;
using framework::QueueingHint;
using testing::AskHint;
using ::testing::ElementsAre;
using testing::FakeHandle;
using ::testing::HasSubstr;
using testing::Judge;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;

api::NodeSelectorTerm ZoneIn(std::string_view zone) {
  return {.match_expressions = {{Symbol("zone"), "In", {Symbol(zone)}}}, .match_fields = {}};
}

config::NodeAffinityArgs AddedZone(std::string_view zone) {
  config::NodeAffinityArgs args;
  args.added_affinity.emplace().required_during_scheduling_ignored_during_execution.emplace().node_selector_terms = {
      ZoneIn(zone)};
  return args;
}

class NodeAffinityTest : public ::testing::Test {
 protected:
  FakeHandle handle_;
};

TEST_F(NodeAffinityTest, FiltersBySelectorAndRequiredTerms) {
  const framework::NodeInfo node = MakeNode("n1").Label("zone", "a").Label("disk", "ssd").Info();
  constexpr std::string_view kPodReason = "node(s) didn't match Pod's node affinity/selector";
  struct {
    const char* what;
    framework::PodInfoPtr pod;
    std::string_view reason;  // empty: fits
  } const cases[] = {
      {"selector matches", MakePod("a").NodeSelector("zone", "a").Info(), ""},
      {"selector differs", MakePod("a").NodeSelector("zone", "b").Info(), kPodReason},
      {"term matches", MakePod("a").NodeAffinityIn("zone", {"a", "b"}).Info(), ""},
      {"terms are alternatives",
       MakePod("a").NodeAffinityIn("zone", {"b"}).OrNodeAffinity().NodeAffinityExists("disk").Info(), ""},
      {"conditions hold together", MakePod("a").NodeAffinityIn("zone", {"a"}).NodeAffinityDoesNotExist("disk").Info(),
       kPodReason},
      {"selector and term", MakePod("a").NodeSelector("zone", "b").NodeAffinityExists("disk").Info(), kPodReason},
      {"an unreadable term matches nothing", MakePod("a").NodeAffinityGt("disk", "many").Info(), kPodReason},
  };
  const auto plugin = MakePlugin<NodeAffinity>(handle_);
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    const framework::Status status = Judge(*plugin, *test.pod, node);
    EXPECT_EQ(status.Message(), test.reason);
    EXPECT_EQ(status.code(), test.reason.empty() ? Code::kSuccess : Code::kUnschedulableAndUnresolvable);
    // The same without PreFilter.
    EXPECT_EQ(plugin->Filter(framework::CycleState(), *test.pod, node), status);
  }
}

TEST_F(NodeAffinityTest, AddedAffinityHoldsForEveryPod) {
  const auto plugin = MakePlugin<NodeAffinity>(handle_, AddedZone("a"));
  const framework::PodInfoPtr pod = MakePod("a").Info();
  EXPECT_TRUE(Judge(*plugin, *pod, MakeNode("n").Label("zone", "a").Info()).ok());
  EXPECT_EQ(Judge(*plugin, *pod, MakeNode("n").Label("zone", "b").Info()).Message(),
            "node(s) didn't match scheduler-enforced node affinity");
}

TEST_F(NodeAffinityTest, RefusesAddedAffinityItCannotRead) {
  config::NodeAffinityArgs args = AddedZone("a");
  auto& required = args.added_affinity->required_during_scheduling_ignored_during_execution;
  required->node_selector_terms[0].match_expressions[0].op = "Near";
  const auto made = NodeAffinity::Create(args, handle_);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message,
              HasSubstr("parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: "));
  EXPECT_FALSE(NodeAffinity::Create(config::NodeResourcesFitArgs{}, handle_).ok());
}

TEST_F(NodeAffinityTest, NamedNodesNarrowTheSearch) {
  const auto plugin = MakePlugin<NodeAffinity>(handle_);
  framework::CycleState state;
  const auto names = [&](const framework::PodInfoPtr& pod) { return plugin->PreFilter(state, *pod).node_names; };
  EXPECT_THAT(*names(MakePod("a").NodeNameIn({"n1"}).Info()), ElementsAre("n1"));
  EXPECT_THAT(*names(MakePod("a").NodeNameIn({"n2"}).OrNodeAffinity().NodeNameIn({"n1"}).Info()),
              ElementsAre("n1", "n2"));
  EXPECT_THAT(*names(MakePod("a").NodeNameIn({"n1", "n2"}).NodeNameIn({"n2", "n3"}).Info()), ElementsAre("n2"));
  EXPECT_FALSE(names(MakePod("a").NodeNameIn({"n1"}).OrNodeAffinity().NodeAffinityExists("zone").Info()));

  const framework::PreFilterResult conflict =
      plugin->PreFilter(state, *MakePod("a").NodeNameIn({"n1"}).NodeNameIn({"n2"}).Info());
  EXPECT_EQ(conflict.status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(conflict.status.Message(), "pod affinity terms conflict");
}

TEST_F(NodeAffinityTest, SkipsPodsThatAskForNothing) {
  const auto plugin = MakePlugin<NodeAffinity>(handle_);
  framework::CycleState state;
  EXPECT_TRUE(plugin->PreFilter(state, *MakePod("a").Info()).status.IsSkip());
  EXPECT_TRUE(plugin->PreScore(state, *MakePod("a").NodeSelector("zone", "a").Info(), {}).IsSkip());
  EXPECT_TRUE(plugin->PreFilter(state, *MakePod("a").PreferredNodeAffinity(1, "zone", {"a"}).Info()).status.IsSkip());
}

TEST_F(NodeAffinityTest, PreferredTermsAddUpWithTheAddedOnes) {
  config::NodeAffinityArgs args;
  args.added_affinity.emplace().preferred_during_scheduling_ignored_during_execution = {{7, ZoneIn("a")}};
  const auto plugin = MakePlugin<NodeAffinity>(handle_, args);
  const framework::PodInfoPtr pod =
      MakePod("a").PreferredNodeAffinity(10, "zone", {"a"}).PreferredNodeAffinity(5, "disk", {"ssd"}).Info();
  framework::CycleState state;
  ASSERT_TRUE(plugin->PreScore(state, *pod, {}).ok());
  const framework::NodeInfo both = MakeNode("n1").Label("zone", "a").Label("disk", "ssd").Info();
  const framework::NodeInfo disk = MakeNode("n2").Label("disk", "ssd").Info();
  const framework::NodeInfo none = MakeNode("n3").Info();
  EXPECT_EQ(plugin->Score(state, *pod, both).score, 22);
  EXPECT_EQ(plugin->Score(state, *pod, disk).score, 5);
  EXPECT_EQ(plugin->Score(framework::CycleState(), *pod, both).score, 22);
  std::vector<framework::NodeScore> scores = {{&both, 22}, {&disk, 5}, {&none, 0}};
  ASSERT_TRUE(plugin->NormalizeScore(state, *pod, scores).ok());
  EXPECT_EQ(scores[0].score, 100);
  EXPECT_EQ(scores[1].score, 22);
  EXPECT_EQ(scores[2].score, 0);
}

TEST_F(NodeAffinityTest, WakesUpWhenANodeComesToMatch) {
  const auto plugin = MakePlugin<NodeAffinity>(handle_);
  const framework::PodInfoPtr pod = MakePod("a").NodeSelector("zone", "a").Info();
  const api::Node match = MakeNode("n").Label("zone", "a").Obj();
  const api::Node other = MakeNode("n").Label("zone", "b").Obj();
  const auto hint = [&](const framework::EventObject& before, const framework::EventObject& after) {
    return AskHint(*plugin, EventResource::kNode, *pod, before, after);
  };
  EXPECT_EQ(hint({}, &match), QueueingHint::kQueue);
  EXPECT_EQ(hint({}, &other), QueueingHint::kSkip);
  EXPECT_EQ(hint(&other, &match), QueueingHint::kQueue);
  EXPECT_EQ(hint(&match, &match), QueueingHint::kSkip);
}

TEST_F(NodeAffinityTest, ExplainsWhichConditionTheNodeDoesNotMeet) {
  const auto plugin = MakePlugin<NodeAffinity>(handle_);
  const struct {
    framework::PodInfoPtr pod;
    std::vector<std::string> findings;
    std::string remedy;  // "": none
  } cases[] = {
      {MakePod("p").NodeSelector("disk", "ssd").Info(),
       {"label disk | ssd | hdd | nodeSelector wants disk=ssd, the node has disk=hdd"},
       "label disk=ssd on n"},
      {MakePod("p").NodeSelector("gpu", "a100").NodeAffinityIn("disk", {"ssd", "nvme"}).Info(),
       {"label gpu | a100 |  | nodeSelector wants gpu=a100, the node has no label gpu",
        "label disk | disk in (nvme, ssd) | hdd | affinity wants disk in (nvme, ssd), the node has disk=hdd"},
       "label gpu=a100 on n and label disk=nvme on n"},
      {MakePod("p").NodeAffinityNotIn("disk", {"hdd"}).Info(),
       {"label disk | disk!=hdd | hdd | affinity wants disk!=hdd, the node has disk=hdd"},
       ""},
      {MakePod("p").NodeAffinityExists("gpu").OrNodeAffinity().NodeNameIn({"other"}).Info(),
       {"label gpu | a label gpu |  | affinity term 1 wants a label gpu, the node has no label gpu",
        "metadata.name | = other | n | affinity term 2 wants metadata.name = other, the node is n"},
       ""},
      // Relabelling does not move a node to another zone.
      {MakePod("p").NodeSelector("topology.kubernetes.io/zone", "west").Info(),
       {"label topology.kubernetes.io/zone | west |  | nodeSelector wants topology.kubernetes.io/zone=west, the node "
        "has no label topology.kubernetes.io/zone"},
       ""},
      {MakePod("p").NodeSelector("disk", "hdd").Info(), {}, ""},
  };
  const framework::NodeInfo node = MakeNode("n").Label("disk", "hdd").Info();
  for (const auto& test : cases) {
    SCOPED_TRACE(test.findings.empty() ? "meets all" : test.findings[0]);
    EXPECT_EQ(testing::FindingsOf(*plugin, *test.pod, node), test.findings);
    const std::vector<framework::Remedy> remedies = testing::RemediesOf(*plugin, *test.pod, node);
    ASSERT_EQ(remedies.size(), test.remedy.empty() ? 0u : 1u);
    if (remedies.empty()) continue;
    EXPECT_EQ(testing::TextOf(remedies[0]), test.remedy);
    EXPECT_TRUE(Judge(*plugin, *test.pod, testing::ChangedNode(node, remedies[0])).ok());
  }
}

}  // namespace
}  // namespace berth::plugins
