#include "api/pod_packing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "api/object.h"
#include "codec/json.h"

namespace berth::api {
namespace {

std::shared_ptr<const Pod> GoldenPod(const std::string& variant) {
  const std::string path = BERTH_SOURCE_DIR "/src/api/testdata/golden/Pod" + variant + ".pb";
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream content;
  content << file.rdbuf();
  const Result<DecodedObjects> decoded = DecodeProtobufObjects(content.str());
  EXPECT_TRUE(decoded.ok()) << decoded.error().message;
  return decoded->objects.at(0).object.Share<Pod>();
}

std::string JsonOf(Pod pod) { return EncodeJson(MakeObject(std::move(pod))); }

std::string TemplateOf(const Pod& pod) {
  std::string bytes;
  AppendPodTemplate(pod, bytes);
  return bytes;
}

// One of these has every field of Kubernetes' own type set.
TEST(PodPacking, LosesNothing) {
  for (const char* variant : {"", ".sparse1", ".sparse2", ".sparse3"}) {
    const std::shared_ptr<const Pod> pod = GoldenPod(variant);
    const Pod again = UnpackPod(TemplateOf(*pod), PodIdentity::Of(*pod));
    EXPECT_EQ(JsonOf(again), JsonOf(*pod)) << variant;
  }
  EXPECT_EQ(JsonOf(UnpackPod(TemplateOf({}), PodIdentity::Of({}))), JsonOf({}));
}

TEST(PodPacking, OnlyTheIdentityIsNotInTheTemplate) {
  const Pod pod = *GoldenPod("");
  Pod sibling = pod;
  sibling.metadata.name += "-2";
  sibling.metadata.uid += "-2";
  sibling.metadata.resource_version += "2";
  sibling.metadata.creation_timestamp.reset();
  sibling.spec.node_name += "-2";
  sibling.status.start_time.reset();
  EXPECT_EQ(TemplateOf(sibling), TemplateOf(pod));
  EXPECT_EQ(JsonOf(UnpackPod(TemplateOf(pod), PodIdentity::Of(sibling))), JsonOf(sibling));

  sibling.metadata.labels.Set(Symbol("app"), Symbol("other"));
  EXPECT_NE(TemplateOf(sibling), TemplateOf(pod));
}

// Each part of a pod that has everything is taken away in turn, together with what is below it.
TEST(PodPacking, TemplatesAreTheSameOnlyWhenTheirBytesAre) {
  const Pod pod = *GoldenPod("");
  EXPECT_TRUE(HaveSameTemplate(pod, *GoldenPod("")));
  Pod sibling = pod;
  sibling.metadata.name += "-2";
  sibling.metadata.resource_version += "2";
  sibling.status.start_time.reset();
  EXPECT_TRUE(HaveSameTemplate(pod, sibling));

  const std::string whole = JsonOf(pod);
  size_t different = 0;
  for (size_t at = whole.find("\":"); at != std::string::npos; at = whole.find("\":", at + 1)) {
    // Another name makes the field unknown, and so absent.
    std::string changed = whole;
    changed.insert(at, "X");
    const Result<codec::Document> document = codec::ParseJson(changed, "pod");
    ASSERT_TRUE(document.ok());
    const Result<DecodedObjects> decoded = DecodeObjects(*document, {});
    if (!decoded || decoded->objects.size() != 1) continue;
    const Pod* const other = decoded->objects[0].object.As<Pod>();
    if (other == nullptr) continue;
    const bool same = TemplateOf(*other) == TemplateOf(pod);
    EXPECT_EQ(HaveSameTemplate(pod, *other), same) << whole.substr(at > 40 ? at - 40 : 0, 60);
    different += !same;
  }
  EXPECT_GT(different, 100u);
}

TEST(PodPacking, AnAmountThatIsWrittenInAnotherWayIsAnotherTemplate) {
  Pod milli, plain;
  milli.spec.containers.emplace_back().resources.requests[Symbol("memory")] = *Quantity::Parse("1Gi");
  plain.spec.containers.emplace_back().resources.requests[Symbol("memory")] = *Quantity::Parse("1073741824");
  EXPECT_NE(TemplateOf(milli), TemplateOf(plain));
  EXPECT_FALSE(HaveSameTemplate(milli, plain));
}

}  // namespace
}  // namespace berth::api
