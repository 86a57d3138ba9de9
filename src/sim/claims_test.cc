// Devices in simulations: claims from templates, shared claims, extended resources, and what eviction releases.
#include <gtest/gtest.h>

#include <map>

#include "api/object.h"
#include "codec/yaml.h"
#include "config/load.h"
#include "plugins/registry.h"
#include "sim/simulation.h"

namespace berth::sim {
namespace {

constexpr char kNodes[] = R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "8", pods: "20"}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "8", pods: "20"}}}
- apiVersion: resource.k8s.io/v1
  kind: DeviceClass
  metadata: {name: gpu}
  spec:
    extendedResourceName: example.com/gpu
    selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata: {name: s1}
  spec:
    driver: gpu.example.com
    nodeName: n1
    pool: {name: n1, generation: 1, resourceSliceCount: 1}
    devices: [{name: g0}, {name: g1}]
- apiVersion: resource.k8s.io/v1
  kind: ResourceClaimTemplate
  metadata: {name: one-gpu, namespace: default}
  spec:
    spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}
- apiVersion: resource.k8s.io/v1
  kind: ResourceClaim
  metadata: {name: shared, namespace: default, uid: shared}
  spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 2}}]}}
)";

class DevicesInSimulation : public ::testing::Test {
 protected:
  void Add(const std::string& yaml) {
    Result<std::vector<codec::Document>> documents = codec::ParseYaml(yaml, "f.yaml");
    ASSERT_TRUE(documents.ok()) << documents.error().message;
    Result<api::DecodedObjects> decoded = api::DecodeObjects(documents->at(0), {.strict = true});
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    for (const api::LocatedObject& found : decoded->objects) objects_.push_back(found.object);
  }
  // `spec` holds the fields particular to this pod.
  void AddPod(const std::string& name, const std::string& requests, const std::string& spec = "") {
    Add("{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: default, uid: " + name + "}, spec: {" +
        spec + " containers: [{name: c, resources: {requests: {" + requests + "}}}]}}");
  }
  void AddTemplatePod(const std::string& name, const std::string& more = "") {
    AddPod(name, "cpu: 1", more + "resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}],");
  }
  std::map<std::string, std::string> Run() {
    Result<config::KubeSchedulerConfiguration> configuration = config::DefaultConfiguration(gates_);
    Result<std::unique_ptr<Simulation>> made =
        Simulation::Create(objects_, *configuration, plugins::InTreeRegistry(), gates_, {.verify_incremental = true});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    simulation_ = std::move(*made);
    std::map<std::string, std::string> fates;
    for (const PodReport& pod : simulation_->Run().pods) {
      fates[pod.key.substr(pod.key.find('/') + 1)] = pod.outcome == PodOutcome::kScheduled   ? pod.node
                                                     : pod.outcome == PodOutcome::kPreempted ? "evicted"
                                                                                             : "no";
    }
    return fates;
  }
  // Devices by the claim they are allocated to.
  std::map<std::string, std::string> Devices() const {
    std::map<std::string, std::string> devices;
    for (const auto& [key, claim] : simulation_->cluster().objects().resource_claims) {
      if (!claim->status.allocation) continue;
      for (const auto& result : claim->status.allocation->devices.results) devices[key.second] += result.device;
    }
    return devices;
  }

  using Texts = std::map<std::string, std::string>;
  config::FeatureGates gates_;
  std::vector<api::Object> objects_;
  std::unique_ptr<Simulation> simulation_;
};

TEST_F(DevicesInSimulation, TemplatesBecomeClaimsUntilDevicesRunOut) {
  Add(kNodes);
  for (const char* name : {"a", "b", "c"}) AddTemplatePod(name);
  EXPECT_EQ(Run(), (Texts{{"a", "n1"}, {"b", "n1"}, {"c", "no"}}));
  EXPECT_EQ(Devices(), (Texts{{"a-gpu", "g0"}, {"b-gpu", "g1"}}));
}

TEST_F(DevicesInSimulation, PodsShareAClaim) {
  Add(kNodes);
  for (const char* name : {"a", "b"}) {
    AddPod(name, "cpu: 1", "resourceClaims: [{name: gpus, resourceClaimName: shared}],");
  }
  AddTemplatePod("c");
  EXPECT_EQ(Run(), (Texts{{"a", "n1"}, {"b", "n1"}, {"c", "no"}}));
  EXPECT_EQ(Devices(), (Texts{{"shared", "g0g1"}}));
}

TEST_F(DevicesInSimulation, ExtendedResourcesComeFromDevices) {
  Add(kNodes);
  for (const char* name : {"a", "b", "c"}) AddPod(name, "cpu: 1, example.com/gpu: 1");
  EXPECT_EQ(Run(), (Texts{{"a", "n1"}, {"b", "n1"}, {"c", "no"}}));
  EXPECT_EQ(Devices(), (Texts{{"a-extended-resources-1", "g0"}, {"b-extended-resources-1", "g1"}}));
}

TEST_F(DevicesInSimulation, APodWithoutItsTemplateWaits) {
  Add(kNodes);
  AddPod("a", "cpu: 1", "resourceClaims: [{name: gpu, resourceClaimTemplateName: nowhere}],");
  EXPECT_EQ(Run(), (Texts{{"a", "no"}}));
  EXPECT_TRUE(Devices().empty());
}

TEST_F(DevicesInSimulation, AnEvictedPodGivesItsDevicesBack) {
  Add(kNodes);
  // n1 has no cpu left; the important pod evicts one there, whose device then serves another.
  AddTemplatePod("low", "priority: 0, nodeName: '', ");
  EXPECT_EQ(Run(), (Texts{{"low", "n1"}}));
  controllers::ClaimController::ClaimResult claim = simulation_->GetResourceClaim("default", "low-gpu");
  ASSERT_TRUE(claim.ok());
  EXPECT_EQ((*claim)->status.reserved_for.size(), 1u);
  const framework::PodInfoPtr pod = simulation_->cluster().FindPod("low");
  ASSERT_NE(pod, nullptr);
  ASSERT_TRUE(simulation_->Evict(*pod, *pod).ok());
  EXPECT_TRUE(Devices().empty());
  EXPECT_FALSE(simulation_->GetResourceClaim("default", "low-gpu").ok());
}

// With the gate, what a device uses of the node counts as long as the pod runs there.
TEST_F(DevicesInSimulation, DevicesTakeOfTheNodesCpu) {
  ASSERT_TRUE(gates_.Set("DRANodeAllocatableResources", true).ok());
  Add(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "8", pods: "20"}}}
- apiVersion: resource.k8s.io/v1
  kind: DeviceClass
  metadata: {name: gpu}
  spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata: {name: s1}
  spec:
    driver: gpu.example.com
    nodeName: n1
    pool: {name: n1, generation: 1, resourceSliceCount: 1}
    devices:
    - {name: g0, nodeAllocatableResourceMappings: {cpu: {allocationMultiplier: "5"}}}
    - {name: g1, nodeAllocatableResourceMappings: {cpu: {allocationMultiplier: "2"}}}
- apiVersion: resource.k8s.io/v1
  kind: ResourceClaimTemplate
  metadata: {name: one-gpu, namespace: default}
  spec:
    spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}
)");
  const auto add = [&](const std::string& name, const std::string& resources) {
    Add("{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: default, uid: " + name +
        "}, spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}], containers: [{name: c, "
        "resources: "
        "{claims: [{name: gpu}], requests: {" +
        resources + "}}}]}}");
  };
  add("a", "cpu: 1");  // 6 of 8 cpus with its device
  add("b", "cpu: 1");  // it would need 3
  AddPod("c", "cpu: 3");
  AddPod("d", "cpu: 2");
  const std::map<std::string, std::string> fates = Run();
  EXPECT_EQ(fates.at("a"), "n1");
  EXPECT_EQ(fates.at("b"), "no");
  EXPECT_EQ(fates.at("c"), "no");
  EXPECT_EQ(fates.at("d"), "n1");
}

}  // namespace
}  // namespace berth::sim
