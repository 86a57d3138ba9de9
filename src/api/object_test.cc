#include "api/object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/coordination.h"
#include "api/envelope.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/policy.h"
#include "api/workload.h"
#include "codec/protobuf.h"
#include "codec/protobuf_wire.h"
#include "codec/yaml.h"

namespace berth::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Decodes one document.
Result<DecodedObjects> FromYaml(std::string_view text, const ObjectOptions& options = {.strict = true}) {
  Result<std::vector<codec::Document>> documents = codec::ParseYaml(text, "f.yaml");
  if (!documents) return documents.error();
  return DecodeObjects(documents->at(0), options);
}

std::string ErrorOf(std::string_view text, const ObjectOptions& options = {.strict = true}) {
  Result<DecodedObjects> decoded = FromYaml(text, options);
  return decoded ? "no error" : decoded.error().message;
}

std::vector<std::string> KeysOf(const DecodedObjects& decoded) {
  std::vector<std::string> keys;
  for (const LocatedObject& found : decoded.objects) {
    keys.push_back(std::string(found.object.info().name) + " " + KeyOf(found.object.metadata()));
  }
  return keys;
}

TEST(KindRegistry, EveryKindIsFoundUnderEachOfItsVersions) {
  EXPECT_EQ(AllKinds().size(), kKindCount);
  for (const KindInfo& info : AllKinds()) {
    EXPECT_EQ(&InfoOf(info.kind), &info);
    EXPECT_FALSE(info.resource.empty());
    for (std::string_view version : info.api_versions) EXPECT_EQ(FindKind(version, info.name), &info) << info.name;
    EXPECT_EQ(info.message().name(), info.name);
  }
  EXPECT_EQ(FindKind("apps/v1", "Pod"), nullptr);
  // Its shape differs from events.k8s.io.
  EXPECT_EQ(FindKind("v1", "Event"), nullptr);
}

TEST(DecodeObjects, ReadsAPodAsKubectlPrintsIt) {
  Result<DecodedObjects> decoded = FromYaml(R"(
apiVersion: v1
kind: Pod
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","kind":"Pod"}
    note: kept
  creationTimestamp: "2024-01-31T10:00:00Z"
  labels: {app: web}
  managedFields:
  - apiVersion: v1
    fieldsV1: {f:metadata: {f:labels: {}}}
    manager: kubectl
  name: web-0
  namespace: shop
  ownerReferences:
  - {apiVersion: apps/v1, blockOwnerDeletion: true, controller: true, kind: StatefulSet, name: web, uid: u1}
spec:
  automountServiceAccountToken: false
  containers:
  - env: [{name: A, value: b}]
    image: nginx:1.25
    imagePullPolicy: IfNotPresent
    livenessProbe: {httpGet: {path: /, port: 80}}
    name: web
    ports: [{containerPort: 80, hostPort: 8080, protocol: TCP}]
    resources:
      limits: {memory: 1Gi}
      requests: {cpu: 2, memory: 512Mi}
    terminationMessagePath: /dev/termination-log
    volumeMounts: [{mountPath: /data, name: data}]
  dnsPolicy: ClusterFirst
  nodeName: n1
  priority: 0
  securityContext: {}
  serviceAccount: default
  serviceAccountName: default
  tolerations:
  - {effect: NoExecute, key: node.kubernetes.io/not-ready, operator: Exists, tolerationSeconds: 300}
  volumes:
  - name: data
    persistentVolumeClaim: {claimName: data-web-0}
  - name: kube-api-access
    projected: {defaultMode: 420, sources: []}
status:
  conditions:
  - {lastProbeTime: null, lastTransitionTime: "2024-01-31T10:00:01Z", status: "True", type: PodScheduled}
  containerStatuses:
  - {name: web, ready: true, restartCount: 0, image: nginx, imageID: x, started: true, state: {running: {}}}
  hostIP: 10.0.0.1
  phase: Running
  qosClass: Burstable
)");
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  ASSERT_THAT(decoded->objects, SizeIs(1));
  const Object& object = decoded->objects[0].object;
  EXPECT_EQ(object.kind(), Kind::kPod);
  EXPECT_EQ(object.As<Node>(), nullptr);
  const Pod* pod = object.As<Pod>();
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(object.Share<Pod>().get(), pod);
  EXPECT_EQ(KeyOf(object.metadata()), "shop/web-0");
  EXPECT_THAT(pod->metadata.annotations, SizeIs(1));
  EXPECT_EQ(ControllerOf(pod->metadata)->name, "web");
  EXPECT_EQ(pod->spec.containers.at(0).resources.requests.Find(Symbol("cpu"))->MilliValue(), 2000);
  EXPECT_EQ(pod->spec.containers.at(0).ports.at(0).host_port, 8080);
  EXPECT_EQ(pod->spec.tolerations.at(0).op, "Exists");
  ASSERT_THAT(pod->spec.volumes, SizeIs(2));
  EXPECT_EQ(pod->spec.volumes[0].from().persistent_volume_claim->claim_name, "data-web-0");
  EXPECT_EQ(pod->spec.volumes[1].source, nullptr);
  EXPECT_EQ(pod->spec.priority, 0);
}

TEST(DecodeObjects, FlattensListsAndReportsUnknownKinds) {
  Result<DecodedObjects> decoded = FromYaml(R"(apiVersion: v1
kind: List
metadata: {resourceVersion: "77", continue: abc}
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}}
- {apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}
- apiVersion: v1
  kind: PodList
  items:
  - metadata: {name: a}
  - metadata: {name: b, namespace: shop}
- {apiVersion: example.com/v1, kind: GadgetList, items: [{metadata: {name: g}}]}
- {apiVersion: apps/v1, kind: Pod, metadata: {name: wrong-version}}
)");
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_THAT(KeysOf(*decoded), ElementsAre("Node n1", "Pod default/a", "Pod shop/b"));
  EXPECT_EQ(decoded->objects[0].where.line, 5u);
  EXPECT_EQ(decoded->resource_version, "77");
  EXPECT_EQ(decoded->continue_token, "abc");
  std::vector<std::string> unknown;
  for (const UnknownObject& object : decoded->unknown) {
    unknown.push_back(object.api_version + " " + object.kind + " " + object.name + " " +
                      std::to_string(object.where.line));
  }
  EXPECT_THAT(unknown,
              ElementsAre("example.com/v1 Widget w 6", "example.com/v1 Gadget g 12", "apps/v1 Pod wrong-version 13"));
}

TEST(DecodeObjects, AnEmptyTypedListHasNoObjects) {
  for (const char* text : {"{apiVersion: v1, kind: PodList, items: []}", "{apiVersion: v1, kind: PodList, items: null}",
                           "{apiVersion: v1, kind: NodeList}"}) {
    Result<DecodedObjects> decoded = FromYaml(text);
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_THAT(decoded->objects, IsEmpty());
    EXPECT_THAT(decoded->unknown, IsEmpty());
  }
}

struct BadObject {
  const char* what;
  const char* text;
  const char* error;  // the whole text
};

class BadObjectTest : public testing::TestWithParam<BadObject> {};

TEST_P(BadObjectTest, IsRefusedWithFileLineAndField) { EXPECT_EQ(ErrorOf(GetParam().text), GetParam().error); }

INSTANTIATE_TEST_SUITE_P(
    DecodeObjects, BadObjectTest,
    testing::Values(
        BadObject{"NotAnObject", "5", "f.yaml:1:1: expected an object, found number 5"},
        BadObject{"NoType", "metadata: {name: a}",
                  "f.yaml:1:1: apiVersion: missing: every object needs one\n"
                  "f.yaml:1:1: kind: missing: every object needs one"},
        BadObject{"KindIsNumber", "{apiVersion: v1, kind: 5}", "f.yaml:1:24: kind: expected a string, found number 5"},
        BadObject{"NoMetadata", "{apiVersion: v1, kind: Pod}",
                  "f.yaml:1:1: metadata.name: missing: every object needs a name"},
        BadObject{"NoName", "{apiVersion: v1, kind: Pod, metadata: {labels: {a: b}}}",
                  "f.yaml:1:39: metadata.name: missing: every object needs a name"},
        BadObject{"NameIsNumber", "{apiVersion: v1, kind: Pod, metadata: {name: 5}}",
                  "f.yaml:1:46: metadata.name: expected a string, found number 5"},
        BadObject{"GeneratedName", "{apiVersion: v1, kind: Pod, metadata: {generateName: a-}}",
                  "f.yaml:1:39: metadata.name: missing: every object needs a name"},
        BadObject{"NamespaceOnNode", "{apiVersion: v1, kind: Node, metadata: {name: n1, namespace: x}}",
                  "f.yaml:1:62: metadata.namespace: a Node belongs to no namespace"},
        BadObject{"InsideAList", "{apiVersion: v1, kind: List, items: [{kind: Pod}, 7]}",
                  "f.yaml:1:38: items[0].apiVersion: missing: every object needs one\n"
                  "f.yaml:1:51: items[1]: expected an object, found number 7"},
        BadObject{"ListOfNothing", "{apiVersion: v1, kind: List, items: {}}",
                  "f.yaml:1:37: items: expected a list, found an object"},
        BadObject{"ListWithMore", "{apiVersion: v1, kind: List, itms: []}", "f.yaml:1:30: itms: unknown field"}),
    [](const auto& param) { return std::string(param.param.what); });

TEST(DecodeObjects, ReportsEveryMisspeltFieldAndBadValueAtOnce) {
  const std::string error = ErrorOf(R"(apiVersion: v1
kind: Pod
metadata: {name: a, lables: {}}
spec:
  nodeSelektor: {a: b}
  priority: high
  containers:
  - name: c
    resources: {requests: {cpu: much}}
  volumes:
  - name: v
    emptyDirr: {}
    hostPath: {pth: /}
)");
  EXPECT_THAT(error, HasSubstr("f.yaml:3:21: metadata.lables: unknown field"));
  EXPECT_THAT(error, HasSubstr("f.yaml:5:3: spec.nodeSelektor: unknown field"));
  EXPECT_THAT(error, HasSubstr("f.yaml:6:13: spec.priority: expected a 32-bit integer"));
  EXPECT_THAT(error, HasSubstr("f.yaml:9:33: spec.containers[0].resources.requests[cpu]: expected a quantity"));
  EXPECT_THAT(error, HasSubstr("f.yaml:12:5: spec.volumes[0].emptyDirr: unknown field"));
  EXPECT_THAT(error, HasSubstr("f.yaml:13:16: spec.volumes[0].hostPath.pth: unknown field"));
}

TEST(DecodeObjects, LenientDecodingSkipsWhatItDoesNotKnow) {
  Result<DecodedObjects> decoded =
      FromYaml("{apiVersion: v1, kind: Node, metadata: {name: n1, namespace: x}, spec: {shiny: 1}}", {});
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_THAT(KeysOf(*decoded), ElementsAre("Node n1"));
}

TEST(DecodeObjects, GeneratedNamesAreAcceptedOnRequest) {
  Result<DecodedObjects> decoded = FromYaml("{apiVersion: v1, kind: Pod, metadata: {generateName: a-}}",
                                            {.strict = true, .allow_generate_name = true});
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->objects.at(0).object.metadata().generate_name, "a-");
}

TEST(DecodeObjects, AnEmptyBudgetSelectorMeantNothingBeforeV1) {
  auto selector_of = [](std::string_view version) {
    Result<DecodedObjects> decoded =
        FromYaml("{apiVersion: " + std::string(version) +
                 ", kind: PodDisruptionBudget, metadata: {name: b}, spec: {selector: {}}}");
    EXPECT_TRUE(decoded.ok());
    return decoded->objects.at(0).object.As<PodDisruptionBudget>()->spec.selector;
  };
  EXPECT_TRUE(selector_of("policy/v1").has_value());
  EXPECT_FALSE(selector_of("policy/v1beta1").has_value());
}

Object MakePod(const char* name) {
  Pod pod;
  pod.metadata.name = name;
  pod.metadata.namespace_ = Symbol("shop");
  return MakeObject(std::move(pod));
}

TEST(EncodeObject, JsonBeginsWithItsType) {
  EXPECT_EQ(EncodeJson(MakePod("a")), R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop"}})");
  EXPECT_EQ(EncodeJson(MakeObject(Node())), R"({"apiVersion":"v1","kind":"Node"})");
}

TEST(EncodeObject, EventsAndLeasesCarryMicroseconds) {
  Lease lease;
  lease.metadata.name = "berth";
  lease.spec.renew_time = *ParseMicroTime("2024-01-31T10:00:00.123456Z");
  EXPECT_EQ(EncodeJson(MakeObject(lease)),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"berth"},)"
            R"("spec":{"renewTime":"2024-01-31T10:00:00.123456Z"}})");
  Result<DecodedObjects> again = DecodeProtobufObjects(EncodeProtobuf(MakeObject(lease)));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->objects.at(0).object.As<Lease>()->spec.renew_time, lease.spec.renew_time);
}

TEST(ProtobufObjects, ListsAreFlattened) {
  std::string raw;
  codec::WireWriter writer(raw);
  std::string list_meta;
  codec::WireWriter(list_meta).Bytes(2, "42");
  writer.Bytes(1, list_meta);
  for (const char* name : {"a", "b"}) writer.Bytes(2, codec::EncodeProtobuf(*MakePod(name).As<Pod>()));
  Result<DecodedObjects> decoded =
      DecodeProtobufObjects(SealEnvelope({.api_version = "v1", .kind = "PodList", .raw = raw}));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_THAT(KeysOf(*decoded), ElementsAre("Pod shop/a", "Pod shop/b"));
  EXPECT_EQ(decoded->resource_version, "42");
}

TEST(ProtobufObjects, ATimeThatIsNotSetIsAbsent) {
  // Go writes metadata.creationTimestamp of a template as an empty message.
  const std::string meta("\x0a\x01t\x42\x00", 5);
  ObjectMeta decoded;
  ASSERT_TRUE(codec::DecodeProtobuf(meta, decoded).ok());
  EXPECT_EQ(decoded.name, "t");
  EXPECT_FALSE(decoded.creation_timestamp.has_value());
}

TEST(ProtobufObjects, UnknownKindsAreReported) {
  Result<DecodedObjects> decoded =
      DecodeProtobufObjects(SealEnvelope({.api_version = "v1", .kind = "Secret", .raw = ""}));
  ASSERT_TRUE(decoded.ok());
  ASSERT_THAT(decoded->unknown, SizeIs(1));
  EXPECT_EQ(decoded->unknown[0].kind, "Secret");
}

TEST(ProtobufObjects, BadEnvelopesAreRefused) {
  const std::string good = EncodeProtobuf(MakePod("a"));
  std::string gzipped = good;
  codec::WireWriter(gzipped).Bytes(3, "gzip");
  std::string json = good;
  codec::WireWriter(json).Bytes(4, "application/json");
  for (const std::string& bad : {std::string(), std::string("k8s"), std::string("{}"), good.substr(0, good.size() - 1),
                                 gzipped, json, SealEnvelope({.api_version = "v1", .kind = "Pod", .raw = ""})}) {
    EXPECT_FALSE(DecodeProtobufObjects(bad).ok());
  }
}

TEST(VolumeSource, IsKeptOnlyWhereSchedulingLooksAtIt) {
  // A config map arrives as a source of which nothing is kept: the volume must not have an empty one.
  std::string source;
  codec::WireWriter(source).Bytes(19, "\x0a\x01x");
  std::string volume;
  codec::WireWriter writer(volume);
  writer.Bytes(1, "config");
  writer.Bytes(2, source);
  Volume decoded;
  ASSERT_TRUE(codec::DecodeProtobuf(volume, decoded).ok());
  EXPECT_EQ(decoded.name, "config");
  EXPECT_EQ(decoded.source, nullptr);
  EXPECT_FALSE(decoded.from().csi.has_value());
}

}  // namespace
}  // namespace berth::api
