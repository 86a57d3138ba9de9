#include "api/pod_packing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "api/object.h"

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

}  // namespace
}  // namespace berth::api
