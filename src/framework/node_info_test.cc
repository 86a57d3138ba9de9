#include "framework/node_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "testing/builders.h"

namespace berth::framework {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(HostPorts, Conflicts) {
  const struct {
    HostPort used;
    HostPort wanted;
    bool conflict;
  } kCases[] = {
      {{"0.0.0.0", "TCP", 80}, {"0.0.0.0", "TCP", 80}, true},
      {{"0.0.0.0", "TCP", 80}, {"10.0.0.1", "TCP", 80}, true},
      {{"10.0.0.1", "TCP", 80}, {"0.0.0.0", "TCP", 80}, true},
      {{"10.0.0.1", "TCP", 80}, {"10.0.0.1", "TCP", 80}, true},
      {{"10.0.0.1", "TCP", 80}, {"10.0.0.2", "TCP", 80}, false},
      {{"0.0.0.0", "TCP", 80}, {"0.0.0.0", "UDP", 80}, false},
      {{"0.0.0.0", "TCP", 80}, {"0.0.0.0", "TCP", 81}, false},
      {{"0.0.0.0", "TCP", 0}, {"0.0.0.0", "TCP", 0}, false},
  };
  for (const auto& c : kCases) {
    HostPorts ports;
    ports.Add(c.used);
    EXPECT_EQ(ports.Conflicts(c.wanted), c.conflict)
        << c.used.ip << ' ' << c.used.protocol << ' ' << c.used.port << " / " << c.wanted.ip << ' ' << c.wanted.protocol
        << ' ' << c.wanted.port;
  }
}

TEST(HostPorts, IsASet) {
  const HostPort port{"0.0.0.0", "TCP", 80};
  HostPorts ports;
  ports.Add(port);
  ports.Add(port);
  EXPECT_TRUE(ports.Conflicts(port));
  ports.Remove(port);
  EXPECT_TRUE(ports.empty());
  ports.Remove(port);  // gone already
  EXPECT_TRUE(ports.empty());
}

TEST(NodeInfo, SumsFollowThePods) {
  const PodInfoPtr plain = MakePod("plain").Request("cpu", "500m").Request("nvidia.com/gpu", "1").HostPort(80).Info();
  const PodInfoPtr near = MakePod("near").Container().Request("pods", "5").PodAffinity("zone", {{"app", "db"}}).Info();
  const PodInfoPtr apart = MakePod("apart").Request("memory", "1Mi").PodAntiAffinity("host", {{"app", "db"}}).Info();
  NodeInfo node = MakeNode("n").Capacity("cpu", "4").Info({}, 7);
  EXPECT_EQ(node.index(), 7u);
  EXPECT_EQ(node.allocatable().milli_cpu, 4000);
  EXPECT_EQ(node.allocatable().allowed_pod_number, 110);

  for (const PodInfoPtr& pod : {plain, near, apart}) node.AddPod(pod);
  EXPECT_THAT(node.pods(), ElementsAre(plain, near, apart));
  EXPECT_THAT(node.pods_with_affinity(), ElementsAre(near, apart));
  EXPECT_THAT(node.pods_with_required_anti_affinity(), ElementsAre(apart));
  EXPECT_EQ(node.requested(),
            (Resource{.milli_cpu = 500, .memory = 1 << 20, .scalar = {{Symbol("nvidia.com/gpu"), 1}}}));
  EXPECT_EQ(node.non_zero_milli_cpu(), 700);
  EXPECT_EQ(node.non_zero_memory(), 401 << 20);
  EXPECT_THAT(node.used_ports().ports(), SizeIs(1));

  EXPECT_TRUE(node.RemovePod(*near));
  EXPECT_THAT(node.pods(), UnorderedElementsAre(plain, apart));
  EXPECT_THAT(node.pods_with_affinity(), ElementsAre(apart));
  EXPECT_TRUE(node.RemovePod(*apart));
  EXPECT_TRUE(node.RemovePod(*plain));
  EXPECT_FALSE(node.RemovePod(*plain));
  EXPECT_THAT(node.pods(), IsEmpty());
  EXPECT_THAT(node.pods_with_required_anti_affinity(), IsEmpty());
  EXPECT_EQ(node.requested(), Resource());
  EXPECT_EQ(node.non_zero_milli_cpu(), 0);
  EXPECT_EQ(node.non_zero_memory(), 0);
  EXPECT_TRUE(node.used_ports().empty());
}

TEST(NodeInfo, RemovesByUidAndTakesBackWhatWasAdded) {
  NodeInfo node =
      MakeNode("n").Info({MakePod("p").Uid("1").Request("cpu", "1").PodAntiAffinity("z", {{"a", "b"}}).Info()});
  EXPECT_FALSE(node.RemovePod(*MakePod("p").Uid("2").Info())) << "same name, another pod";
  EXPECT_FALSE(node.RemovePod(*MakePod("p").Uid("").Info()));
  EXPECT_TRUE(node.RemovePod(*MakePod("p").Uid("1").Request("cpu", "3").Info())) << "a later version of it";
  EXPECT_EQ(node.requested(), Resource());
  EXPECT_THAT(node.pods_with_required_anti_affinity(), IsEmpty());
}

TEST(NodeInfo, PodsWithoutUidsAreToldApartByName) {
  NodeInfo node = MakeNode("n").Info({MakePod("a").Uid("").Info(), MakePod("b").Uid("").Info()});
  EXPECT_FALSE(node.RemovePod(*MakePod("b").Namespace("other").Uid("").Info()));
  EXPECT_TRUE(node.RemovePod(*MakePod("b").Uid("").Info()));
  ASSERT_THAT(node.pods(), SizeIs(1));
  EXPECT_EQ(node.pods()[0]->name(), "a");
}

TEST(NodeInfo, ACopyIsAWhatIf) {
  const NodeInfo node = MakeNode("n").Info({MakePod("a").Request("cpu", "1").HostPort(80).Info()});
  NodeInfo copy = node;
  EXPECT_TRUE(copy.RemovePod(*node.pods()[0]));
  EXPECT_EQ(node.requested().milli_cpu, 1000);
  EXPECT_FALSE(node.used_ports().empty());
  EXPECT_THAT(node.pods(), SizeIs(1));
}

TEST(NodeInfo, EveryChangeGetsAGenerationOfItsOwn) {
  NodeInfo a = MakeNode("a").Info();
  const NodeInfo b = MakeNode("b").Info();
  EXPECT_GT(b.generation(), a.generation());
  const PodInfoPtr pod = MakePod("p").Info();
  uint64_t last = b.generation();
  const auto grew = [&] { return std::exchange(last, a.generation()) < a.generation(); };
  a.AddPod(pod);
  EXPECT_TRUE(grew());
  EXPECT_TRUE(a.RemovePod(*pod));
  EXPECT_TRUE(grew());
  a.SetNode(MakeNode("a").Capacity("cpu", "8").Shared());
  EXPECT_TRUE(grew());
  EXPECT_EQ(a.allocatable().milli_cpu, 8000);
  EXPECT_FALSE(a.RemovePod(*pod));
  EXPECT_FALSE(grew()) << "nothing changed";
}

TEST(NodeInfo, FindsImagesUnderEveryNameTheNodeReports) {
  NodeInfo node = MakeNode("n").Image("nginx:latest", 40).Image("docker.io/library/redis@sha256:12", 10).Info();
  ASSERT_NE(node.FindImage("nginx:latest"), nullptr);
  EXPECT_EQ(node.FindImage("nginx:latest")->size, 40);
  EXPECT_EQ(node.FindImage("nginx:latest")->node_count, 1);
  EXPECT_NE(node.FindImage("docker.io/library/redis@sha256:12"), nullptr);
  EXPECT_EQ(node.FindImage("nginx"), nullptr) << "callers normalise";
  EXPECT_EQ(node.FindImage("zzz"), nullptr);

  const auto first = std::make_shared<const ImageState>(ImageState{1, 1});
  const auto second = std::make_shared<const ImageState>(ImageState{2, 1});
  node.SetImages({{Symbol("b"), first}, {Symbol("a"), first}, {Symbol("b"), second}});
  EXPECT_EQ(node.FindImage("b"), first.get());
  EXPECT_EQ(node.FindImage("nginx:latest"), nullptr);
}

}  // namespace
}  // namespace berth::framework
