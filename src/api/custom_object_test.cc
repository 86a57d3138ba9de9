#include "api/custom_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "codec/json.h"

namespace berth::api {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

DecodedObjects Decode(const std::string& json, bool keep_json, std::vector<codec::Diagnostic>& problems) {
  const Result<codec::Document> document = codec::ParseJson(json, "test");
  CHECK(document.ok());
  DecodedObjects decoded;
  DecodeCustomObjects(document->root(), {.keep_json = keep_json}, decoded, problems);
  return decoded;
}

TEST(GroupVersionResource, IsReadAsUpstreamWritesIt) {
  const Result<GroupVersionResource> custom = GroupVersionResource::Parse("foos.v1alpha1.example.com");
  ASSERT_TRUE(custom.ok());
  EXPECT_EQ(custom->resource, "foos");
  EXPECT_EQ(custom->version, "v1alpha1");
  EXPECT_EQ(custom->group, "example.com");
  EXPECT_EQ(custom->Text(), "foos.v1alpha1.example.com");
  EXPECT_EQ(custom->ApiVersion(), "example.com/v1alpha1");
  EXPECT_EQ(custom->CollectionPath(), "/apis/example.com/v1alpha1/foos");
  const Result<GroupVersionResource> core = GroupVersionResource::Parse("configmaps.v1.");
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(core->ApiVersion(), "v1");
  EXPECT_EQ(core->CollectionPath(), "/api/v1/configmaps");
  for (const char* text : {"", "foos", "foos.v1", ".v1.example.com", "foos..example.com"}) {
    EXPECT_FALSE(GroupVersionResource::Parse(text).ok()) << text;
  }
}

TEST(GroupVersionResource, TheNameOfAResourceFollowsFromItsKind) {
  EXPECT_EQ(GuessResource("LicencePool"), "licencepools");
  EXPECT_EQ(GuessResource("NetworkPolicy"), "networkpolicies");
  EXPECT_EQ(GuessResource("StorageClass"), "storageclasses");
}

TEST(CustomObjects, KeepMetadataAndTheirJsonIfAskedTo) {
  const std::string json = R"({"apiVersion":"example.com/v1","kind":"Pool","metadata":{"name":"a","namespace":"ns",)"
                           R"("uid":"u","resourceVersion":"7","labels":{"k":"v"},"annotations":{"big":"text"}},)"
                           R"("spec":{"seats":2}})";
  std::vector<codec::Diagnostic> problems;
  const DecodedObjects decoded = Decode(json, true, problems);
  ASSERT_THAT(problems, IsEmpty());
  ASSERT_THAT(decoded.objects, SizeIs(1));
  const auto* object = decoded.objects.front().object.As<CustomObject>();
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->api_version, "example.com/v1");
  EXPECT_EQ(object->kind, "Pool");
  EXPECT_EQ(KeyOf(object->metadata), "ns/a");
  EXPECT_EQ(object->metadata.uid, "u");
  EXPECT_EQ(object->metadata.resource_version, "7");
  EXPECT_TRUE(object->metadata.labels.Contains(Symbol("k")));
  EXPECT_EQ(object->metadata.annotations.size(), 0u);
  EXPECT_EQ(object->json, json);
  EXPECT_EQ(Decode(json, false, problems).objects.front().object.As<CustomObject>()->json, "");
}

// Items of a list of built-in kinds leave their type to the list.
TEST(CustomObjects, ComeInLists) {
  std::vector<codec::Diagnostic> problems;
  const DecodedObjects decoded =
      Decode(R"({"apiVersion":"v1","kind":"ConfigMapList","metadata":{"resourceVersion":"9","continue":"more"},)"
             R"("items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})",
             false, problems);
  ASSERT_THAT(problems, IsEmpty());
  ASSERT_THAT(decoded.objects, SizeIs(2));
  EXPECT_EQ(decoded.objects[1].object.As<CustomObject>()->kind, "ConfigMap");
  EXPECT_EQ(decoded.resource_version, "9");
  EXPECT_EQ(decoded.continue_token, "more");
}

// Whatever the kind: a plugin that asks for pods by resource gets them as CustomObjects.
TEST(CustomObjects, MayBeOfKindsThatAreKnown) {
  std::vector<codec::Diagnostic> problems;
  const DecodedObjects decoded = Decode(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})", true, problems);
  ASSERT_THAT(decoded.objects, SizeIs(1));
  EXPECT_EQ(decoded.objects.front().object.kind(), Kind::kCustomObject);
}

TEST(CustomObjects, NeedAName) {
  std::vector<codec::Diagnostic> problems;
  EXPECT_THAT(Decode(R"({"apiVersion":"example.com/v1","kind":"Pool","metadata":{}})", true, problems).objects,
              IsEmpty());
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems.front().ToString(), HasSubstr("metadata.name: missing"));
}

TEST(CustomObjects, AreKeptBesideWhatIsKnownIfAskedTo) {
  const Result<codec::Document> document = codec::ParseJson(
      R"({"apiVersion":"example.com/v1","kind":"Pool","metadata":{"name":"a"},"spec":{"seats":2}})", "test");
  const Result<DecodedObjects> plain = DecodeObjects(*document, {});
  ASSERT_THAT(plain->unknown, SizeIs(1));
  EXPECT_FALSE(plain->unknown.front().object.has_value());
  const Result<DecodedObjects> kept = DecodeObjects(*document, {.keep_unknown_objects = true});
  ASSERT_TRUE(kept->unknown.front().object.has_value());
  EXPECT_THAT(kept->unknown.front().object->As<CustomObject>()->json, HasSubstr("\"seats\":2"));
}

}  // namespace
}  // namespace berth::api
