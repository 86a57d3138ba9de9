// The gate DRANodeAllocatableResources: devices that take of the node's cpu and memory.
#include <gtest/gtest.h>

#include "dra/testing/devices.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::Status;
using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;

api::Quantity Amount(std::string_view text) { return *api::Quantity::Parse(text); }

class NodeAllocatableTest : public ::testing::Test {
 protected:
  NodeAllocatableTest() {
    EXPECT_TRUE(handle_.gates().Set("DRANodeAllocatableResources", true).ok());
    handle_.Add(*dra::testing::MakeClass("gpu"));
    handle_.Add(*dra::testing::MakeClaim("c", {dra::testing::MakeRequest("r", 1)}));
    plugin_ = MakePlugin<DynamicResources>(handle_);
  }
  // One device on node n.
  void AddDevice(const api::Device& device, const std::string& slice = "n-slice") {
    auto made = dra::testing::MakeSlice("n", {device});
    made->metadata.name = slice;
    handle_.Add(*made);
  }
  static api::Device Taking(const std::string& resource, const std::string& amount) {
    api::Device device = dra::testing::MakeDevice("g0");
    device.node_allocatable_resource_mappings[Symbol(resource)].allocation_multiplier = Amount(amount);
    return device;
  }
  // A pod that asks for `cpu`, and whose container says that it uses the claim.
  static testing::PodBuilder Pod(const std::string& cpu, bool container_uses_claim = true) {
    testing::PodBuilder pod = MakePod("p").Request("cpu", cpu).ResourceClaim("gpu", "c");
    if (container_uses_claim) pod.raw().spec.containers[0].resources.claims = {{"gpu", ""}};
    return pod;
  }
  Status Filter(const framework::PodInfoPtr& pod, const framework::NodeInfo& node) {
    state_ = framework::CycleState();
    const framework::PreFilterResult begun = plugin_->PreFilter(state_, *pod);
    EXPECT_TRUE(begun.status.ok()) << begun.status.Message();
    return plugin_->Filter(state_, *pod, node);
  }
  static framework::NodeInfo Node(const std::vector<framework::PodInfoPtr>& pods = {}) {
    return MakeNode("n").Capacity("cpu", "4").Capacity("memory", "8Gi").Capacity("pods", "10").Info(pods);
  }

  FakeHandle handle_;
  std::unique_ptr<DynamicResources> plugin_;
  framework::CycleState state_;
};

TEST_F(NodeAllocatableTest, WhatDevicesTakeMustFitBesideTheContainers) {
  AddDevice(Taking("cpu", "3"));
  EXPECT_TRUE(Filter(Pod("1").Info(), Node()).ok());
  const Status never = Filter(Pod("2").Info(), Node());
  EXPECT_EQ(never.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(never.Message(), "Insufficient cpu");
  const Status not_now = Filter(Pod("1").Info(), Node({MakePod("other").Request("cpu", "1").Info()}));
  EXPECT_EQ(not_now.code(), Code::kUnschedulable) << "evicting the other pod would help";
  EXPECT_EQ(not_now.Message(), "Insufficient cpu");
}

TEST_F(NodeAllocatableTest, WithoutTheGateDevicesTakeNothing) {
  FakeHandle handle;
  handle.Add(*dra::testing::MakeClass("gpu"));
  handle.Add(*dra::testing::MakeClaim("c", {dra::testing::MakeRequest("r", 1)}));
  handle.Add(*dra::testing::MakeSlice("n", {Taking("cpu", "100")}));
  const auto plugin = MakePlugin<DynamicResources>(handle);
  framework::CycleState state;
  const framework::PodInfoPtr pod = Pod("1").Info();
  ASSERT_TRUE(plugin->PreFilter(state, *pod).status.ok());
  EXPECT_TRUE(plugin->Filter(state, *pod, Node()).ok());
}

TEST_F(NodeAllocatableTest, ConsumedCapacityTimesTheMultiplierIsTaken) {
  api::Device device = dra::testing::MakeDevice("g0");
  device.allow_multiple_allocations = true;
  device.capacity["memory"].value = Amount("8Gi");
  auto& mapping = device.node_allocatable_resource_mappings[Symbol("memory")];
  mapping.capacity_key = "memory";
  mapping.allocation_multiplier = Amount("2");
  // Of a capacity that the allocation has no part in nothing is taken.
  device.node_allocatable_resource_mappings[Symbol("cpu")].capacity_key = "cores";
  AddDevice(device);
  api::DeviceRequest request = dra::testing::MakeRequest("r", 1);
  request.exactly->capacity.emplace().requests["memory"] = Amount("3Gi");
  handle_.Add(*dra::testing::MakeClaim("c", {request}));
  ASSERT_TRUE(Filter(Pod("1").Info(), Node()).ok());
  const NodeAllocation& here = plugin_->ClaimsOf(state_)->nodes.at("n");
  ASSERT_EQ(here.node_allocatable.size(), 1u);
  EXPECT_EQ(here.node_allocatable[0].resource_claim_name, "c");
  EXPECT_EQ(here.node_allocatable[0].resources.size(), 1u);
  EXPECT_EQ(here.node_allocatable[0].resources.Find(Symbol("memory"))->ToString(), "6Gi");
  request.exactly->capacity->requests["memory"] = Amount("5Gi");
  handle_.Add(*dra::testing::MakeClaim("c", {request}));
  EXPECT_EQ(Filter(Pod("1").Info(), Node()).Message(), "Insufficient memory");
}

TEST_F(NodeAllocatableTest, ACapacityThatIsNotSharedIsAnError) {
  api::Device device = dra::testing::MakeDevice("g0");
  device.capacity["memory"].value = Amount("8Gi");
  device.node_allocatable_resource_mappings[Symbol("memory")].capacity_key = "memory";
  AddDevice(device);
  const Status status = Filter(Pod("1").Info(), Node());
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.Message(),
            "claim default/c, device g0: ConsumedCapacity is nil, but Capacity key 'memory' is set in "
            "NodeAllocatableResourceMappings for resource memory");
}

TEST_F(NodeAllocatableTest, SomeContainerMustUseTheClaim) {
  AddDevice(Taking("cpu", "1"));
  const Status status = Filter(Pod("1", /*container_uses_claim=*/false).Info(), Node());
  EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(status.Message(),
            "claim c: node-allocatable resource claim not referenced by any container within the pod");
}

TEST_F(NodeAllocatableTest, APodLevelRequestMustCoverTheDevices) {
  AddDevice(Taking("cpu", "2"));
  testing::PodBuilder pod = Pod("1");
  pod.raw().spec.resources.emplace().requests.Set(Symbol("cpu"), Amount("2"));
  EXPECT_EQ(Filter(pod.Info(), Node()).Message(),
            "pod level request for cpu is insufficient to cover the aggregated container and node-allocatable DRA "
            "requests");
  pod.raw().spec.resources->requests.Set(Symbol("cpu"), Amount("3"));
  EXPECT_TRUE(Filter(pod.Info(), Node()).ok());
}

TEST_F(NodeAllocatableTest, DevicesAreFoundByPoolAndNameWhicheverTheirDriver) {
  AddDevice(Taking("cpu", "1"));
  // The same pool and device of another driver, in a slice that comes first.
  auto other = dra::testing::MakeSlice("n", {Taking("cpu", "4")});
  other->metadata.name = "a-slice";
  other->spec.driver = "aaa.example.com";
  handle_.Add(*other);
  api::DeviceRequest request = dra::testing::MakeRequest("r", 1, "device.driver == \"gpu.example.com\"");
  handle_.Add(*dra::testing::MakeClaim("c", {request}));
  EXPECT_EQ(Filter(Pod("1").Info(), Node()).Message(), "Insufficient cpu");
}

TEST_F(NodeAllocatableTest, AnAllocatedClaimIsForOnePodOfANode) {
  api::ResourceClaim claim = *dra::testing::MakeAllocated("c", "n", {"g0"});
  handle_.Add(claim);
  AddDevice(Taking("cpu", "1"));
  const auto user = [](const char* name) {
    testing::PodBuilder pod = MakePod(name);
    pod.raw().status.node_allocatable_resource_claim_statuses = {{"c", {"x"}, {}}};
    return pod.Info();
  };
  EXPECT_TRUE(Filter(Pod("1").Info(), Node()).ok());
  EXPECT_TRUE(Filter(Pod("1").Info(), Node({user("p")})).ok()) << "itself";
  EXPECT_EQ(Filter(Pod("1").Info(), Node({user("q")})).Message(),
            "node allocatable resource claim c is already used by another pod");
  EXPECT_EQ(Filter(Pod("1").Info(), Node({user("q"), user("r")})).Message(),
            "node allocatable resource claim c shared by multiple pods");
}

TEST_F(NodeAllocatableTest, ThePodCountsWithItsDevicesAndItsStatusIsWrittenAndTakenBack) {
  AddDevice(Taking("cpu", "3"));
  const framework::PodInfoPtr pod = Pod("1").Info();
  ASSERT_TRUE(Filter(pod, Node()).ok());
  const std::shared_ptr<const api::Pod> on_node = plugin_->OnNode(state_, *pod, "n");
  ASSERT_TRUE(on_node);
  framework::PodRequestOptions options;
  options.use_node_allocatable_claims = true;
  EXPECT_EQ(framework::PodInfo::Make(on_node, options)->requests().milli_cpu, 4000);
  EXPECT_FALSE(plugin_->OnNode(state_, *pod, "another"));

  ASSERT_TRUE(plugin_->Reserve(state_, *pod, "n").ok());
  ASSERT_TRUE(plugin_->PreBind(handle_, state_, *pod, "n").ok());
  ASSERT_EQ(handle_.api().node_allocatable.size(), 1u);
  ASSERT_EQ(handle_.api().node_allocatable[0].size(), 1u);
  EXPECT_EQ(handle_.api().node_allocatable[0][0].containers, pod->pod().spec.containers.size() == 1
                                                                 ? std::vector{pod->pod().spec.containers[0].name}
                                                                 : std::vector<std::string>());
  plugin_->Unreserve(state_, *pod, "n");
  ASSERT_EQ(handle_.api().node_allocatable.size(), 2u);
  EXPECT_TRUE(handle_.api().node_allocatable[1].empty());

  handle_.cluster().AddNode(MakeNode("m"));
  handle_.cluster().AddPod(Pod("1").Node("m"));
  plugin_->Unreserve(state_, *pod, "n");
  EXPECT_EQ(handle_.api().node_allocatable.size(), 2u) << "it is bound";
}

TEST_F(NodeAllocatableTest, WhatAnEarlierAttemptLeftInTheStatusIsVoid) {
  testing::PodBuilder pod = MakePod("p").Request("cpu", "1");
  pod.raw().status.node_allocatable_resource_claim_statuses = {{"c", {"x"}, {}}};
  const std::shared_ptr<const api::Pod> on_node = plugin_->OnNode(state_, *pod.Info(), "n");
  ASSERT_TRUE(on_node);
  EXPECT_TRUE(on_node->status.node_allocatable_resource_claim_statuses.empty());
}

}  // namespace
}  // namespace berth::plugins
