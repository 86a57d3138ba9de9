#include "explain/cluster_fork.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "cluster/testing/picture.h"
#include "testing/builders.h"

namespace berth::explain {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using cluster::testing::FirstDisagreement;
using framework::LabelColumn;

class ClusterForkTest : public ::testing::Test {
 protected:
  ClusterForkTest() {
    picture.UpsertNode(MakeNode("a").Capacity("cpu", "4").Label("zone", "east").Shared());
    picture.UpsertNode(MakeNode("b").Capacity("cpu", "8").Label("zone", "west").Taint("gpu").Shared());
    picture.UpsertPod(MakePod("p").Request("cpu", "1").PodAntiAffinity("zone", {{"app", "x"}}).Node("a").Shared());
  }

  config::FeatureGates gates;
  cluster::Cluster picture{gates};
  const framework::ClusterView& original = picture;
  const Symbol zone{"zone"};
};

TEST_F(ClusterForkTest, SaysWhatTheOriginalSaysUntilItIsChanged) {
  const ClusterFork fork(original);
  EXPECT_EQ(fork.Find("a"), original.Find("a"));
  EXPECT_EQ(fork.Find("nobody"), nullptr);
  EXPECT_THAT(fork.nodes(), ::testing::ElementsAreArray(original.nodes()));
  EXPECT_EQ(&fork.label_column(zone), &original.label_column(zone)) << "nothing is copied without need";
  EXPECT_EQ(FirstDisagreement(fork, {zone}), "");
}

TEST_F(ClusterForkTest, RowsColumnsAndListsAgreeAboutAChangedNode) {
  const uint64_t generation = original.Find("a")->generation();
  ClusterFork fork(original);
  fork.ReplaceNode(MakeNode("a").Capacity("cpu", "6").Label("zone", "north").Taint("t").Unschedulable().Shared());
  EXPECT_EQ(FirstDisagreement(fork, {zone, Symbol("disk")}), "");
  const framework::NodeInfo& changed = *fork.Find("a");
  EXPECT_EQ(&fork.row(changed.index()), &changed);
  EXPECT_EQ(changed.allocatable().milli_cpu, 6000);
  EXPECT_EQ(changed.requested().milli_cpu, 1000) << "pods stay";
  EXPECT_THAT(fork.nodes_with_affinity_pods(), ::testing::ElementsAre(&changed));
  EXPECT_THAT(fork.nodes_with_required_anti_affinity_pods(), ::testing::ElementsAre(&changed));
  EXPECT_NE(changed.generation(), generation) << "who keeps answers by generation must not take it for the original";

  EXPECT_EQ(original.Find("a")->labels().Find(zone)->str(), "east");
  EXPECT_EQ(original.Find("a")->generation(), generation);
  EXPECT_EQ(FirstDisagreement(original, {zone}), "");
}

TEST_F(ClusterForkTest, ALabelThatGoesIsAbsentInItsColumn) {
  ClusterFork fork(original);
  fork.ReplaceNode(MakeNode("a").Capacity("cpu", "4").Shared());
  EXPECT_EQ(fork.label_column(zone).value_id[fork.Find("a")->index()], LabelColumn::kAbsent);
  EXPECT_NE(original.label_column(zone).value_id[original.Find("a")->index()], LabelColumn::kAbsent);
}

TEST_F(ClusterForkTest, APodThatIsTakenOffLeavesItsRoomAndItsPlaceInTheLists) {
  picture.UpsertPod(MakePod("q").Request("cpu", "2").Node("a").Shared());
  ClusterFork fork(original);
  fork.RemovePod("a", *picture.FindPod("default/p"));
  EXPECT_EQ(FirstDisagreement(fork, {zone}), "");
  EXPECT_EQ(fork.Find("a")->requested().milli_cpu, 2000);
  EXPECT_EQ(fork.columns().requested_milli_cpu[fork.Find("a")->index()], 2000);
  EXPECT_THAT(fork.nodes_with_affinity_pods(), ::testing::IsEmpty());
  EXPECT_THAT(fork.nodes_with_required_anti_affinity_pods(), ::testing::IsEmpty());
  EXPECT_EQ(original.Find("a")->requested().milli_cpu, 3000);
  EXPECT_THAT(original.nodes_with_affinity_pods(), ::testing::SizeIs(1));
}

TEST_F(ClusterForkTest, TheLastOfSeveralChangesCounts) {
  ClusterFork fork(original);
  fork.ReplaceNode(MakeNode("a").Label("zone", "north").Shared());
  EXPECT_EQ(FirstDisagreement(fork, {zone}), "");
  fork.ReplaceNode(MakeNode("b").Label("zone", "north").Shared());
  fork.ReplaceNode(MakeNode("a").Label("zone", "west").Shared());
  EXPECT_EQ(FirstDisagreement(fork, {zone}), "");
  EXPECT_EQ(fork.nodes().size(), 2u);
}

}  // namespace
}  // namespace berth::explain
