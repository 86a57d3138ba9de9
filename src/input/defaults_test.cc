#include "input/defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/node.h"
#include "api/pod.h"
#include "api/storage.h"
#include "testing/builders.h"

namespace berth::input {
namespace {

using berth::testing::MakeNamespace;
using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::MakePvc;

template <class T>
T Defaulted(T value) {
  const api::Object completed = WithDefaults(api::MakeObject(std::move(value)));
  return *completed.As<T>();
}

std::string Amount(const api::ResourceList& list, std::string_view name) {
  const api::Quantity* found = list.Find(Symbol(name));
  return found ? found->ToString() : "none";
}

TEST(Defaults, ANodeWithoutAllocatableOffersItsCapacity) {
  api::Node node = MakeNode("a").Capacity("cpu", "4").Obj();
  node.status.allocatable = {};
  EXPECT_EQ(Amount(Defaulted(node).status.allocatable, "cpu"), "4");

  node.status.allocatable.Set(Symbol("cpu"), api::Quantity::FromInt(3));
  EXPECT_EQ(Amount(Defaulted(node).status.allocatable, "cpu"), "3");
  EXPECT_EQ(Amount(Defaulted(node).status.allocatable, "pods"), "none");
}

TEST(Defaults, RequestsFollowLimits) {
  const api::Pod pod = Defaulted(MakePod("p")
                                     .InitContainer()
                                     .Limit("cpu", "3")
                                     .Container()
                                     .Limit("cpu", "2")
                                     .Limit("memory", "1Gi")
                                     .Request("cpu", "1")
                                     .Obj());
  EXPECT_EQ(Amount(pod.spec.init_containers[0].resources.requests, "cpu"), "3");
  EXPECT_EQ(Amount(pod.spec.containers[0].resources.requests, "cpu"), "1");
  EXPECT_EQ(Amount(pod.spec.containers[0].resources.requests, "memory"), "1Gi");
}

TEST(Defaults, PodLevelRequestsFollowTheContainersThenTheLimits) {
  auto builder = MakePod("p").Request("cpu", "1");
  builder.Container().Request("cpu", "2");
  api::ResourceRequirements& resources = builder.raw().spec.resources.emplace();
  EXPECT_EQ(Amount(Defaulted(builder.Obj()).spec.resources->requests, "cpu"), "none");

  resources.limits = {{Symbol("cpu"), api::Quantity::FromInt(8)}, {Symbol("memory"), api::Quantity::FromInt(64)}};
  const api::Pod pod = Defaulted(builder.Obj());
  EXPECT_EQ(Amount(pod.spec.resources->requests, "cpu"), "3");
  EXPECT_EQ(Amount(pod.spec.resources->requests, "memory"), "64");
}

TEST(Defaults, PortsHaveAProtocolAndShowOnTheHostsNetwork) {
  auto builder = MakePod("p").Container();
  builder.raw().spec.containers[0].ports = {{.container_port = 80}, {.host_port = 9, .protocol = "UDP"}};
  EXPECT_EQ(Defaulted(builder.Obj()).spec.containers[0].ports[0].protocol, "TCP");
  EXPECT_EQ(Defaulted(builder.Obj()).spec.containers[0].ports[0].host_port, 0);
  builder.raw().spec.host_network = true;
  const api::Pod pod = Defaulted(builder.Obj());
  EXPECT_EQ(pod.spec.containers[0].ports[0].host_port, 80);
  EXPECT_EQ(pod.spec.containers[0].ports[1].host_port, 9);
  EXPECT_EQ(pod.spec.containers[0].ports[1].protocol, "UDP");
}

TEST(Defaults, NamesStandInForMissingUids) {
  EXPECT_EQ(Defaulted(MakePod("p").Uid("").Obj()).metadata.uid, "default/p");
  EXPECT_EQ(Defaulted(MakePod("p").Uid("u").Obj()).metadata.uid, "u");
  api::PersistentVolumeClaim claim = MakePvc("data");
  claim.metadata.uid.clear();
  claim.status.phase.clear();
  EXPECT_EQ(Defaulted(claim).metadata.uid, "default/data");
  EXPECT_EQ(Defaulted(claim).status.phase, "Pending");
}

TEST(Defaults, TheRestOfWhatSchedulingReads) {
  EXPECT_EQ(Defaulted(MakePod("p").Obj()).spec.scheduler_name, "default-scheduler");
  EXPECT_EQ(*Defaulted(MakeNamespace("shop")).metadata.labels.Find(Symbol("kubernetes.io/metadata.name")),
            Symbol("shop"));
  EXPECT_EQ(Defaulted(api::StorageClass{}).volume_binding_mode, "Immediate");
}

}  // namespace
}  // namespace berth::input
