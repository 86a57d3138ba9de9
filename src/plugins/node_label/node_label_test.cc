#include "plugins/node_label/node_label.h"

#include <gtest/gtest.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::EventResource;
using framework::QueueingHint;
using framework::Status;
using testing::AskHint;
using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;
using testing::SignatureOf;

const testing::NodeBuilder kNode = MakeNode("n").Label("zone", "").Label("rack", "7");
const Status kNo = Status::UnschedulableAndUnresolvable("node(s) didn't have the requested labels");

TEST(NodeLabel, AdmitsByPresenceWhateverTheValue) {
  struct {
    std::vector<std::string> present;
    std::vector<std::string> absent;
    Status verdict;
  } const cases[] = {
      {{}, {}, {}},
      {{"zone", "rack"}, {}, {}},
      {{"zone", "gpu"}, {}, kNo},
      {{}, {"gpu", "retiring"}, {}},
      {{}, {"gpu", "rack"}, kNo},
      {{"zone"}, {"gpu"}, {}},
      {{"gpu"}, {"retiring"}, kNo},
      {{"zone"}, {"rack"}, kNo},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(&test - cases);
    FakeHandle handle;
    const auto plugin = MakePlugin<NodeLabel>(handle, config::NodeLabelArgs{test.present, test.absent, {"x"}, {"y"}});
    EXPECT_EQ(plugin->Filter(framework::CycleState(), *MakePod("p").Info(), kNode.Info()), test.verdict);
  }
}

TEST(NodeLabel, ScoresTheShareOfPreferencesThatHold) {
  struct {
    std::vector<std::string> present;
    std::vector<std::string> absent;
    int64_t score;
  } const cases[] = {
      {{}, {}, 0},        {{"zone"}, {}, 100},       {{"gpu"}, {}, 0},
      {{}, {"gpu"}, 100}, {{"zone", "gpu"}, {}, 50}, {{"zone"}, {"rack", "gpu"}, 66},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(&test - cases);
    FakeHandle handle;
    const auto plugin = MakePlugin<NodeLabel>(handle, config::NodeLabelArgs{{}, {}, test.present, test.absent});
    EXPECT_EQ(plugin->Score(framework::CycleState(), *MakePod("p").Info(), kNode.Info()).score, test.score);
  }
}

TEST(NodeLabel, WakesForNodesItAdmits) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeLabel>(handle, config::NodeLabelArgs{{"gpu"}, {}, {}, {}});
  const auto pod = MakePod("p").Info();
  const api::Node without = kNode.Obj(), with = MakeNode("n").Label("gpu", "1").Obj();
  EXPECT_EQ(AskHint(*plugin, EventResource::kNode, *pod, {}, &without), QueueingHint::kSkip);
  EXPECT_EQ(AskHint(*plugin, EventResource::kNode, *pod, &without, &with), QueueingHint::kQueue);
}

TEST(NodeLabel, ReadsNothingOfThePod) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeLabel>(handle);
  EXPECT_EQ(SignatureOf(*plugin, *MakePod("a").Label("app", "a").Info()), SignatureOf(*plugin, *MakePod("b").Info()));
}

}  // namespace
}  // namespace berth::plugins
