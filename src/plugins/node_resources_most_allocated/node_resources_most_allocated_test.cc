#include "plugins/node_resources_most_allocated/node_resources_most_allocated.h"

#include <gtest/gtest.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;

TEST(NodeResourcesMostAllocated, PrefersWhatIsInUse) {
  const std::vector<framework::PodInfoPtr> there = {MakePod("q").Request("cpu", "1").Request("memory", "2000").Info()};
  struct {
    const char* what;
    std::vector<config::ResourceSpec> resources;
    testing::PodBuilder pod;
    framework::NodeInfo node;
    int64_t score;
  } const cases[] = {
      {"cpu at 75, memory at 50",
       {{Symbol("cpu"), 1}, {Symbol("memory"), 1}},
       MakePod("p").Request("cpu", "3").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000").Info(),
       62},
      {"pods that are there count",
       {{Symbol("cpu"), 1}, {Symbol("memory"), 1}},
       MakePod("p").Request("cpu", "3").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000").Info(there),
       85},
      {"weights",
       {{Symbol("cpu"), 3}, {Symbol("memory"), 1}},
       MakePod("p").Request("cpu", "3").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000").Info(),
       68},
      {"never above full",
       {{Symbol("cpu"), 1}},
       MakePod("p").Request("cpu", "5"),
       MakeNode("n").Capacity("cpu", "4").Info(),
       100},
      {"an empty node", {{Symbol("cpu"), 1}}, MakePod("p"), MakeNode("n").Capacity("cpu", "4").Info(), 0},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    FakeHandle handle;
    const auto plugin =
        MakePlugin<NodeResourcesMostAllocated>(handle, config::NodeResourcesMostAllocatedArgs{test.resources});
    EXPECT_EQ(plugin->Score(framework::CycleState(), *test.pod.Info(), test.node).score, test.score);
  }
}

}  // namespace
}  // namespace berth::plugins
