#include "testing/builders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(PodBuilder, DefaultsAndIdentity) {
  EXPECT_EQ(MakePod("web").Obj().metadata.uid, "default/web");
  EXPECT_EQ(MakePod("web").Namespace("team").Obj().metadata.uid, "team/web");
  EXPECT_EQ(MakePod("web").Uid("7").Obj().metadata.uid, "7");
  EXPECT_EQ(MakePod("web").Uid("").Obj().metadata.uid, "");
}

TEST(PodBuilder, RequestsGoToTheContainerBegunLast) {
  const api::Pod pod = MakePod("web")
                           .Request("cpu", "1")
                           .Limit("cpu", "2")
                           .Sidecar("proxy:1")
                           .Request("cpu", "3")
                           .Container("app:2")
                           .Request("memory", "1Gi")
                           .HostPort(80)
                           .Obj();
  ASSERT_THAT(pod.spec.containers, SizeIs(2));
  ASSERT_THAT(pod.spec.init_containers, SizeIs(1));
  EXPECT_EQ(*pod.spec.containers[0].resources.requests.Find(Symbol("cpu")), Amount("1"));
  EXPECT_EQ(*pod.spec.containers[0].resources.limits.Find(Symbol("cpu")), Amount("2"));
  EXPECT_EQ(*pod.spec.init_containers[0].resources.requests.Find(Symbol("cpu")), Amount("3"));
  EXPECT_EQ(pod.spec.init_containers[0].restart_policy, "Always");
  EXPECT_EQ(pod.spec.containers[1].image, "app:2");
  EXPECT_THAT(pod.spec.containers[1].ports, SizeIs(1));
}

TEST(PodBuilder, NodeAffinityConditionsShareATermUntilOr) {
  const api::Pod pod = MakePod("web")
                           .NodeAffinityIn("zone", {"a", "b"})
                           .NodeAffinityExists("ssd")
                           .OrNodeAffinity()
                           .NodeNameIn({"n1"})
                           .PreferredNodeAffinity(5, "arch", {"arm64"})
                           .Obj();
  const api::NodeAffinity& affinity = *pod.spec.affinity->node_affinity;
  const auto& terms = affinity.required_during_scheduling_ignored_during_execution->node_selector_terms;
  ASSERT_THAT(terms, SizeIs(2));
  EXPECT_THAT(terms[0].match_expressions, SizeIs(2));
  EXPECT_THAT(terms[0].match_expressions[0].values, ElementsAre(Symbol("a"), Symbol("b")));
  EXPECT_THAT(terms[1].match_fields, SizeIs(1));
  EXPECT_EQ(affinity.preferred_during_scheduling_ignored_during_execution[0].weight, 5);
}

TEST(PodBuilder, ABareTolerationToleratesTheWholeKey) {
  const api::Pod pod = MakePod("web").Tolerate("gpu").Tolerate("team", "a", "NoSchedule").Obj();
  EXPECT_EQ(pod.spec.tolerations[0].op, api::TolerationExists());
  EXPECT_EQ(pod.spec.tolerations[1].op, "");
  EXPECT_EQ(pod.spec.tolerations[1].value, "a");
}

TEST(PodBuilder, VolumesAndSpread) {
  const api::Pod pod = MakePod("web").Pvc("data").SpreadConstraint(1, "zone", "DoNotSchedule", {{"app", "web"}}).Obj();
  EXPECT_EQ(pod.spec.volumes[0].from().persistent_volume_claim->claim_name, "data");
  EXPECT_EQ(pod.spec.topology_spread_constraints[0].label_selector, SelectorOf({{"app", "web"}}));
}

TEST(NodeBuilder, CapacityIsAllocatable) {
  const api::Node node = MakeNode("n").Capacity("cpu", "4").Allocatable("cpu", "3").Taint("gpu").Obj();
  EXPECT_EQ(*node.status.capacity.Find(Symbol("cpu")), Amount("4"));
  EXPECT_EQ(*node.status.allocatable.Find(Symbol("cpu")), Amount("3"));
  EXPECT_EQ(*node.status.allocatable.Find(Symbol("pods")), Amount("110"));
  EXPECT_EQ(node.spec.taints[0].effect, api::NoSchedule());
}

TEST(ObjectBuilders, BoundVolumesPointAtEachOther) {
  const api::PersistentVolume volume = MakePv("pv", {.storage_class = "fast",
                                                     .claim_namespace = "default",
                                                     .claim_name = "data",
                                                     .node_label = "zone",
                                                     .node_label_values = {"a"},
                                                     .csi_driver = "test.csi.io"});
  const api::PersistentVolumeClaim claim = MakePvc("data", {.storage_class = "fast", .volume_name = "pv"});
  EXPECT_EQ(volume.spec.claim_ref->uid, claim.metadata.uid);
  EXPECT_EQ(volume.status.phase, "Bound");
  EXPECT_EQ(claim.status.phase, "Bound");
  EXPECT_EQ(volume.spec.source.csi->volume_handle, "pv");
  EXPECT_EQ(MakePv("free").status.phase, "Available");
  EXPECT_EQ(MakeCsiNode("n", "test.csi.io", 3).spec.drivers[0].allocatable->count, 3);
  EXPECT_EQ(MakeStorageClass("late", "WaitForFirstConsumer").volume_binding_mode, "WaitForFirstConsumer");
  EXPECT_EQ(MakeService("s", {{"app", "web"}}).spec.selector, LabelsOf({{"app", "web"}}));
  EXPECT_EQ(MakePdb("b", {{"app", "web"}}, 2).status.disruptions_allowed, 2);
}

TEST(BuildersDeathTest, ABadQuantityStopsTheTest) {
  EXPECT_DEATH(MakePod("web").Request("cpu", "lots"), "not a quantity: lots");
}

}  // namespace
}  // namespace berth::testing
