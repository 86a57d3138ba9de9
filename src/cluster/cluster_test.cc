#include "cluster/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/apply.h"
#include "cluster/testing/picture.h"
#include "testing/builders.h"

namespace berth::cluster {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using framework::NodeInfo;
using testing::FirstDisagreement;
using testing::Picture;

class ClusterTest : public ::testing::Test {
 protected:
  void AddNode(const std::string& name) {
    cluster_.UpsertNode(MakeNode(name).Capacity("cpu", "4").Capacity("memory", "8Gi").Shared());
  }
  const NodeInfo& Node(const std::string& name) const {
    const NodeInfo* node = cluster_.Find(name);
    CHECK(node != nullptr);
    return *node;
  }

  config::FeatureGates gates_;
  Cluster cluster_{gates_};
};

TEST_F(ClusterTest, ABoundPodCountsAgainstItsNode) {
  AddNode("n1");
  cluster_.UpsertPod(MakePod("web").Request("cpu", "500m").HostPort(80).Node("n1").Shared());
  EXPECT_EQ(Node("n1").requested().milli_cpu, 500);
  EXPECT_EQ(Node("n1").pods().size(), 1u);
  EXPECT_EQ(cluster_.NodeOf("default/web"), "n1");
  EXPECT_FALSE(cluster_.IsAssumed("default/web"));
  cluster_.RemovePod("default/web");
  EXPECT_EQ(Node("n1").requested().milli_cpu, 0);
  EXPECT_TRUE(Node("n1").used_ports().empty());
  EXPECT_EQ(cluster_.NodeOf("default/web"), "");
  EXPECT_EQ(FirstDisagreement(cluster_), "");
}

TEST_F(ClusterTest, AnUpdatedPodCountsOnce) {
  AddNode("n1");
  AddNode("n2");
  cluster_.UpsertPod(MakePod("web").Request("cpu", "500m").Node("n1").Shared());
  cluster_.UpsertPod(MakePod("web").Request("cpu", "200m").Node("n1").Shared());
  EXPECT_EQ(Node("n1").requested().milli_cpu, 200);
  cluster_.UpsertPod(MakePod("web").Request("cpu", "300m").Node("n2").Shared());
  EXPECT_EQ(Node("n1").pods().size(), 0u);
  EXPECT_EQ(Node("n2").requested().milli_cpu, 300);
  EXPECT_EQ(cluster_.pod_count(), 1u);
}

TEST_F(ClusterTest, ATerminatedPodIsDropped) {
  AddNode("n1");
  cluster_.UpsertPod(MakePod("job").Request("cpu", "1").Node("n1").Shared());
  cluster_.UpsertPod(MakePod("job").Request("cpu", "1").Node("n1").Phase("Succeeded").Shared());
  EXPECT_EQ(cluster_.FindPod("default/job"), nullptr);
  EXPECT_EQ(Node("n1").requested().milli_cpu, 0);
}

TEST_F(ClusterTest, ATerminatedPodGivesUpItsNomination) {
  AddNode("n1");
  cluster_.nominator().Nominate(MakePod("job").Info(), "n1");
  cluster_.UpsertPod(MakePod("job").Phase("Failed").Shared());
  EXPECT_TRUE(cluster_.nominator().empty());
}

TEST_F(ClusterTest, ANodeUpdateKeepsItsPods) {
  AddNode("n1");
  cluster_.UpsertPod(MakePod("web").Request("cpu", "500m").Node("n1").Shared());
  const NodeInfo* before = cluster_.Find("n1");
  const uint64_t generation = before->generation();
  cluster_.UpsertNode(MakeNode("n1").Capacity("cpu", "2").Label("zone", "a").Shared());
  EXPECT_EQ(cluster_.Find("n1"), before) << "a row stays where it is";
  EXPECT_EQ(Node("n1").allocatable().milli_cpu, 2000);
  EXPECT_EQ(Node("n1").requested().milli_cpu, 500);
  EXPECT_GT(Node("n1").generation(), generation);
  EXPECT_EQ(FirstDisagreement(cluster_, {Symbol("zone")}), "");
}

TEST_F(ClusterTest, TellsWhichPodsWithVolumesCameAndWent) {
  AddNode("n1");
  cluster_.UpsertPod(MakePod("plain").Node("n1").Shared());
  cluster_.UpsertPod(MakePod("db").Pvc("data").Node("n1").Shared());
  cluster_.RemoveNode("n1");
  cluster_.UpsertPod(MakePod("late").Pvc("data").Node("n1").Shared());
  AddNode("n1");
  cluster_.RemovePod("default/db");
  std::vector<std::string> told;
  const auto& changes = *cluster_.volume_pods();
  for (uint64_t at = 0; at < changes.end(); ++at) {
    told.push_back((changes.at(at).sign > 0 ? "+" : "-") + changes.at(at).pod->name() + " " +
                   std::string(changes.at(at).node_name.str()));
  }
  EXPECT_EQ(told, (std::vector<std::string>{"+db n1", "-db n1", "+db n1", "+late n1", "-db n1"}));
}

TEST_F(ClusterTest, PodsOfAnUnknownNodeCountWhenItAppears) {
  cluster_.UpsertPod(MakePod("early").Request("cpu", "500m").Pvc("data").Node("n1").Shared());
  cluster_.UpsertPod(MakePod("gone").Request("cpu", "1").Node("n1").Shared());
  cluster_.RemovePod("default/gone");
  EXPECT_EQ(cluster_.PodsUsingClaim("default", "data"), 0);
  AddNode("n1");
  EXPECT_EQ(Node("n1").requested().milli_cpu, 500);
  EXPECT_EQ(cluster_.PodsUsingClaim("default", "data"), 1);
  EXPECT_EQ(FirstDisagreement(cluster_), "");
}

TEST_F(ClusterTest, ANodeThatComesBackFindsItsPods) {
  AddNode("n1");
  cluster_.UpsertPod(
      MakePod("stays").Request("cpu", "500m").PodAntiAffinity("zone", {{"app", "x"}}).Node("n1").Shared());
  cluster_.UpsertPod(MakePod("leaves").Request("cpu", "1").Pvc("data").Node("n1").Shared());
  cluster_.RemoveNode("n1");
  EXPECT_EQ(cluster_.Find("n1"), nullptr);
  EXPECT_TRUE(cluster_.nodes_with_affinity_pods().empty());
  EXPECT_EQ(cluster_.PodsUsingClaim("default", "data"), 0);
  cluster_.RemovePod("default/leaves");
  cluster_.RemoveNode("n1");
  AddNode("n1");
  EXPECT_EQ(Node("n1").requested().milli_cpu, 500);
  EXPECT_EQ(cluster_.nodes_with_required_anti_affinity_pods().size(), 1u);
  EXPECT_EQ(cluster_.PodsUsingClaim("default", "data"), 0);
}

TEST_F(ClusterTest, AnAssumedPodCountsUntilForgotten) {
  AddNode("n1");
  cluster_.UpsertPod(MakePod("old").Request("cpu", "1").HostPort(80).Pvc("data").Node("n1").Shared());
  const std::string before = Picture(cluster_, {"data"});
  {
    Result<AssumedPod> assumed = cluster_.Assume(MakePod("new")
                                                     .Request("cpu", "1")
                                                     .Request("example.com/gpu", "1")
                                                     .HostPort(81)
                                                     .HostPort(81, "UDP")
                                                     .Pvc("data")
                                                     .PodAffinity("zone", {{"app", "x"}})
                                                     .PodAntiAffinity("zone", {{"app", "y"}})
                                                     .Info(),
                                                 "n1", base::Ticket{1});
    ASSERT_TRUE(assumed.ok());
    EXPECT_TRUE(cluster_.IsAssumed("default/new"));
    EXPECT_EQ(Node("n1").requested().milli_cpu, 2000);
    EXPECT_EQ(cluster_.PodsUsingClaim("default", "data"), 2);
    EXPECT_EQ(cluster_.nodes_with_affinity_pods().size(), 1u);
    EXPECT_NE(Picture(cluster_, {"data"}), before);
  }
  EXPECT_EQ(Picture(cluster_, {"data"}), before);
  EXPECT_EQ(FirstDisagreement(cluster_), "");
}

TEST_F(ClusterTest, AKeptAssumptionIsConfirmedByTheApi) {
  AddNode("n1");
  Result<AssumedPod> assumed = cluster_.Assume(MakePod("web").Request("cpu", "1").Info(), "n1", base::Ticket{1});
  ASSERT_TRUE(assumed.ok());
  assumed->Keep();
  EXPECT_TRUE(cluster_.IsAssumed("default/web"));
  cluster_.UpsertPod(MakePod("web").Request("cpu", "1").Node("n1").Shared());
  EXPECT_FALSE(cluster_.IsAssumed("default/web"));
  EXPECT_EQ(Node("n1").requested().milli_cpu, 1000);
  cluster_.Forget("default/web");
  EXPECT_EQ(Node("n1").requested().milli_cpu, 1000) << "what the API confirmed cannot be forgotten";
}

TEST_F(ClusterTest, TheApiIsRightAboutWhereAnAssumedPodIs) {
  AddNode("n1");
  AddNode("n2");
  cluster_.Assume(MakePod("web").Request("cpu", "1").Info(), "n1", base::Ticket{1})->Keep();
  cluster_.UpsertPod(MakePod("web").Request("cpu", "1").Node("n2").Shared());
  EXPECT_EQ(Node("n1").requested().milli_cpu, 0);
  EXPECT_EQ(Node("n2").requested().milli_cpu, 1000);
}

TEST_F(ClusterTest, AssumingNeedsANodeAndAFreePod) {
  AddNode("n1");
  EXPECT_EQ(cluster_.Assume(MakePod("web").Info(), "n9", base::Ticket{1}).error().code, ErrorCode::kNotFound);
  cluster_.UpsertPod(MakePod("web").Node("n1").Shared());
  EXPECT_EQ(cluster_.Assume(MakePod("web").Info(), "n1", base::Ticket{1}).error().code, ErrorCode::kAlreadyExists);
}

TEST_F(ClusterTest, AnAssumptionOutlivesItsNode) {
  AddNode("n1");
  {
    Result<AssumedPod> assumed = cluster_.Assume(MakePod("web").Request("cpu", "1").Info(), "n1", base::Ticket{1});
    cluster_.RemoveNode("n1");
  }
  AddNode("n1");
  EXPECT_EQ(Node("n1").requested().milli_cpu, 0);
}

TEST_F(ClusterTest, ClaimsAreCountedPerNamespaceAndUse) {
  AddNode("n1");
  cluster_.UpsertPod(MakePod("a").Pvc("data").Node("n1").Shared());
  cluster_.UpsertPod(MakePod("b").Pvc("data").Node("n1").Shared());
  cluster_.UpsertPod(MakePod("c").Namespace("other").Pvc("data").Node("n1").Shared());
  EXPECT_EQ(cluster_.PodsUsingClaim("default", "data"), 2);
  EXPECT_EQ(cluster_.PodsUsingClaim("other", "data"), 1);
  cluster_.RemovePod("default/a");
  EXPECT_EQ(cluster_.PodsUsingClaim("default", "data"), 1);
  EXPECT_EQ(cluster_.PodsUsingClaim("default", "none"), 0);
}

TEST_F(ClusterTest, BindingEndsANomination) {
  AddNode("n1");
  Apply(cluster_, api::Object(MakePod("web").NominatedNode("n1").Shared()));
  EXPECT_EQ(cluster_.nominator().NodeOf("default/web"), "n1");
  Apply(cluster_, api::Object(MakePod("web").NominatedNode("n1").Node("n1").Shared()));
  EXPECT_TRUE(cluster_.nominator().empty());
  EXPECT_EQ(cluster_.NodeOf("default/web"), "n1");
}

TEST_F(ClusterTest, TheFirstNodeDecidesAnImagesSize) {
  cluster_.UpsertNode(MakeNode("n1").Image("redis:1", 100).Shared());
  cluster_.UpsertNode(MakeNode("n2").Image("redis:1", 900).Image("nginx:2", 50).Shared());
  const framework::ImageState* redis = Node("n2").FindImage("redis:1");
  ASSERT_NE(redis, nullptr);
  EXPECT_EQ(redis->size, 100);
  EXPECT_EQ(redis->node_count, 2);
  EXPECT_EQ(Node("n2").FindImage("nginx:2")->node_count, 1);
  EXPECT_EQ(Node("n1").FindImage("nginx:2"), nullptr);

  cluster_.RemoveNode("n1");
  EXPECT_EQ(Node("n2").FindImage("redis:1")->node_count, 1);
  cluster_.UpsertNode(MakeNode("n2").Image("nginx:2", 50).Shared());
  EXPECT_EQ(Node("n2").FindImage("redis:1"), nullptr);
  cluster_.UpsertNode(MakeNode("n3").Image("redis:1", 700).Shared());
  EXPECT_EQ(Node("n3").FindImage("redis:1")->size, 700) << "nobody remembers the first one";
}

TEST_F(ClusterTest, AnImageReportedTwiceByANodeCountsOnce) {
  cluster_.UpsertNode(MakeNode("n1").Image("redis:1", 100).Image("redis:1", 100).Shared());
  EXPECT_EQ(Node("n1").FindImage("redis:1")->node_count, 1);
  cluster_.UpsertNode(MakeNode("n1").Image("redis:1", 100).Image("redis:1", 100).Shared());
  EXPECT_EQ(Node("n1").FindImage("redis:1")->node_count, 1);
}

TEST_F(ClusterTest, AnOlderAttemptDoesNotGiveBackWhatANewerOneAssumed) {
  AddNode("n1");
  AddNode("n2");
  Result<AssumedPod> older = cluster_.Assume(MakePod("web").Request("cpu", "1").Info(), "n1", base::Ticket{1});
  ASSERT_TRUE(older);
  cluster_.Forget("default/web");  // deleted while it was being bound, and back under the same UID
  cluster_.Assume(MakePod("web").Request("cpu", "1").Info(), "n2", base::Ticket{2})->Keep();
  { const AssumedPod ended = std::move(*older); }
  EXPECT_EQ(cluster_.NodeOf("default/web"), "n2");
  EXPECT_EQ(cluster_.AssumedBy("default/web"), base::Ticket{2});
}

}  // namespace
}  // namespace berth::cluster
