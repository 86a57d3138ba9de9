#include "plugins/requested_to_capacity_ratio/requested_to_capacity_ratio.h"

#include <gtest/gtest.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;

const std::vector<config::UtilizationShapePoint> kSpread = {{0, 10}, {100, 0}};
const std::vector<config::UtilizationShapePoint> kPack = {{0, 0}, {100, 10}};
const std::vector<config::UtilizationShapePoint> kHump = {{20, 2}, {50, 10}, {80, 0}};
const std::vector<config::ResourceSpec> kBoth = {{Symbol("cpu"), 1}, {Symbol("memory"), 1}};
const std::vector<config::ResourceSpec> kCpuOnly = {{Symbol("cpu"), 1}};

TEST(RequestedToCapacityRatio, FollowsTheCurve) {
  struct {
    const char* what;
    std::vector<config::UtilizationShapePoint> shape;
    std::vector<config::ResourceSpec> resources;
    testing::PodBuilder pod;
    testing::NodeBuilder node;
    int64_t score;
  } const cases[] = {
      {"spreads, and rounds half up", kSpread, kBoth, MakePod("p").Request("cpu", "3").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000"), 38},
      {"packs", kPack, kBoth, MakePod("p").Request("cpu", "3").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000"), 63},
      {"before the first point", kHump, kCpuOnly, MakePod("p").Request("cpu", "100m"),
       MakeNode("n").Capacity("cpu", "1"), 20},
      {"between points", kHump, kCpuOnly, MakePod("p").Request("cpu", "350m"), MakeNode("n").Capacity("cpu", "1"), 60},
      {"past the last point", kHump, kCpuOnly, MakePod("p").Request("cpu", "900m"), MakeNode("n").Capacity("cpu", "1"),
       0},
      {"overfull is full", kPack, kCpuOnly, MakePod("p").Request("cpu", "2"), MakeNode("n").Capacity("cpu", "1"), 100},
      {"a resource that scores nothing does not count", kHump, kBoth,
       MakePod("p").Request("cpu", "500m").Request("memory", "9000"),
       MakeNode("n").Capacity("cpu", "1").Capacity("memory", "10000"), 100},
      {"weights beyond 100",
       kPack,
       {{Symbol("cpu"), 300}, {Symbol("memory"), 100}},
       MakePod("p").Request("cpu", "3").Request("memory", "5000"),
       MakeNode("n").Capacity("cpu", "4").Capacity("memory", "10000"),
       69},
      {"an accelerator alone",
       kPack,
       {{Symbol("intel.com/foo"), 2}},
       MakePod("p").Request("intel.com/foo", "2"),
       MakeNode("n").Capacity("intel.com/foo", "4"),
       50},
      {"no resources", kPack, {}, MakePod("p").Request("cpu", "3"), MakeNode("n").Capacity("cpu", "4"), 0},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    FakeHandle handle;
    const auto plugin =
        MakePlugin<RequestedToCapacityRatio>(handle, config::RequestedToCapacityRatioArgs{test.shape, test.resources});
    EXPECT_EQ(plugin->Score(framework::CycleState(), *test.pod.Info(), test.node.Info()).score, test.score);
  }
}

TEST(RequestedToCapacityRatio, NeedsACurve) {
  FakeHandle handle;
  const auto made = RequestedToCapacityRatio::Create({}, handle);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "shape: Required value: at least one point must be specified");
}

}  // namespace
}  // namespace berth::plugins
