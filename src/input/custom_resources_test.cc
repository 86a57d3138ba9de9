// Custom resources in the input: kept for plugins that read them, otherwise ignored with a warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/custom_object.h"
#include "input/input.h"

namespace berth::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kText[] = R"(apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 1, pods: 10}}
---
apiVersion: example.com/v1
kind: LicencePool
metadata: {name: solver}
spec: {seats: 2}
)";

ClusterInput Read(const std::string& text, bool keep_custom) {
  InputChanges changes;
  changes.keep_custom = keep_custom;
  Result<ClusterInput> input = ReadClusterTexts({{.name = "test.yaml", .text = text}}, std::move(changes), 1);
  CHECK_WHY(input.ok(), input.ok() ? "" : input.error().message.c_str());
  return *std::move(input);
}

std::vector<std::string> CustomIn(const ClusterInput& input) {
  std::vector<std::string> found;
  for (const api::Object& object : input.objects) {
    if (const auto* custom = object.As<api::CustomObject>()) found.push_back(custom->json);
  }
  return found;
}

TEST(CustomResources, AreKeptWhereAPluginMayReadThem) {
  const ClusterInput input = Read(kText, true);
  EXPECT_THAT(CustomIn(input), ElementsAre(AllOf(HasSubstr("\"solver\""), HasSubstr("\"seats\":2"))));
  EXPECT_THAT(input.warnings, IsEmpty());
}

TEST(CustomResources, ArePassedOverElsewhere) {
  const ClusterInput input = Read(kText, false);
  EXPECT_THAT(CustomIn(input), IsEmpty());
  EXPECT_THAT(input.warnings, ElementsAre(HasSubstr("LicencePool solver is passed over")));
}

// A kind that Kubernetes' own groups do not have is a mistake, not a custom resource.
TEST(CustomResources, AMisspeltKindIsNone) {
  InputChanges changes;
  changes.keep_custom = true;
  const Result<ClusterInput> input =
      ReadClusterTexts({{.name = "test.yaml", .text = "apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}\n"}},
                       std::move(changes), 1);
  ASSERT_FALSE(input.ok());
  EXPECT_THAT(input.error().message, HasSubstr("did you mean"));
}

}  // namespace
}  // namespace berth::input
