#include "plugins/node_prefer_avoid_pods/node_prefer_avoid_pods.h"

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

constexpr char kKey[] = "scheduler.alpha.kubernetes.io/preferAvoidPods";
constexpr char kAvoidController[] = R"({"preferAvoidPods": [
  {"podSignature": {"podController": {"apiVersion": "v1", "kind": "ReplicationController", "name": "foo",
                                      "uid": "abc", "controller": true}},
   "evictionTime": "2016-01-02T03:04:05Z", "reason": "some reason", "message": "some message"},
  {"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "def"}}, "unknown": 1}]})";
constexpr char kBroken[] =
    R"({"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicaSet", "uid": 5}}}]})";

TEST(NodePreferAvoidPods, KeepsPodsOfListedControllersAway) {
  struct {
    const char* what;
    testing::PodBuilder pod;
    const char* annotation;
    int64_t score;
  } const cases[] = {
      {"listed first", MakePod("p").OwnerRef("ReplicationController", "foo", "abc"), kAvoidController, 0},
      {"listed second", MakePod("p").OwnerRef("ReplicaSet", "any name", "def"), kAvoidController, 0},
      {"another of that kind", MakePod("p").OwnerRef("ReplicaSet", "foo", "abc"), kAvoidController, 100},
      {"a kind that is never avoided", MakePod("p").OwnerRef("StatefulSet", "foo", "def"), kAvoidController, 100},
      {"no controller", MakePod("p"), kAvoidController, 100},
      {"nothing listed", MakePod("p").OwnerRef("ReplicaSet", "foo", "def"), "{}", 100},
      {"empty", MakePod("p").OwnerRef("ReplicaSet", "foo", "def"), "", 100},
      {"not JSON", MakePod("p").OwnerRef("ReplicaSet", "foo", "def"), "foo", 100},
      {"not of the format", MakePod("p").OwnerRef("ReplicaSet", "foo", "def"), kBroken, 100},
  };
  FakeHandle handle;
  const auto plugin = MakePlugin<NodePreferAvoidPods>(handle);
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    EXPECT_EQ(
        plugin->Score(framework::CycleState(), *test.pod.Info(), MakeNode("n").Annotation(kKey, test.annotation).Info())
            .score,
        test.score);
    EXPECT_EQ(plugin->Score(framework::CycleState(), *test.pod.Info(), MakeNode("n").Info()).score, 100)
        << "no annotation";
  }
}

TEST(NodePreferAvoidPods, SignsControllersThatCanBeListed) {
  FakeHandle handle;
  const auto plugin = MakePlugin<NodePreferAvoidPods>(handle);
  const auto sign = [&](testing::PodBuilder pod) { return SignatureOf(*plugin, *pod.Info()); };
  EXPECT_EQ(sign(MakePod("a")), sign(MakePod("b").OwnerRef("StatefulSet", "s", "1")));
  EXPECT_NE(sign(MakePod("a")), sign(MakePod("a").OwnerRef("ReplicaSet", "s", "1")));
  EXPECT_NE(sign(MakePod("a").OwnerRef("ReplicaSet", "s", "2")), sign(MakePod("a").OwnerRef("ReplicaSet", "s", "1")));
}

}  // namespace
}  // namespace berth::plugins
