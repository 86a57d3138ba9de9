#include "plugins/node_resources_least_allocated/node_resources_least_allocated.h"

#include <gmock/gmock.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using ::testing::ElementsAre;
using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;
using testing::SignatureOf;

const config::ResourceSpec kCpu{Symbol("cpu"), 1};
const config::ResourceSpec kMemory{Symbol("memory"), 1};
const config::ResourceSpec kGpu{Symbol("example.com/gpu"), 3};

TEST(NodeResourcesLeastAllocated, PrefersWhatIsFree) {
  struct {
    const char* what;
    std::vector<config::ResourceSpec> resources;
    testing::PodBuilder pod;
    testing::NodeBuilder node;
    int64_t score;
  } const cases[] = {
      {"cpu a quarter free, memory half",
       {kCpu, kMemory},
       MakePod("p").Request("cpu", "3").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000"),
       37},
      {"weights",
       {{Symbol("cpu"), 3}, kMemory},
       MakePod("p").Request("cpu", "3").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000"),
       31},
      {"listed twice, the last weight counts",
       {kCpu, kMemory, {Symbol("cpu"), 3}},
       MakePod("p").Request("cpu", "3").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000"),
       31},
      {"more than there is",
       {kCpu, kMemory},
       MakePod("p").Request("cpu", "5").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000"),
       25},
      {"a resource that the node lacks",
       {kCpu, kMemory},
       MakePod("p").Request("cpu", "1").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4"),
       75},
      {"nobody asked for the accelerator",
       {kCpu, kGpu},
       MakePod("p").Request("cpu", "1"),
       MakeNode("n").Capacity("cpu", "4").Capacity("example.com/gpu", "4"),
       75},
      {"the accelerator weighs more",
       {kCpu, kGpu},
       MakePod("p").Request("cpu", "1").Request("example.com/gpu", "2"),
       MakeNode("n").Capacity("cpu", "4").Capacity("example.com/gpu", "4"),
       56},
      {"defaults for containers that ask for nothing",
       {kCpu},
       MakePod("p").Container(),
       MakeNode("n").Capacity("cpu", "1"),
       90},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    FakeHandle handle;
    const auto plugin =
        MakePlugin<NodeResourcesLeastAllocated>(handle, config::NodeResourcesLeastAllocatedArgs{test.resources});
    EXPECT_EQ(plugin->Score(framework::CycleState(), *test.pod.Info(), test.node.Info()).score, test.score);
  }
}

TEST(NodeResourcesLeastAllocated, ColumnsSayWhatRowsSay) {
  FakeHandle handle;
  handle.cluster().AddNode(MakeNode("a").Capacity("cpu", "4").Capacity("memory", "10000"),
                           {MakePod("q").Request("cpu", "1").Request("memory", "1000").Info()});
  handle.cluster().AddNode(MakeNode("b").Capacity("cpu", "8").Capacity("memory", "10000"));
  const auto plugin = MakePlugin<NodeResourcesLeastAllocated>(handle);
  const auto pod = MakePod("p").Request("cpu", "1").Request("memory", "1000").Info();
  std::vector<int64_t> scores(2);
  ASSERT_TRUE(plugin->ScoreRange(framework::CycleState(), *pod, handle.cluster().columns(), 0, scores));
  EXPECT_THAT(scores, ElementsAre(65, 88));
  EXPECT_EQ(plugin->Score(framework::CycleState(), *pod, handle.cluster().Node("a")).score, 65);
  EXPECT_EQ(plugin->Score(framework::CycleState(), *pod, handle.cluster().Node("b")).score, 88);
}

TEST(NodeResourcesLeastAllocated, SignsWhatThePodAsksFor) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeResourcesLeastAllocated>(handle);
  const std::string one = SignatureOf(*plugin, *MakePod("a").Request("cpu", "1").Info());
  EXPECT_EQ(one, SignatureOf(*plugin, *MakePod("b").Request("cpu", "1").Info()));
  EXPECT_NE(one, SignatureOf(*plugin, *MakePod("a").Request("cpu", "2").Info()));
}

TEST(NodeResourcesLeastAllocated, RefusesTheArgumentsOfOthers) {
  FakeHandle handle;
  EXPECT_FALSE(NodeResourcesLeastAllocated::Create(config::NodeResourcesMostAllocatedArgs(), handle).ok());
}

}  // namespace
}  // namespace berth::plugins
