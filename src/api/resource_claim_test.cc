#include "api/resource_claim.h"

#include <gtest/gtest.h>

#include "api/object.h"
#include "codec/yaml.h"

namespace berth::api {
namespace {

Object ReadYaml(std::string_view text) {
  Result<std::vector<codec::Document>> documents = codec::ParseYaml(text, "f.yaml");
  EXPECT_TRUE(documents.ok());
  Result<DecodedObjects> decoded = DecodeObjects(documents->at(0), {.strict = true});
  EXPECT_TRUE(decoded.ok()) << decoded.error().message;
  return decoded->objects.at(0).object;
}

// Unchanged after a round trip through JSON and through protobuf.
void ExpectRoundTrips(const Object& object) {
  const std::string json = EncodeJson(object);
  EXPECT_EQ(EncodeJson(ReadYaml(json)), json);
  const Result<DecodedObjects> back = DecodeProtobufObjects(EncodeProtobuf(object));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(EncodeJson(back->objects.at(0).object), json);
}

TEST(ResourceClaim, ConfigurationIsKeptAsItCame) {
  const Object object = ReadYaml(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: default}
spec:
  devices:
    requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]
    config:
    - requests: [r]
      opaque: {driver: gpu.example.com, parameters: {b: [1, 2.5, null], a: {deep: "text"}}}
)");
  const ResourceClaim& claim = *object.As<ResourceClaim>();
  ASSERT_EQ(claim.spec.devices.config.size(), 1u);
  EXPECT_EQ(claim.spec.devices.config[0].device_configuration.opaque->parameters.json,
            R"({"b":[1,2.5,null],"a":{"deep":"text"}})");
  ExpectRoundTrips(object);
}

TEST(ResourceClaimTemplate, HoldsASpecOfAClaim) {
  const Object object = ReadYaml(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu, namespace: default}
spec:
  metadata: {labels: {app: web}}
  spec: {devices: {requests: [{name: r, firstAvailable: [{name: big, deviceClassName: gpu, count: 2}]}]}}
)");
  const ResourceClaimTemplate& made = *object.As<ResourceClaimTemplate>();
  EXPECT_EQ(made.spec.spec.devices.requests.at(0).first_available.at(0).count, 2);
  EXPECT_EQ(made.spec.metadata.labels.size(), 1u);
  ExpectRoundTrips(object);
}

TEST(DeviceTaintRule, SelectsDevices) {
  const Object object = ReadYaml(R"(
apiVersion: resource.k8s.io/v1beta2
kind: DeviceTaintRule
metadata: {name: broken}
spec:
  deviceSelector: {driver: gpu.example.com, pool: n1, device: g0}
  taint: {key: health, value: bad, effect: NoExecute}
)");
  const DeviceTaintRule& rule = *object.As<DeviceTaintRule>();
  EXPECT_EQ(*rule.spec.device_selector->device, "g0");
  EXPECT_EQ(rule.spec.taint.effect, "NoExecute");
  ExpectRoundTrips(object);
}

TEST(ResourceClaim, TheFormOfV1beta1BecomesThatOfV1) {
  const Object claim = ReadYaml(R"(
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: gpu, namespace: default}
spec:
  devices:
    requests:
    - {name: one, deviceClassName: gpu, count: 3, allocationMode: ExactCount, selectors: [{cel: {expression: "true"}}]}
    - {name: any, firstAvailable: [{name: big, deviceClassName: gpu}]}
    constraints: [{matchAttribute: gpu.example.com/model}]
)");
  EXPECT_EQ(EncodeJson(claim), EncodeJson(ReadYaml(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: default}
spec:
  devices:
    requests:
    - name: one
      exactly:
        {deviceClassName: gpu, count: 3, allocationMode: ExactCount, selectors: [{cel: {expression: "true"}}]}
    - {name: any, firstAvailable: [{name: big, deviceClassName: gpu}]}
    constraints: [{matchAttribute: gpu.example.com/model}]
)")));
}

TEST(ResourceSlice, TheFormOfV1beta1BecomesThatOfV1) {
  const Object slice = ReadYaml(R"(
apiVersion: resource.k8s.io/v1beta1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - name: g0
    basic: {attributes: {model: {string: a100}}, capacity: {memory: {value: 80Gi}}}
)");
  EXPECT_EQ(EncodeJson(slice), EncodeJson(ReadYaml(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: g0, attributes: {model: {string: a100}}, capacity: {memory: {value: 80Gi}}}
)")));
}

}  // namespace
}  // namespace berth::api
