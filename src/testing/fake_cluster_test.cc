#include "testing/fake_cluster.h"

#include <gmock/gmock.h>

#include "testing/builders.h"

namespace berth::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Names(std::span<const framework::NodeInfo* const> nodes) {
  std::vector<std::string> names;
  for (const framework::NodeInfo* node : nodes) names.push_back(node->name());
  return names;
}

TEST(FakeCluster, FindsNodesByName) {
  FakeCluster cluster;
  cluster.AddNode(MakeNode("a"));
  const framework::NodeInfo& b = cluster.AddNode(MakeNode("b"));
  EXPECT_EQ(cluster.Find("b"), &b);
  EXPECT_EQ(cluster.Node("b").index(), 1u);
  EXPECT_EQ(cluster.Find("c"), nullptr);
  EXPECT_THAT(Names(cluster.nodes()), ElementsAre("a", "b"));
}

TEST(FakeCluster, ColumnsFollowTheRows) {
  FakeCluster cluster;
  cluster.AddNode(MakeNode("a").Capacity("cpu", "4").Unschedulable());
  cluster.AddNode(MakeNode("b").Capacity("cpu", "2").Taint("gpu"), {MakePod("p").Request("cpu", "500m").Info()});
  cluster.AddPod(MakePod("q").Request("cpu", "1").Node("a"));

  const framework::NodeColumns& columns = cluster.columns();
  EXPECT_EQ(columns.size(), 2u);
  EXPECT_THAT(columns.live, ElementsAre(1, 1));
  EXPECT_THAT(columns.unschedulable, ElementsAre(1, 0));
  EXPECT_THAT(columns.allocatable_milli_cpu, ElementsAre(4000, 2000));
  EXPECT_THAT(columns.requested_milli_cpu, ElementsAre(1000, 500));
  EXPECT_THAT(columns.pod_count, ElementsAre(1, 1));
  EXPECT_THAT(columns.generation, ElementsAre(cluster.Node("a").generation(), cluster.Node("b").generation()));
  EXPECT_THAT(columns.taint_sets[columns.taint_set[0]], IsEmpty());
  EXPECT_EQ(columns.taint_sets[columns.taint_set[1]][0].key, "gpu");
}

TEST(FakeCluster, LabelColumnsStayCurrent) {
  FakeCluster cluster;
  cluster.AddNode(MakeNode("a").Label("zone", "x"));
  cluster.AddNode(MakeNode("bare"));
  const framework::LabelColumn& zones = cluster.label_column(Symbol("zone"));
  EXPECT_THAT(zones.value_id, ElementsAre(0, framework::LabelColumn::kAbsent));
  cluster.AddNode(MakeNode("b").Label("zone", "y"));
  cluster.AddNode(MakeNode("c").Label("zone", "x"));
  EXPECT_THAT(zones.value_id, ElementsAre(0, framework::LabelColumn::kAbsent, 1, 0));
  EXPECT_THAT(zones.values, ElementsAre(Symbol("x"), Symbol("y")));
}

TEST(FakeCluster, ListsNodesWhosePodsCareAboutOthers) {
  FakeCluster cluster;
  cluster.AddNode(MakeNode("a"), {MakePod("plain").Info()});
  cluster.AddNode(MakeNode("b"), {MakePod("social").PodAffinity("zone", {{"app", "web"}}).Info()});
  cluster.AddNode(MakeNode("c"));
  for (const char* name : {"loner", "other-loner"}) {
    cluster.AddPod(MakePod(name).PodAntiAffinity("zone", {{"app", "web"}}).Node("c"));
  }
  EXPECT_THAT(Names(cluster.nodes_with_affinity_pods()), ElementsAre("b", "c"));
  EXPECT_THAT(Names(cluster.nodes_with_required_anti_affinity_pods()), ElementsAre("c"));
}

TEST(FakeCluster, ForgetsPodsThatLeave) {
  FakeCluster cluster;
  cluster.AddNode(MakeNode("a"));
  const PodBuilder loner = MakePod("loner").Request("cpu", "1").PodAntiAffinity("zone", {{"app", "web"}}).Node("a");
  cluster.AddPod(loner);
  cluster.RemovePod(*loner.Info());
  EXPECT_THAT(cluster.nodes_with_affinity_pods(), IsEmpty());
  EXPECT_THAT(cluster.nodes_with_required_anti_affinity_pods(), IsEmpty());
  EXPECT_THAT(cluster.columns().requested_milli_cpu, ElementsAre(0));
  EXPECT_THAT(cluster.columns().pod_count, ElementsAre(0));
}

TEST(FakeCluster, CountsPodsUsingAClaim) {
  FakeCluster cluster;
  cluster.AddNode(MakeNode("a"), {MakePod("p").Pvc("data").Info(), MakePod("q").Pvc("other").Info()});
  cluster.AddNode(MakeNode("b"), {MakePod("r").Pvc("data").Info()});
  cluster.AddPod(MakePod("s").Namespace("elsewhere").Pvc("data").Node("b"));
  EXPECT_EQ(cluster.PodsUsingClaim("default", "data"), 2);
  EXPECT_EQ(cluster.PodsUsingClaim("elsewhere", "data"), 1);
  EXPECT_EQ(cluster.PodsUsingClaim("default", "gone"), 0);
}

}  // namespace
}  // namespace berth::testing
