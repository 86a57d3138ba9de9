#include "plugins/node_resource_limits/node_resource_limits.h"

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
using testing::SignatureOf;

TEST(NodeResourceLimits, APointForANodeThatCoversALimit) {
  struct {
    const char* what;
    testing::PodBuilder pod;
    int64_t score;
  } const cases[] = {
      {"no limits", MakePod("p").Request("cpu", "1"), 0},
      {"both fit", MakePod("p").Limit("cpu", "2").Limit("memory", "4Gi"), 1},
      {"exactly", MakePod("p").Limit("cpu", "4"), 1},
      {"cpu fits, memory does not", MakePod("p").Limit("cpu", "1").Limit("memory", "64Gi"), 1},
      {"neither fits", MakePod("p").Limit("cpu", "5").Limit("memory", "64Gi"), 0},
      {"containers add up", MakePod("p").Container().Limit("cpu", "3").Container().Limit("cpu", "3"), 0},
      {"the largest init container counts", MakePod("p").Limit("cpu", "1").InitContainer().Limit("cpu", "9"), 0},
  };
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeResourceLimits>(handle);
  const auto node = MakeNode("n").Capacity("cpu", "4").Capacity("memory", "8Gi").Info();
  for (const auto& test : cases) {
    EXPECT_EQ(plugin->Score(framework::CycleState(), *test.pod.Info(), node).score, test.score) << test.what;
    EXPECT_EQ(plugin->Score(framework::CycleState(), *test.pod.Info(), MakeNode("empty").Info()).score, 0);
  }
}

TEST(NodeResourceLimits, SignsTheLimits) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodeResourceLimits>(handle);
  const auto sign = [&](testing::PodBuilder pod) { return SignatureOf(*plugin, *pod.Info()); };
  EXPECT_EQ(sign(MakePod("a").Limit("cpu", "1")), sign(MakePod("b").Limit("cpu", "1000m")));
  EXPECT_NE(sign(MakePod("a").Limit("cpu", "1")), sign(MakePod("a").Limit("cpu", "2")));
  EXPECT_NE(sign(MakePod("a").Limit("cpu", "1")), sign(MakePod("a").Request("cpu", "1")));
}

}  // namespace
}  // namespace berth::plugins
