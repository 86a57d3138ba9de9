// Devices in the input: problems are reported with their position, and nodes can be described with devices.
#include "input/device_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input/input.h"

namespace berth::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDeviceNode[] = R"(apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", pods: "20"}}
---
)";

Result<ClusterInput> ReadText(const std::string& text, InputChanges changes = {}) {
  return ReadClusterTexts({{.name = "f.yaml", .text = kDeviceNode + text}}, std::move(changes), 1);
}

std::string ProblemOf(const std::string& text) {
  const Result<ClusterInput> input = ReadText(text);
  EXPECT_FALSE(input.ok());
  return input ? "" : input.error().message;
}

TEST(DeviceChecks, AnExpressionThatDoesNotCompileIsShownWithACaret) {
  EXPECT_EQ(ProblemOf(R"(apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors:
  - cel: {expression: 'device.driver == gpu'}
)"),
            "f.yaml:11:23: DeviceClass gpu: spec.selectors[0].cel.expression: the expression does not compile: "
            "undeclared reference to 'gpu' (in container '')\n"
            "    device.driver == gpu\n"
            "                     ^");
}

TEST(DeviceChecks, TheCaretStandsUnderTheLineThatIsWrong) {
  EXPECT_THAT(ProblemOf(R"(apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec:
  spec:
    devices:
      requests:
      - name: r
        exactly:
          deviceClassName: gpu
          selectors:
          - cel:
              expression: |-
                device.driver == "ä" &&
                device.nothing
)"),
              HasSubstr("spec.spec.devices.requests[0].exactly.selectors[0].cel.expression: the expression does not "
                        "compile: undefined field 'nothing'\n    device.nothing\n          ^"));
}

TEST(DeviceChecks, ASliceThatAnApiServerWouldRefuse) {
  const std::string told = ProblemOf(R"(apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  sharedCounters: [{name: set, counters: {memory: {value: 80Gi}}}]
  devices:
  - name: a
    attributes: {model: {string: x, int: 3}, nothing: {}, driver: {version: 1.x}}
    taints: [{key: broken, effect: NoSchedul}]
    allNodes: true
  - name: b
    capacity: {memory: {value: 40Gi, requestPolicy: {default: 1Gi}}}
  - name: c
    allowMultipleAllocations: true
    capacity:
      memory: {value: 40Gi, requestPolicy: {default: 1Gi, validRange: {min: 2Gi, max: 80Gi}}}
      slots: {value: 4, requestPolicy: {default: 3, validValues: [1, 2]}}
)");
  for (
      const char* const part :
      {"spec.sharedCounters: expected a slice without devices: counters stand in a slice of their own",
       "f.yaml:16:77: ResourceSlice s: spec.devices[0].attributes[driver].version: expected a semantic version such as "
       "1.2.3, found \"1.x\"",
       "spec.devices[0].attributes[model]: expected one value, as bool, int, string or version, found 2",
       "spec.devices[0].attributes[nothing]: expected one value, as bool, int, string or version, found none",
       "spec.devices[0].taints[0].effect: expected NoSchedule or NoExecute or None, found \"NoSchedul\"",
       "spec.devices[0]: has a nodeName, nodeSelector or allNodes of its own, which counts only with "
       "spec.perDeviceNodeSelection: true",
       "spec.devices[1].capacity[memory].requestPolicy: is only for devices with allowMultipleAllocations: true",
       "spec.devices[2].capacity[memory].requestPolicy.validRange.min: expected at most 1Gi, the default, found 2Gi",
       "spec.devices[2].capacity[memory].requestPolicy.validRange.max: expected at most 40Gi, the capacity, found 80Gi",
       "spec.devices[2].capacity[slots].requestPolicy.default: expected one of validValues, found 3"}) {
    EXPECT_THAT(told, HasSubstr(part));
  }
}

TEST(DeviceChecks, ASliceWhoseDevicesChooseTheirNodesSaysWhich) {
  EXPECT_THAT(ProblemOf(R"(apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  perDeviceNodeSelection: true
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - name: a
  - {name: b, nodeName: n1}
)"),
              HasSubstr("f.yaml:14:5: ResourceSlice s: spec.devices[0]: expected one of nodeName, nodeSelector and "
                        "allNodes, because the slice has perDeviceNodeSelection, found none"));
}

TEST(DeviceChecks, ASliceThatConsumesAnUnknownCounter) {
  const std::string text = R"(apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: counters}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 2}
  sharedCounters: [{name: gpu-0, counters: {memory: {value: 80Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: devices}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 2}
  devices:
  - name: half
    consumesCounters:
    - counterSet: SET
      counters: {COUNTER: {value: 40Gi}}
)";
  const auto with = [&](std::string set, std::string counter) {
    std::string changed = text;
    changed.replace(changed.find("SET"), 3, set);
    changed.replace(changed.find("COUNTER"), 7, counter);
    return changed;
  };
  EXPECT_TRUE(ReadText(with("gpu-0", "memory")).ok());
  EXPECT_THAT(ProblemOf(with("gpu-1", "memory")),
              HasSubstr("f.yaml:25:19: ResourceSlice devices: spec.devices[0].consumesCounters[0].counterSet: no slice "
                        "of pool gpu.example.com/n1 has a counter set \"gpu-1\": did you mean gpu-0?"));
  EXPECT_THAT(ProblemOf(with("gpu-0", "memry")),
              HasSubstr("spec.devices[0].consumesCounters[0].counters[memry]: no slice of pool gpu.example.com/n1 has "
                        "that counter in its set \"gpu-0\": did you mean memory?"));
}

TEST(DeviceChecks, WhatClaimsAndPodsReferToAndIsMissingIsWarnedOf) {
  const Result<ClusterInput> input = ReadText(R"(apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpus}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  resourceClaims:
  - {name: a, resourceClaimTemplateName: ones}
  - {name: b, resourceClaimName: shared}
  containers: [{name: c, image: i}]
)");
  ASSERT_TRUE(input.ok()) << input.error().message;
  const std::string all = fmt::format("{}", fmt::join(input->warnings, "\n"));
  EXPECT_THAT(all, HasSubstr("f.yaml:13:73: ResourceClaimTemplate default/one: "
                             "spec.spec.devices.requests[0].exactly.deviceClassName: device class \"gpus\" does not "
                             "exist: did you mean gpu?"));
  EXPECT_THAT(all, HasSubstr("f.yaml:20:42: Pod default/p: spec.resourceClaims[0].resourceClaimTemplateName: there is "
                             "no ResourceClaimTemplate default/ones, and the pod waits for it: did you mean one?"));
  EXPECT_THAT(all, HasSubstr("there is no ResourceClaim default/shared, and the pod waits for it"));
  EXPECT_THAT(all, HasSubstr("the input has no ResourceSlice at all"));
  EXPECT_THAT(all, HasSubstr("kubectl get resourceclaims,resourceclaimtemplates,resourceslices,deviceclasses -A"));
}

TEST(DeviceChecks, RequestsAndSlicesThatTheApiServerRefuses) {
  const std::string told = ProblemOf(R"(apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests:
    - {name: a}
    - {name: a, exactly: {count: 1, allocationMode: Some}}
    constraints: [{requests: [b], matchAttribute: model}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec: {driver: d, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: x}, {name: x}]}
)");
  for (const char* part :
       {"spec.devices.requests[0]: expected one of exactly and firstAvailable, found neither",
        "spec.devices.requests[1].name: is that of an earlier request",
        "spec.devices.requests[1].exactly.deviceClassName: missing",
        "spec.devices.requests[1].exactly.allocationMode: expected ExactCount or All, found \"Some\"",
        "spec.devices.constraints[0].requests[0]: the claim has no request \"b\"",
        "spec.devices.constraints[0].matchAttribute: expected DOMAIN/NAME",
        "spec: expected one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection, found none",
        "spec.devices[1].name: is that of an earlier device"}) {
    EXPECT_THAT(told, HasSubstr(part));
  }
}

TEST(DeviceChecks, DescribedNodesHaveDevicesAndAClassForThem) {
  InputChanges changes;
  const Result<NodeTemplate> nodes = ParseNodeTemplate(
      "count=2,cpu=4,memory=8Gi,devices=gpu.example.com:3,device.memory=80Gi,device.model=a100,device.numa=1,"
      "device.driver=1.2.3,device.ecc=true");
  ASSERT_TRUE(nodes.ok()) << nodes.error().message;
  changes.nodes = {*nodes};
  const Result<ClusterInput> input = ReadText("", std::move(changes));
  ASSERT_TRUE(input.ok()) << input.error().message;
  std::vector<std::string> names;
  for (const api::Object& object : input->objects) {
    if (const auto* device_class = object.As<api::DeviceClass>()) {
      EXPECT_EQ(device_class->metadata.name, "gpu.example.com");
      EXPECT_EQ(device_class->spec.selectors.at(0).cel->expression, "device.driver == \"gpu.example.com\"");
    }
    const auto* slice = object.As<api::ResourceSlice>();
    if (!slice) continue;
    names.push_back(slice->spec.node_name.value_or(""));
    ASSERT_EQ(slice->spec.devices.size(), 3u);
    const api::Device& device = slice->spec.devices[2];
    EXPECT_EQ(device.capacity.Find("memory")->value.ToString(), "80Gi");
    EXPECT_EQ(device.attributes.Find("model")->string_value, "a100");
    EXPECT_EQ(device.attributes.Find("numa")->int_value, 1);
    EXPECT_EQ(device.attributes.Find("driver")->version_value, "1.2.3");
    EXPECT_EQ(device.attributes.Find("ecc")->bool_value, true);
  }
  EXPECT_THAT(names, ElementsAre("node-1", "node-2"));
}

TEST(DeviceChecks, DescriptionsOfDevicesThatMakeNoSense) {
  struct {
    const char* text;
    const char* told;
  } const cases[] = {
      {"devices=gpu.example.com:0", "devices: expected DRIVER:N with N from 1 to 128"},
      {"devices=:3", "devices: expected DRIVER:N"},
      {"devices=Gpu:3", "devices: bad driver \"Gpu\""},
      {"devices=a:1,devices=a:2", "devices: a is given twice"},
      {"device.memory=80Gi", "device.memory: expected devices=DRIVER:N in front of it, found none"},
      {"devices=a:1,device.x=1,device.x=2", "device.x is given twice"},
      // A likely mistake: a device's amount without the device prefix.
      {"devices=a:1,memory=80Gi", "memory is given twice; what its devices have is said with device.memory=…"},
  };
  for (const auto& test : cases) {
    const Result<NodeTemplate> parsed = ParseNodeTemplate(std::string("cpu=1,memory=1Gi,") + test.text);
    ASSERT_FALSE(parsed.ok()) << test.text;
    EXPECT_THAT(parsed.error().message, HasSubstr(test.told));
  }
}

}  // namespace
}  // namespace berth::input
