#include "plugins/image_locality/image_locality.h"

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

constexpr int64_t kMb = 1024 * 1024;

framework::PodInfoPtr WithImageVolume(std::string_view reference) {
  api::VolumeSource source;
  source.image.emplace().reference = reference;
  return MakePod("a").Container("other:1").Volume("data", source).Info();
}

// NodeBuilder gives every image to one node only; the cluster has two.
TEST(ImageLocality, ScoresBySizeAndShareOfNodes) {
  struct {
    const char* what;
    framework::PodInfoPtr pod;
    int64_t score;
  } const cases[] = {
      {"image elsewhere", MakePod("a").Container("absent:1").Info(), 0},
      {"below the threshold", MakePod("a").Container("small:1").Info(), 0},
      {"half of 500 MB of 1000", MakePod("a").Container("big:1").Info(), 100 * (250 - 23) / (1000 - 23)},
      {"no tag means latest", MakePod("a").Container("registry:5000/tools").Info(), 100 * (250 - 23) / (1000 - 23)},
      {"two containers share the ceiling", MakePod("a").Container("big:1").Container("absent:1").Info(),
       100 * (250 - 23) / (2000 - 23)},
      {"init containers count", MakePod("a").InitContainer("big:1").Container("big:1").Info(),
       100 * (500 - 23) / (2000 - 23)},
      {"capped", MakePod("a").Container("huge:1").Info(), 100},
      {"image volumes add without raising the ceiling", WithImageVolume("big:1"), 100 * (250 - 23) / (1000 - 23)},
  };
  FakeHandle handle;
  handle.cluster().AddNode(MakeNode("n1")
                               .Image("small:1", 40 * kMb)
                               .Image("big:1", 500 * kMb)
                               .Image("registry:5000/tools:latest", 500 * kMb)
                               .Image("huge:1", 5000 * kMb));
  handle.cluster().AddNode(MakeNode("n2"));
  const auto plugin = MakePlugin<ImageLocality>(handle);
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    EXPECT_EQ(plugin->Score(framework::CycleState(), *test.pod, *handle.cluster().nodes()[0]).score, test.score);
  }
}

}  // namespace
}  // namespace berth::plugins
