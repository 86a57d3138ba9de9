#include "report/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_cluster.h"

namespace berth::report {
namespace {

using ::berth::testing::FakeCluster;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePod;

sim::Utilisation Use() {
  sim::Utilisation use;
  use.resources = {{.resource = "cpu"}, {.resource = "memory"}, {.resource = "pods"}};
  use.nodes = {{.node = "a", .amounts = {{1500, 4000}, {0, 1024}, {2, 110}}, .pods = {"shop/api", "shop/web"}},
               {.node = "b", .amounts = {{0, 2000}, {0, 0}, {0, 110}}}};
  return use;
}

TEST(PageData, NodesHaveLabelsTaintsConditionsAndTheSizesOfTheirPods) {
  FakeCluster cluster;
  cluster.AddNode(MakeNode("b").Label("disk", "ssd").Unschedulable());
  cluster.AddNode(
      MakeNode("a").Label("disk", "nvme").Label("zone", "east").Taint("dedicated", "db").Condition("Ready", "Unknown"));
  cluster.AddPod(MakePod("web").Namespace("shop").Uid("1").Request("cpu", "1").Node("a"));
  cluster.AddPod(MakePod("api").Namespace("shop").Uid("2").Request("cpu", "500m").Priority(7).Node("a"));
  sim::SimulationReport report;
  report.utilisation = Use();
  // In the report's order, and the pods in the order of their names there.
  EXPECT_EQ(ToPageContext(report, {.cluster = &cluster}),
            R"({"version":"","command":[],"inputs":[],"labelKeys":["disk","zone"],"nodes":[)"
            R"({"labels":[0,"nvme",1,"east"],"taints":["dedicated=db:NoSchedule"],"cordoned":false,)"
            R"("conditions":["Ready","Unknown"],"allocatable":[4000,1024,110],"pods":[[7,500,0,1],[0,1000,0,1]]},)"
            R"({"labels":[0,"ssd"],"taints":[],"cordoned":true,"conditions":[],"allocatable":[2000,0,110],"pods":[]}],)"
            R"("pods":[]})");
}

TEST(PageData, PodsWithoutANodeHaveTheSizeThatTheInputAsksFor) {
  const std::vector<api::Object> objects = {api::Object(
      std::make_shared<const api::Pod>(MakePod("big").Namespace("shop").Request("memory", "2Ki").Priority(3).Obj()))};
  sim::SimulationReport report;
  report.utilisation = Use();
  report.utilisation.nodes.clear();
  report.pods = {{.key = "shop/big"}, {.key = "shop/unheard-of"}};
  EXPECT_EQ(
      ToPageContext(
          report,
          {.objects = objects, .command = {"berth", "simulate", "-f", "<b>"}, .inputs = {"<b>"}, .version = "1.2"}),
      R"({"version":"1.2","command":["berth","simulate","-f","<b>"],"inputs":["<b>"],)"
      R"("pods":[[3,0,2048,1],null]})");
}

}  // namespace
}  // namespace berth::report
