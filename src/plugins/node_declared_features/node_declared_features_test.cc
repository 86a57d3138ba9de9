#include "plugins/node_declared_features/node_declared_features.h"

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

testing::PodBuilder RestartingPod() {
  testing::PodBuilder pod = MakePod("restarting").Container("c");
  pod.raw().spec.containers[0].restart_policy_rules = {{"RestartAllContainers"}};
  return pod;
}

testing::PodBuilder UserNamespacePod() {
  testing::PodBuilder pod = MakePod("userns").HostNetwork();
  pod.raw().spec.host_users = false;
  return pod;
}

TEST(NodeDeclaredFeatures, NodeMustDeclareWhatThePodNeeds) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeDeclaredFeatures>(handle);
  const framework::NodeInfo plain = MakeNode("plain").DeclaredFeature("Unheard").Info();
  const framework::NodeInfo restarts =
      MakeNode("restarts").DeclaredFeature("RestartAllContainersOnContainerExits").Info();
  const framework::NodeInfo userns = MakeNode("userns").DeclaredFeature("UserNamespacesHostNetworkSupport").Info();

  framework::CycleState state;
  const framework::PodInfoPtr restarting = RestartingPod().Info();
  ASSERT_TRUE(plugin->PreFilter(state, *restarting).status.ok());
  EXPECT_TRUE(plugin->Filter(state, *restarting, restarts).ok());
  const framework::Status missing = plugin->Filter(state, *restarting, plain);
  EXPECT_EQ(missing.code(), framework::Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(missing.Message(), "node(s) didn't match Pod's required features");

  const framework::PodInfoPtr user_namespace = UserNamespacePod().Info();
  ASSERT_TRUE(plugin->PreFilter(state, *user_namespace).status.ok());
  EXPECT_TRUE(plugin->Filter(state, *user_namespace, userns).ok());
  EXPECT_FALSE(plugin->Filter(state, *user_namespace, restarts).ok());
}

TEST(NodeDeclaredFeatures, SkipsPodsWithoutNeedsAndEveryPodWithoutTheGate) {
  FakeHandle handle;
  framework::CycleState state;
  const auto on = MakePlugin<NodeDeclaredFeatures>(handle);
  EXPECT_TRUE(on->PreFilter(state, *MakePod("a").HostNetwork().Info()).status.IsSkip());

  for (const char* gate : {"InPlacePodLevelResourcesVerticalScaling", "NodeDeclaredFeatures"}) {
    ASSERT_TRUE(handle.gates().Set(gate, false).ok());
  }
  const auto off = MakePlugin<NodeDeclaredFeatures>(handle);
  EXPECT_TRUE(off->PreFilter(state, *RestartingPod().Info()).status.IsSkip());
  EXPECT_TRUE(off->EventsToRegister().empty());
}

TEST(NodeDeclaredFeatures, WakesUpWhenFeaturesOrNeedsChange) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeDeclaredFeatures>(handle);
  const framework::PodInfoPtr pod = RestartingPod().Info();
  const api::Node before = MakeNode("n").Obj();
  const api::Node after = MakeNode("n").DeclaredFeature("RestartAllContainersOnContainerExits").Obj();
  EXPECT_EQ(AskHint(*plugin, EventResource::kNode, *pod, {}, &before), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kNode, *pod, &before, &after), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kNode, *pod, &after, &after), QueueingHint::kSkip);

  const api::Pod needs = RestartingPod().Obj();
  const api::Pod no_more = MakePod("restarting").Container("c").Obj();
  EXPECT_EQ(AskHint(*plugin, EventResource::kPod, *pod, &needs, &no_more), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kPod, *pod, &needs, &needs), QueueingHint::kSkip);
}

}  // namespace
}  // namespace berth::plugins
