#include "framework/resource.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "testing/builders.h"

namespace berth::framework {
namespace {

using berth::testing::Amount;

TEST(ResourceNames, WhichAreCountedAsScalars) {
  const struct {
    std::string_view name;
    bool extended;
    bool scalar;
  } kCases[] = {
      {"cpu", false, false},
      {"memory", false, false},
      {"storage", false, false},
      {"nvidia.com/gpu", true, true},
      {"hugepages-2Mi", false, true},
      {"attachable-volumes-aws-ebs", false, true},
      {"kubernetes.io/batch-cpu", false, true},
      {"node.kubernetes.io/thing", false, true},
      {"requests.nvidia.com/gpu", false, false},
      {"example.com/", false, false},
      {"example.com/a/b", false, false},
      {"exa mple.com/gpu", false, false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(IsExtendedResourceName(c.name), c.extended) << c.name;
    EXPECT_EQ(IsScalarResourceName(c.name), c.scalar) << c.name;
  }
}

TEST(ResourceNames, MustLeaveRoomForTheQuotaPrefix) {
  const std::string label(59, 'a');
  const std::string domain = label + "." + label + "." + label + "." + label;  // 239 of 253 characters
  EXPECT_TRUE(IsExtendedResourceName(domain + ".abcd/gpu"));
  EXPECT_FALSE(IsExtendedResourceName(domain + ".abcdefghi/gpu"));
}

TEST(Resource, FromListRoundsUpAndLeavesOutWhatIsNotCounted) {
  const Resource resource = Resource::From({{Symbol("cpu"), Amount("1.0001")},
                                            {Symbol("memory"), Amount("1.5Ki")},
                                            {Symbol("ephemeral-storage"), Amount("100m")},
                                            {Symbol("pods"), Amount("110")},
                                            {Symbol("nvidia.com/gpu"), Amount("2")},
                                            {Symbol("hugepages-2Mi"), Amount("4Mi")},
                                            {Symbol("storage"), Amount("1Gi")}});
  EXPECT_EQ(resource.milli_cpu, 1001);
  EXPECT_EQ(resource.memory, 1536);
  EXPECT_EQ(resource.ephemeral_storage, 1);
  EXPECT_EQ(resource.allowed_pod_number, 110);
  EXPECT_EQ(resource.scalar.size(), 2u);
  EXPECT_EQ(resource.Get(Symbol("nvidia.com/gpu")), 2);
  EXPECT_EQ(resource.Get(Symbol("hugepages-2Mi")), 4 << 20);
}

TEST(Resource, GetKnowsEveryName) {
  Resource resource{.milli_cpu = 1, .memory = 2, .ephemeral_storage = 3, .allowed_pod_number = 4, .scalar = {}};
  EXPECT_EQ(resource.Get(CpuName()), 1);
  EXPECT_EQ(resource.Get(MemoryName()), 2);
  EXPECT_EQ(resource.Get(EphemeralStorageName()), 3);
  EXPECT_EQ(resource.Get(PodsName()), 4);
  EXPECT_EQ(resource.Get(Symbol("nvidia.com/gpu")), 0);
}

TEST(Resource, SubtractingWhatWasAddedLeavesNoTrace) {
  const Resource before{.milli_cpu = 100, .memory = 200, .scalar = {{Symbol("a.io/x"), 1}}};
  const Resource more{.milli_cpu = 5, .memory = 6, .ephemeral_storage = 7, .scalar = {{Symbol("b.io/y"), 3}}};
  Resource sum = before;
  sum.Add(more);
  EXPECT_EQ(sum.milli_cpu, 105);
  EXPECT_EQ(sum.ephemeral_storage, 7);
  EXPECT_EQ(sum.Get(Symbol("b.io/y")), 3);
  sum.Subtract(more);
  EXPECT_EQ(sum, before);
}

TEST(Resource, SumsBeyondInt64WrapAround) {
  Resource resource{.memory = std::numeric_limits<int64_t>::max()};
  resource.Add(Resource{.memory = 1});
  EXPECT_EQ(resource.memory, std::numeric_limits<int64_t>::min());
  resource.Subtract(Resource{.memory = 1});
  EXPECT_EQ(resource.memory, std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace berth::framework
