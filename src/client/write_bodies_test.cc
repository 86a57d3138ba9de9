#include "client/write_bodies.h"

#include <gtest/gtest.h>

#include "api/envelope.h"
#include "codec/protobuf.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;

const base::Time kNow(1'700'000'000s);

api::Pod MakePod() {
  api::Pod pod;
  pod.metadata.name = "web";
  pod.metadata.namespace_ = Symbol("shop");
  pod.metadata.uid = "u-1";
  return pod;
}

api::PodCondition Condition(std::string status, std::string reason, std::string message) {
  return {"PodScheduled", std::move(status), std::move(reason), std::move(message)};
}

TEST(WriteBodies, Binding) {
  EXPECT_EQ(BindingJson(MakePod(), "node-1"),
            R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u-1"},)"
            R"("target":{"kind":"Node","name":"node-1"}})");
  const std::string bytes = BindingProtobuf(MakePod(), "node-1");
  const Result<api::Envelope> envelope = api::OpenEnvelope(bytes);
  ASSERT_TRUE(envelope.ok());
  EXPECT_EQ(envelope->kind, "Binding");
  codec::WireReader reader(envelope->raw);
  api::ObjectMeta metadata;
  api::ObjectReference target;
  while (reader.Next()) {
    ASSERT_TRUE((reader.number() == 1 ? codec::DecodeProtobuf(reader.bytes(), metadata)
                                      : codec::DecodeProtobuf(reader.bytes(), target))
                    .ok());
  }
  EXPECT_EQ(metadata.uid, "u-1");
  EXPECT_EQ(metadata.namespace_.str(), "shop");
  EXPECT_EQ(target.kind + "/" + target.name, "Node/node-1");
}

TEST(WriteBodies, DeleteIsOnlyForThatPod) {
  EXPECT_EQ(DeleteJson("u-1"), R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u-1"}})");
}

TEST(WriteBodies, PodStatusPatchSaysOnlyWhatChanges) {
  struct Case {
    const char* name;
    std::vector<api::PodCondition> conditions;
    std::string nominated;
    int64_t generation;
    PodStatusChange change;
    std::string expected;
  };
  const api::PodCondition initialized{"Initialized", "True", "", ""};
  const auto failed = Condition("False", "Unschedulable", "0/1 nodes");
  for (
      const Case& c : std::vector<Case>{
          {"new condition",
           {initialized},
           "",
           0,
           {.condition = failed},
           R"({"metadata":{"uid":"u-1"},"status":{"$setElementOrder/conditions":[{"type":"Initialized"},{"type":"PodScheduled"}],)"
           R"("conditions":[{"lastProbeTime":null,"lastTransitionTime":"2023-11-14T22:13:20Z","message":"0/1 nodes",)"
           R"("reason":"Unschedulable","status":"False","type":"PodScheduled"}]}})"},
          {"another message",
           {failed},
           "",
           3,
           {.condition = Condition("False", "Unschedulable", "0/2 nodes")},
           R"({"metadata":{"uid":"u-1"},"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
           R"("conditions":[{"message":"0/2 nodes","observedGeneration":3,"reason":"Unschedulable","status":"False",)"
           R"("type":"PodScheduled"}]}})"},
          {"another status",
           {Condition("True", "", "")},
           "",
           0,
           {.condition = failed},
           R"({"metadata":{"uid":"u-1"},"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
           R"("conditions":[{"lastTransitionTime":"2023-11-14T22:13:20Z","message":"0/1 nodes",)"
           R"("reason":"Unschedulable","status":"False","type":"PodScheduled"}]}})"},
          {"message goes",
           {failed},
           "",
           0,
           {.condition = Condition("False", "Unschedulable", "")},
           R"({"metadata":{"uid":"u-1"},"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
           R"("conditions":[{"message":null,"reason":"Unschedulable","status":"False","type":"PodScheduled"}]}})"},
          {"nominated",
           {failed},
           "",
           0,
           {.condition = failed, .nominated_node_name = "n"},
           R"({"metadata":{"uid":"u-1"},"status":{"nominatedNodeName":"n"}})"},
          {"not nominated any more",
           {},
           "n",
           0,
           {.nominated_node_name = ""},
           R"({"metadata":{"uid":"u-1"},"status":{"nominatedNodeName":null}})"},
          {"nothing new", {failed}, "n", 3, {.condition = failed, .nominated_node_name = "n"}, ""},
          {"nothing at all", {}, "n", 3, {}, ""},
      }) {
    SCOPED_TRACE(c.name);
    api::Pod pod = MakePod();
    pod.metadata.generation = c.generation;
    pod.status.conditions = c.conditions;
    pod.status.nominated_node_name = c.nominated;
    EXPECT_EQ(PodStatusPatch(pod, c.change, kNow), c.expected);
  }
}

// One that arrives after a later one must not overwrite it.
TEST(WriteBodies, PodStatusPatchIsForOneVersion) {
  api::Pod pod = MakePod();
  pod.metadata.resource_version = "7";
  EXPECT_EQ(PodStatusPatch(pod, {.nominated_node_name = "n"}, kNow),
            R"({"metadata":{"resourceVersion":"7","uid":"u-1"},"status":{"nominatedNodeName":"n"}})");
}

TEST(WriteBodies, VolumePatchesNameTheVersionTheyWereDecidedOn) {
  api::PersistentVolume volume;
  volume.metadata.name = "pv";
  volume.metadata.resource_version = "17";
  api::ObjectReference claim;
  claim.kind = "PersistentVolumeClaim";
  claim.namespace_ = Symbol("shop");
  claim.name = "data";
  claim.uid = "u-2";
  claim.api_version = "v1";
  EXPECT_EQ(ClaimRefPatch(volume, claim, {{"pv.kubernetes.io/bound-by-controller", "yes"}}),
            R"({"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":"yes"},"resourceVersion":"17"},)"
            R"("spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"shop","name":"data","uid":"u-2",)"
            R"("apiVersion":"v1"}}})");
  EXPECT_EQ(AnnotationsPatch("9", {{"volume.kubernetes.io/selected-node", ""}}),
            R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":null},"resourceVersion":"9"}})");
}

// A StatefulSet's pod was created again while the patch was on its way.
TEST(WriteBodies, ClaimStatusesWereWrittenOnAnotherPodOfTheSameName) {
  EXPECT_EQ(NodeAllocatableResourceClaimsPatch("u-1", {}),
            R"({"metadata":{"uid":"u-1"},"status":{"nodeAllocatableResourceClaimStatuses":null}})");
  EXPECT_TRUE(ExtendedResourceClaimPatch("u-1", {.resource_claim_name = "c"})
                  .starts_with(R"({"metadata":{"uid":"u-1"},"status":{"extendedResourceClaimStatus":{)"));
}

TEST(WriteBodies, Series) {
  EXPECT_EQ(SeriesPatch({.count = 2, .last_observed_time = api::MicroTime{kNow}}),
            R"({"series":{"count":2,"lastObservedTime":"2023-11-14T22:13:20.000000Z"}})");
}

}  // namespace
}  // namespace berth::client
