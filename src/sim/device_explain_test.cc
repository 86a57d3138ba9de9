// Why devices do not satisfy a claim, and what would help: every reason with the facts behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "input/input.h"
#include "plugins/registry.h"
#include "report/report.h"
#include "sim/simulation.h"

namespace berth::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kNode[] = R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", pods: "20"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
)";

class DeviceExplainTest : public ::testing::Test {
 protected:
  // The slice of n1 with these devices.
  static std::string Slice(const std::string& devices) {
    return "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s1}\nspec:\n  driver: "
           "gpu.example.com\n  nodeName: n1\n  pool: {name: n1, generation: 1, "
           "resourceSliceCount: 1}\n  devices: [" +
           devices + "]\n---\n";
  }
  // A pod with a claim of its own; `request` is inside `exactly`.
  static std::string Pod(const std::string& name, const std::string& request, const std::string& claim = "") {
    return "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name +
           "-gpu}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu" + request + "}}]" + claim +
           "}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           "}\nspec: {resourceClaims: [{name: g, resourceClaimName: " + name +
           "-gpu}], containers: [{name: c, image: i}]}\n---\n";
  }

  void Run(const std::string& text) {
    Result<input::ClusterInput> input = input::ReadClusterTexts({{.name = "f.yaml", .text = kNode + text}}, {}, 1);
    ASSERT_TRUE(input.ok()) << input.error().message;
    auto made = Simulation::Create(input->objects, configuration_, plugins::InTreeRegistry(), gates_,
                                   {.verify_incremental = true, .explain = {"default/p"}});
    ASSERT_TRUE(made) << made.error().message;
    report_ = (*made)->Run();
    ASSERT_EQ(report_.explanations.size(), 1u);
  }
  std::string Detail() const {
    std::string text;
    for (const explain::NodeVerdict& verdict : report_.explanations[0].nodes) {
      for (const explain::NodeRejection& rejection : verdict.rejections) text += rejection.Detail();
    }
    return text;
  }
  std::vector<std::string> Remedies() const {
    std::vector<std::string> texts;
    for (const explain::ProvenRemedy& remedy : report_.explanations[0].remedies) {
      std::string text = remedy.node + ":";
      for (const std::string& change : remedy.changes) text += " " + change;
      texts.push_back(text);
    }
    return texts;
  }

  config::FeatureGates gates_;
  config::KubeSchedulerConfiguration configuration_ = config::DefaultConfiguration(gates_);
  SimulationReport report_;
};

TEST_F(DeviceExplainTest, WhoHasTheDevicesAndHowManyFewerWouldDo) {
  Run(Slice("{name: g0}, {name: g1}") + Pod("a", "") + Pod("p", ", count: 2"));
  EXPECT_EQ(Detail(),
            "claim default/p-gpu, request r: needs 2 of class gpu, 1 of 2 will do; g0: taken by claim default/a-gpu "
            "(pod a)");
  EXPECT_THAT(Remedies(), ElementsAre("n1: claim p-gpu, request r: count 2 -> 1"));
}

TEST_F(DeviceExplainTest, SelectorsWithTheValuesTheySaw) {
  Run(Slice("{name: g0, attributes: {model: {string: a100}}, capacity: {memory: {value: 40Gi}}}, {name: g1}") +
      Pod("p",
          R"(, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].?model.orValue("") == "h100"'}}])"));
  EXPECT_THAT(Detail(), HasSubstr("0 of 2 will do"));
  EXPECT_THAT(Detail(), HasSubstr("g0: request selector `device.attributes[\"gpu.example.com\"].?model.orValue(\"\") "
                                  "== \"h100\"` is false: model = \"a100\""));
  EXPECT_THAT(Detail(), HasSubstr("g1: request selector"));
  EXPECT_THAT(Detail(), HasSubstr("is false: no attribute model"));
  EXPECT_THAT(Remedies(), ElementsAre(HasSubstr("n1: claim p-gpu, request r: no selector `device.attributes")));
}

TEST_F(DeviceExplainTest, ASelectorThatFailsIsToldWithTheDeviceAndWhatItHas) {
  Run(Slice("{name: g0, attributes: {model: {string: a100}}, capacity: {memory: {value: 40Gi}}}") +
      Pod("p", R"(, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].numa == 0'}}])"));
  const explain::Explanation& told = report_.explanations[0];
  EXPECT_THAT(told.message, HasSubstr("CEL runtime error: no such key: numa"));
  EXPECT_THAT(
      told.hints,
      ElementsAre("claim default/p-gpu, request r: the selector `device.attributes[\"gpu.example.com\"].numa == 0` "
                  "fails for device gpu.example.com/n1/g0: no such key: numa; the device has model, memory. A "
                  "failure ends the attempt: ask with has() or .? for what a device may lack"));
  EXPECT_THAT(report::ToText(told), ::testing::Not(HasSubstr("before any node was evaluated")));
}

TEST_F(DeviceExplainTest, WhatDevicesTakeOfTheNodeIsToldWithItsNumbers) {
  ASSERT_TRUE(gates_.Set("DRANodeAllocatableResources", true).ok());
  std::string pod = Pod("p", "");
  pod.replace(pod.find("image: i"), 8, "image: i, resources: {requests: {cpu: 2}, claims: [{name: g}]}");
  Run(Slice("{name: g0, nodeAllocatableResourceMappings: {cpu: {allocationMultiplier: 7}}}") + pod);
  EXPECT_THAT(report_.explanations[0].message, HasSubstr("1 Insufficient cpu"));
  EXPECT_THAT(Detail(), HasSubstr("cpu"));
  EXPECT_THAT(Detail(), HasSubstr("9"));
  EXPECT_THAT(Detail(), HasSubstr("8"));
}

TEST_F(DeviceExplainTest, TaintsThatAreNotTolerated) {
  Run(Slice("{name: g0, taints: [{key: broken, value: fan, effect: NoSchedule}]}") + Pod("p", ""));
  EXPECT_EQ(Detail(),
            "claim default/p-gpu, request r: needs 1 of class gpu, 0 of 1 will do; g0: taint broken=fan:NoSchedule is "
            "not tolerated");
  EXPECT_THAT(Remedies(), ElementsAre("n1: claim p-gpu, request r: tolerate broken=fan:NoSchedule"));
}

TEST_F(DeviceExplainTest, ConstraintsThatNoChoiceMeets) {
  Run(Slice("{name: g0, attributes: {numa: {int: 0}}}, {name: g1, attributes: {numa: {int: 1}}}") +
      Pod("p", ", count: 2", ", constraints: [{matchAttribute: gpu.example.com/numa}]"));
  EXPECT_THAT(Detail(), HasSubstr("2 of 2 will do; claim default/p-gpu: matchAttribute gpu.example.com/numa holds for "
                                  "no choice of devices; g0: numa = 0; g1: numa = 1"));
  EXPECT_THAT(Remedies(), ElementsAre("n1: claim p-gpu, request r: count 2 -> 1",
                                      "n1: claim p-gpu: no matchAttribute gpu.example.com/numa"));
}

TEST_F(DeviceExplainTest, CountersThatAreUsedUp) {
  const std::string half = "consumesCounters: [{counterSet: c, counters: {memory: {value: 60Gi}}}]";
  // Counters are in a slice of their own, as the API server requires.
  std::string devices = Slice("{name: g0, " + half + "}, {name: g1, " + half + "}");
  std::string counters =
      "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s2}\nspec:\n  driver: "
      "gpu.example.com\n  nodeName: n1\n  pool: {name: n1, generation: 1, resourceSliceCount: 2}\n"
      "  sharedCounters: [{name: c, counters: {memory: {value: 80Gi}}}]\n---\n";
  devices.replace(devices.find("Count: 1"), 8, "Count: 2");
  Run(devices + counters + Pod("a", "") + Pod("p", ""));
  EXPECT_THAT(Detail(), HasSubstr("g0: taken by claim default/a-gpu (pod a); g1: counter memory of c: needs 60Gi, 20Gi "
                                  "left of 80Gi"));
  EXPECT_THAT(Remedies(), ElementsAre());
}

TEST_F(DeviceExplainTest, CapacityThatIsNotLeft) {
  Run(Slice("{name: g0, allowMultipleAllocations: true, capacity: {memory: {value: 80Gi}}}") +
      Pod("a", ", capacity: {requests: {memory: 60Gi}}") + Pod("p", ", capacity: {requests: {memory: 30Gi}}"));
  EXPECT_THAT(Detail(), HasSubstr("g0: capacity memory: needs 30Gi, 20Gi left of 80Gi"));
}

TEST_F(DeviceExplainTest, ANodeWithoutDevices) {
  Run(Pod("p", ""));
  EXPECT_EQ(Detail(), "claim default/p-gpu, request r: needs 1 of class gpu, the node has none");
}

TEST_F(DeviceExplainTest, TheReportHasTheDevicesOfPlacedPods) {
  Run(Slice("{name: g0}, {name: g1}, {name: g2}") + Pod("a", "") + Pod("p", ", count: 2"));
  ASSERT_EQ(report_.pods.size(), 2u);
  ASSERT_EQ(report_.pods[1].devices.size(), 2u);
  EXPECT_EQ(report_.pods[1].devices[0].device, "g1");
  EXPECT_THAT(report::ToJson(report_), HasSubstr("\"claim\": \"p-gpu\""));
  const std::string table = report::ToTable(report_, {});
  EXPECT_THAT(table, HasSubstr("gpu.example.com: g1, g2"));
  EXPECT_THAT(table, HasSubstr("devices/gpu.example.com"));
  EXPECT_THAT(table, HasSubstr("3 of 3"));
}

}  // namespace
}  // namespace berth::sim
