#include "plugins/node_ports/node_ports.h"

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

TEST(NodePorts, WantedPortsMustBeFree) {
  struct {
    const char* what;
    framework::PodInfoPtr there;
    framework::PodInfoPtr incoming;
    bool fits;
  } const cases[] = {
      {"other port", MakePod("b").HostPort(80).Info(), MakePod("a").HostPort(81).Info(), true},
      {"same port", MakePod("b").HostPort(80).Info(), MakePod("a").HostPort(80).Info(), false},
      {"other protocol", MakePod("b").HostPort(80, "UDP").Info(), MakePod("a").HostPort(80, "TCP").Info(), true},
      {"no protocol is TCP", MakePod("b").HostPort(80, "TCP").Info(), MakePod("a").HostPort(80).Info(), false},
      {"other address", MakePod("b").HostPort(80, "", "10.0.0.1").Info(),
       MakePod("a").HostPort(80, "", "10.0.0.2").Info(), true},
      {"any address there", MakePod("b").HostPort(80).Info(), MakePod("a").HostPort(80, "", "10.0.0.2").Info(), false},
      {"any address wanted", MakePod("b").HostPort(80, "", "10.0.0.1").Info(),
       MakePod("a").HostPort(80, "", "0.0.0.0").Info(), false},
  };
  FakeHandle handle;
  const auto plugin = MakePlugin<NodePorts>(handle);
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    framework::CycleState state;
    ASSERT_TRUE(plugin->PreFilter(state, *test.incoming).status.ok());
    const framework::Status status = plugin->Filter(state, *test.incoming, MakeNode("n").Info({test.there}));
    EXPECT_EQ(status.ok(), test.fits);
    if (!test.fits) {
      EXPECT_EQ(status.code(), framework::Code::kUnschedulable);
      EXPECT_EQ(status.Message(), "node(s) didn't have free ports for the requested pod ports");
    }
  }
}

TEST(NodePorts, SkipsPodsWithoutHostPorts) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodePorts>(handle);
  framework::CycleState state;
  EXPECT_TRUE(plugin->PreFilter(state, *MakePod("a").Container("nginx").Info()).status.IsSkip());
}

TEST(NodePorts, WakesUpWhenAPodWithACommonPortGoes) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodePorts>(handle);
  const framework::PodInfoPtr pod = MakePod("a").HostPort(80).Info();
  const auto after_deletion_of = [&](const api::Pod& deleted) {
    return AskHint(*plugin, EventResource::kPod, *pod, &deleted, {});
  };
  EXPECT_EQ(after_deletion_of(MakePod("b").HostPort(80).Node("n").Obj()), QueueingHint::kQueue);
  EXPECT_EQ(after_deletion_of(MakePod("b").HostPort(81).Node("n").Obj()), QueueingHint::kSkip);
  EXPECT_EQ(after_deletion_of(MakePod("b").HostPort(80).Obj()), QueueingHint::kSkip);
  EXPECT_EQ(after_deletion_of(MakePod("b").HostPort(80).NominatedNode("n").Obj()), QueueingHint::kQueue);
  EXPECT_EQ(after_deletion_of(MakePod("b").Sidecar().HostPort(80).Node("n").Obj()), QueueingHint::kQueue);
  EXPECT_EQ(after_deletion_of(MakePod("b").InitContainer().HostPort(80).Node("n").Obj()), QueueingHint::kSkip);
}

TEST(NodePorts, ExplainsWhoHoldsThePort) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodePorts>(handle);
  const framework::PodInfoPtr pod = MakePod("p").HostPort(80).HostPort(81).HostPort(90, "UDP").Info();
  const framework::NodeInfo node =
      MakeNode("n").Info({MakePod("web").HostPort(80).Info(), MakePod("dns").HostPort(90, "UDP").Info()});
  const std::vector<std::string> findings = {"port 80/TCP | free | default/web | port 80/TCP is taken by default/web",
                                             "port 90/UDP | free | default/dns | port 90/UDP is taken by default/dns"};
  EXPECT_EQ(testing::FindingsOf(*plugin, *pod, node), findings);
  const std::vector<framework::Remedy> remedies = testing::RemediesOf(*plugin, *pod, node);
  ASSERT_EQ(remedies.size(), 1u);
  EXPECT_EQ(testing::TextOf(remedies[0]), "no host port 80/TCP and no host port 90/UDP");
  EXPECT_TRUE(testing::Judge(*plugin, *testing::ChangedPod(remedies[0]), node).ok());
}

}  // namespace
}  // namespace berth::plugins
