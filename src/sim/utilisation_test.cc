#include "sim/utilisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/builders.h"

namespace berth::sim {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::NodeBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kZoneLabel[] = "topology.kubernetes.io/zone";

class UtilisationTest : public ::testing::Test {
 protected:
  void AddNode(const NodeBuilder& node) { cluster.UpsertNode(std::make_shared<const api::Node>(node.Obj())); }
  void AddPod(const berth::testing::PodBuilder& pod) { cluster.UpsertPod(std::make_shared<const api::Pod>(pod.Obj())); }
  // "cpu 2500/8000 a 0.25 b 0.5 c 1".
  static std::string Text(const ResourceUse& use) {
    std::ostringstream out;
    out << use.resource << " " << use.total.requested << "/" << use.total.allocatable;
    for (const NodeShare* share : {&use.lowest, &use.median, &use.highest}) {
      if (!share->node.empty()) out << " " << share->node << " " << share->share;
    }
    return out.str();
  }
  std::vector<std::string> Resources() const {
    std::vector<std::string> texts;
    for (const ResourceUse& use : MeasureUtilisation(cluster).resources) texts.push_back(Text(use));
    return texts;
  }
  std::vector<std::string> Zones() const {
    std::vector<std::string> texts;
    for (const ZoneUse& use : MeasureUtilisation(cluster).zones) {
      texts.push_back(use.zone + " " + std::to_string(use.nodes) + " " + std::to_string(use.pods));
    }
    return texts;
  }

  config::FeatureGates gates;
  cluster::Cluster cluster{gates};
};

TEST_F(UtilisationTest, AnEmptyClusterHasNothing) {
  EXPECT_THAT(Resources(), ElementsAre("cpu 0/0", "memory 0/0", "pods 0/0"));
  EXPECT_THAT(Zones(), IsEmpty());
}

TEST_F(UtilisationTest, SumsAndExtremesByResource) {
  for (const char* name : {"c", "b", "a"}) {
    AddNode(MakeNode(name).Capacity("cpu", "2").Capacity("memory", "1Ki").Capacity("pods", "10"));
  }
  AddPod(MakePod("p").Request("cpu", "500m").Node("a"));
  AddPod(MakePod("q").Request("cpu", "1").Node("c"));
  AddPod(MakePod("r").Request("cpu", "1").Node("c"));
  EXPECT_THAT(Resources(),
              ElementsAre("cpu 2500/6000 b 0 a 0.25 c 1", "memory 0/3072 a 0 b 0 a 0", "pods 3/30 b 0 a 0.1 c 0.2"));
}

TEST_F(UtilisationTest, OtherResourcesWhereThereAreAny) {
  AddNode(MakeNode("a").Capacity("example.com/gpu", "4").Capacity("ephemeral-storage", "1Gi"));
  AddNode(MakeNode("b").Capacity("hugepages-2Mi", "0"));
  EXPECT_EQ(Resources().size(), 4u);
  EXPECT_EQ(Resources()[3], "example.com/gpu 0/4 a 0 a 0 a 0") << "a node without any is neither empty nor full";
  AddPod(MakePod("p").Request("ephemeral-storage", "1Mi").Node("a"));
  EXPECT_EQ(Resources()[3], "ephemeral-storage 1048576/1073741824 a 0.000976562 a 0.000976562 a 0.000976562");
}

TEST_F(UtilisationTest, NodesStandByNameWithTheirZones) {
  AddNode(MakeNode("b").Label(kZoneLabel, "z2").Capacity("cpu", "1"));
  AddNode(MakeNode("a").Label(kZoneLabel, "z1").Capacity("cpu", "1"));
  AddNode(MakeNode("c").Capacity("cpu", "1"));
  AddPod(MakePod("p").Node("a"));
  const Utilisation utilisation = MeasureUtilisation(cluster);
  ASSERT_EQ(utilisation.nodes.size(), 3u);
  EXPECT_EQ(utilisation.nodes[0].node + utilisation.nodes[1].node + utilisation.nodes[2].node, "abc");
  EXPECT_EQ(utilisation.nodes[1].zone, "z2");
  EXPECT_EQ(utilisation.nodes[2].zone, "");
  EXPECT_THAT(Zones(), ElementsAre("z1 1 1", "z2 1 0", " 1 0"));
}

TEST_F(UtilisationTest, SpreadIsBetweenNamedZones) {
  Utilisation utilisation;
  EXPECT_EQ(utilisation.PlacedSpread(), 0u);
  utilisation.zones = {{.zone = "a", .placed = 7}, {.zone = "b", .placed = 4}, {.zone = "", .placed = 0}};
  EXPECT_EQ(utilisation.PlacedSpread(), 3u);
}

}  // namespace
}  // namespace berth::sim
