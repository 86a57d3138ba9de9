#include "plugins/node_name/node_name.h"

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

TEST(NodeName, OnlyTheNamedNodeFits) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeName>(handle);
  const framework::NodeInfo node = MakeNode("n1").Info();
  const framework::CycleState state;
  EXPECT_TRUE(plugin->Filter(state, *MakePod("a").Info(), node).ok());
  EXPECT_TRUE(plugin->Filter(state, *MakePod("a").Node("n1").Info(), node).ok());
  const framework::Status other = plugin->Filter(state, *MakePod("a").Node("n2").Info(), node);
  EXPECT_EQ(other.code(), framework::Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(other.Message(), "node(s) didn't match the requested node name");
}

TEST(NodeName, RangeIsForPodsThatNameNoNode) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeName>(handle);
  handle.cluster().AddNode(MakeNode("n1"));
  std::vector<uint8_t> verdicts(1, 7);
  const framework::CycleState state;
  EXPECT_FALSE(plugin->FilterRange(state, *MakePod("a").Node("n1").Info(), handle.cluster().columns(), 0, verdicts));
  EXPECT_TRUE(plugin->FilterRange(state, *MakePod("a").Info(), handle.cluster().columns(), 0, verdicts));
  EXPECT_EQ(verdicts[0], 0);
}

}  // namespace
}  // namespace berth::plugins
