#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;

framework::PodInfoPtr Pod(std::string_view cpu, std::string_view memory) {
  return MakePod("p").Request("cpu", cpu).Request("memory", memory).Info();
}

TEST(NodeResourcesBalancedAllocation, ScoresTheChangeInBalance) {
  const std::vector<config::ResourceSpec> two = {{Symbol("cpu"), 1}, {Symbol("memory"), 1}};
  std::vector<config::ResourceSpec> three = two;
  three.push_back({Symbol("example.com/gpu"), 1});
  struct {
    const char* what;
    std::vector<config::ResourceSpec> resources;
    framework::PodInfoPtr there;
    framework::PodInfoPtr pod;
    int64_t score;
  } const cases[] = {
      {"nothing changes", two, Pod("2", "2000"), Pod("1", "1000"), 75},
      {"evens out", two, Pod("10", "0"), Pod("0", "10000"), 100},  // 50 -> 100
      {"unbalances", two, Pod("0", "0"), Pod("10", "0"), 50},      // 100 -> 50
      {"a little", two, Pod("4", "2000"), Pod("0", "1000"), 77},   // 90 -> 95
      {"beyond the capacity is full", two, Pod("10", "10000"), Pod("5", "0"), 75},
      {"three resources", three, Pod("0", "0"),
       MakePod("p").Request("cpu", "10").Request("example.com/gpu", "1").Info(), 54},  // 100 -> 59
      {"a scalar that is not asked for is left out", three, Pod("2", "2000"), Pod("1", "1000"), 75},
  };
  FakeHandle handle;
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    const config::NodeResourcesBalancedAllocationArgs args{test.resources};
    const auto plugin = MakePlugin<NodeResourcesBalancedAllocation>(handle, args);
    const framework::NodeInfo node = MakeNode("n")
                                         .Capacity("cpu", "10")
                                         .Capacity("memory", "10000")
                                         .Capacity("example.com/gpu", "2")
                                         .Info({test.there});
    framework::CycleState state;
    ASSERT_TRUE(plugin->PreScore(state, *test.pod, {}).ok());
    EXPECT_EQ(plugin->Score(state, *test.pod, node).score, test.score);
    // The same without PreScore.
    EXPECT_EQ(plugin->Score(framework::CycleState(), *test.pod, node).score, test.score);
  }
}

TEST(NodeResourcesBalancedAllocation, SkipsPodsThatAskForNothing) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeResourcesBalancedAllocation>(handle);
  framework::CycleState state;
  EXPECT_TRUE(plugin->PreScore(state, *MakePod("p").Container("c").Info(), {}).IsSkip());
  EXPECT_TRUE(plugin->PreScore(state, *MakePod("p").Request("example.com/gpu", "1").Info(), {}).IsSkip());
  EXPECT_TRUE(plugin->PreScore(state, *MakePod("p").PodLevelRequest("cpu", "1").Info(), {}).ok());
}

TEST(NodeResourcesBalancedAllocation, ColumnsAgreeWithRows) {
  FakeHandle handle;
  base::Random random(7);
  const auto amount = [&](uint64_t bound) { return std::to_string(random.Below(bound)); };
  for (int i = 0; i < 300; ++i) {
    handle.cluster().AddNode(MakeNode("n" + std::to_string(i))
                                 .Capacity("cpu", amount(50))
                                 .Capacity("memory", amount(5000))
                                 .Capacity("ephemeral-storage", amount(300)),
                             {Pod(amount(40), amount(4000))});
  }
  config::NodeResourcesBalancedAllocationArgs three;
  three.resources.push_back({Symbol("ephemeral-storage"), 1});
  for (const auto& args : {config::NodeResourcesBalancedAllocationArgs{}, three}) {
    const auto plugin = MakePlugin<NodeResourcesBalancedAllocation>(handle, args);
    for (int round = 0; round < 20; ++round) {
      const framework::PodInfoPtr pod =
          MakePod("p").Request("cpu", "1" + amount(9)).Request("ephemeral-storage", amount(90)).Info();
      framework::CycleState state;
      ASSERT_TRUE(plugin->PreScore(state, *pod, {}).ok());
      std::vector<int64_t> scores(handle.cluster().nodes().size(), -1);
      ASSERT_TRUE(plugin->ScoreRange(state, *pod, handle.cluster().columns(), 0, scores));
      for (size_t i = 0; i < scores.size(); ++i) {
        ASSERT_EQ(scores[i], plugin->Score(state, *pod, *handle.cluster().nodes()[i]).score);
      }
    }
  }
}

}  // namespace
}  // namespace berth::plugins
