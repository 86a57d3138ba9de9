#include "input/resource_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::input {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ContainerResources, AreThoseTheApiServerTakes) {
  for (const char* name :
       {"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu", "example.com/a_b"}) {
    EXPECT_THAT(ContainerResourceProblem(name), IsEmpty()) << name;
  }
  EXPECT_THAT(ContainerResourceProblem("cpus"), EndsWith("did you mean cpu?"));
  EXPECT_THAT(ContainerResourceProblem("memmory"), EndsWith("did you mean memory?"));
  EXPECT_THAT(ContainerResourceProblem("gpu"), EndsWith("did you mean nvidia.com/gpu?"));
  EXPECT_THAT(ContainerResourceProblem("ephemeral-storag"), EndsWith("did you mean ephemeral-storage?"));
  EXPECT_THAT(ContainerResourceProblem("pods"), HasSubstr("must be a standard resource for containers"));
  EXPECT_THAT(ContainerResourceProblem("requests.example.com/gpu"), HasSubstr("extended resource name"));
  EXPECT_THAT(ContainerResourceProblem("a b"), HasSubstr("is no name of a resource"));
  EXPECT_THAT(ContainerResourceProblem(""), HasSubstr("is no name of a resource"));
}

TEST(NodeResources, MayBeAnythingButMisspelt) {
  for (const char* name : {"pods", "cpu", "attachable-volumes-aws-ebs", "hugepages-1Gi", "example.com/x", "widgets"}) {
    EXPECT_THAT(NodeResourceProblem(name), IsEmpty()) << name;
  }
  EXPECT_THAT(NodeResourceProblem("memmory"), EndsWith("did you mean memory?"));
}

TEST(Amounts, ThatCannotBeMeantAreTold) {
  const auto problem = [](std::string_view name, std::string_view text) {
    return AmountProblem(name, *api::Quantity::Parse(text));
  };
  EXPECT_THAT(problem("cpu", "1M"), IsEmpty());
  EXPECT_THAT(problem("cpu", "1000001"), HasSubstr("expected at most 1M"));
  EXPECT_THAT(problem("memory", "1Pi"), IsEmpty());
  EXPECT_THAT(problem("memory", "1025Ti"), HasSubstr("expected at most 1Pi"));
  EXPECT_THAT(problem("memory", "9223372036854775807"), HasSubstr("cannot be meant"));
  EXPECT_THAT(problem("nvidia.com/gpu", "500m"), HasSubstr("must be an integer"));
  EXPECT_THAT(problem("cpu", "500m"), IsEmpty());
}

TEST(ResourceNames, AQuotaHasNamesOfItsOwn) {
  for (const char* name : {"pods", "requests.cpu", "limits.memory", "requests.nvidia.com/gpu", "count/deployments.apps",
                           "gold.storageclass.storage.k8s.io/requests.storage", "requests.hugepages-2Mi"}) {
    EXPECT_EQ(QuotaResourceProblem(name), "") << name;
  }
  EXPECT_THAT(QuotaResourceProblem("requests.cpus"), EndsWith("did you mean requests.cpu?"));
  EXPECT_THAT(QuotaResourceProblem("limit"), HasSubstr("must be a standard resource for quota"));
  EXPECT_THAT(QuotaResourceProblem("a b"), HasSubstr("is no name of a resource"));
}

}  // namespace
}  // namespace berth::input
