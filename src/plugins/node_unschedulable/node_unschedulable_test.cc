#include "plugins/node_unschedulable/node_unschedulable.h"

#include <gtest/gtest.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::EventResource;
using framework::QueueingHint;
using testing::AskHint;
using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;

constexpr std::string_view kCordon = "node.kubernetes.io/unschedulable";

TEST(NodeUnschedulable, CordonedNodesNeedTheToleration) {
  struct {
    const char* what;
    framework::PodInfoPtr pod;
    bool unschedulable;
    bool fits;
  } const cases[] = {
      {"open node", MakePod("a").Info(), false, true},
      {"cordoned", MakePod("a").Info(), true, false},
      {"tolerated by key", MakePod("a").Tolerate(kCordon).Info(), true, true},
      {"tolerated by key and effect", MakePod("a").Tolerate(kCordon, "", "NoSchedule").Info(), true, true},
      {"wrong effect", MakePod("a").Tolerate(kCordon, "", "NoExecute").Info(), true, false},
      {"everything tolerated", MakePod("a").Tolerate("", "", "", "Exists").Info(), true, true},
  };
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeUnschedulable>(handle);
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    testing::FakeCluster cluster;
    const framework::NodeInfo& node = cluster.AddNode(MakeNode("n").Unschedulable(test.unschedulable));
    const framework::CycleState state;
    const framework::Status status = plugin->Filter(state, *test.pod, node);
    EXPECT_EQ(status.ok(), test.fits);
    if (!test.fits) {
      EXPECT_EQ(status.code(), framework::Code::kUnschedulableAndUnresolvable);
      EXPECT_EQ(status.Message(), "node(s) were unschedulable");
    }
    std::vector<uint8_t> verdicts(1, 9);
    ASSERT_TRUE(plugin->FilterRange(state, *test.pod, cluster.columns(), 0, verdicts));
    EXPECT_EQ(verdicts[0] == 0, test.fits);
  }
}

TEST(NodeUnschedulable, WakesUpWhenANodeOpens) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeUnschedulable>(handle);
  const framework::PodInfoPtr pod = MakePod("a").Info();
  const api::Node open = MakeNode("n").Obj();
  const api::Node cordoned = MakeNode("n").Unschedulable().Obj();
  const auto hint = [&](const framework::EventObject& before, const framework::EventObject& after) {
    return AskHint(*plugin, EventResource::kNode, *pod, before, after);
  };
  EXPECT_EQ(hint({}, &open), QueueingHint::kQueue);
  EXPECT_EQ(hint({}, &cordoned), QueueingHint::kSkip);
  EXPECT_EQ(hint(&cordoned, &open), QueueingHint::kQueue);
  EXPECT_EQ(hint(&open, &open), QueueingHint::kSkip);
  EXPECT_EQ(hint(&open, &cordoned), QueueingHint::kSkip);

  const api::Pod tolerant = MakePod("a").Tolerate(kCordon).Obj();
  const api::Pod unrelated = MakePod("a").Tolerate("gpu").Obj();
  EXPECT_EQ(AskHint(*plugin, EventResource::kPod, *pod, &unrelated, &tolerant), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kPod, *pod, &unrelated, &unrelated), QueueingHint::kSkip);
}

TEST(NodeUnschedulable, ExplainsACordonAndLiftsIt) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeUnschedulable>(handle);
  const framework::PodInfoPtr pod = MakePod("p").Info();
  const framework::NodeInfo node =
      MakeNode("n").Unschedulable().Taint("node.kubernetes.io/unschedulable").Taint("gpu").Info();
  EXPECT_EQ(testing::FindingsOf(*plugin, *pod, node),
            std::vector<std::string>{"spec.unschedulable | false | true | spec.unschedulable is set (cordoned)"});
  const std::vector<framework::Remedy> remedies = testing::RemediesOf(*plugin, *pod, node);
  ASSERT_EQ(remedies.size(), 1u);
  EXPECT_EQ(testing::TextOf(remedies[0]), "uncordon n");
  const framework::NodeInfo changed = testing::ChangedNode(node, remedies[0]);
  EXPECT_TRUE(plugin->Filter(framework::CycleState(), *pod, changed).ok());
  ASSERT_EQ(changed.taints().size(), 1u) << "the cordon's own taint goes with it, and no other";
  EXPECT_EQ(changed.taints()[0].key, "gpu");
  EXPECT_TRUE(node.node().spec.unschedulable) << "the node itself stays as it is";
}

}  // namespace
}  // namespace berth::plugins
