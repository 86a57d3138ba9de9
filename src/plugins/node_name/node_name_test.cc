#include "plugins/node_name/node_name.h"

#include <gtest/gtest.h>

#include "plugins/fake_handle.h"
#include "testing/builders.h"

namespace berth::plugins {
namespace {

using testing::MakeNode;
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
  handle.view.Add(MakeNode("n1").Info());
  std::vector<uint8_t> verdicts(1, 7);
  const framework::CycleState state;
  EXPECT_FALSE(plugin->FilterRange(state, *MakePod("a").Node("n1").Info(), handle.view.columns(), 0, verdicts));
  EXPECT_TRUE(plugin->FilterRange(state, *MakePod("a").Info(), handle.view.columns(), 0, verdicts));
  EXPECT_EQ(verdicts[0], 0);
}

}  // namespace
}  // namespace berth::plugins
