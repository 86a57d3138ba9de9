#include "plugins/selector_spread/selector_spread.h"

#include <gmock/gmock.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using testing::FakeHandle;
using ::testing::IsEmpty;
using testing::kZoneLabel;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;
using testing::MakeService;
using ::testing::Pair;
using testing::ScoreAll;
using testing::Scores;
using testing::SelectorOf;
using testing::SignatureOf;
using ::testing::UnorderedElementsAre;

testing::PodBuilder WebPod(std::string_view name) { return MakePod(name).Label("app", "web"); }

// Raw and final scores of the pod on all nodes.
Scores ScoresOf(FakeHandle& handle, const testing::PodBuilder& pod) {
  return ScoreAll(*MakePlugin<SelectorSpread>(handle), *pod.Info(), handle.cluster().nodes());
}

TEST(SelectorSpread, PrefersNodesWithFewerPodsOfTheService) {
  FakeHandle handle;
  handle.Add(MakeService("web", {{"app", "web"}}));
  handle.cluster().AddNode(MakeNode("two"), {WebPod("a").Info(), WebPod("b").Info()});
  handle.cluster().AddNode(MakeNode("one"), {WebPod("c").Info()});
  handle.cluster().AddNode(MakeNode("none"), {MakePod("d").Label("app", "db").Info(), WebPod("e").Terminating().Info(),
                                              WebPod("f").Namespace("other").Info()});
  EXPECT_THAT(ScoresOf(handle, WebPod("p")),
              UnorderedElementsAre(Pair("two", Pair(2, 0)), Pair("one", Pair(1, 50)), Pair("none", Pair(0, 100))));
  EXPECT_THAT(ScoresOf(handle, MakePod("p").Label("app", "other")),
              UnorderedElementsAre(Pair("two", Pair(0, 100)), Pair("one", Pair(0, 100)), Pair("none", Pair(0, 100))))
      << "belongs to nobody";
}

TEST(SelectorSpread, GivesZonesTwoThirds) {
  constexpr char kOldZone[] = "failure-domain.beta.kubernetes.io/zone";
  constexpr char kRegion[] = "topology.kubernetes.io/region";
  FakeHandle handle;
  handle.Add(MakeService("web", {{"app", "web"}}));
  handle.cluster().AddNode(MakeNode("a1").Label(kZoneLabel, "a"), {WebPod("1").Info(), WebPod("2").Info()});
  handle.cluster().AddNode(MakeNode("a2").Label(kOldZone, "a").Label(kZoneLabel, "ignored"));
  handle.cluster().AddNode(MakeNode("b").Label(kZoneLabel, "b"), {WebPod("3").Info()});
  handle.cluster().AddNode(MakeNode("elsewhere").Label(kZoneLabel, "a").Label(kRegion, "other"));
  handle.cluster().AddNode(MakeNode("nowhere"), {WebPod("4").Info()});
  EXPECT_THAT(ScoresOf(handle, WebPod("p")),
              UnorderedElementsAre(Pair("a1", Pair(2, 0)), Pair("a2", Pair(0, 33)), Pair("b", Pair(1, 50)),
                                   Pair("elsewhere", Pair(0, 100)), Pair("nowhere", Pair(1, 50))));
}

TEST(SelectorSpread, CountsPodsOfTheController) {
  FakeHandle handle;
  api::ReplicaSet set;
  set.metadata.name = "set";
  set.metadata.namespace_ = Symbol("default");
  set.spec.selector = SelectorOf({{"app", "web"}});
  handle.Add(set);
  handle.cluster().AddNode(MakeNode("n"), {WebPod("a").Info()});
  const auto score = [&](testing::PodBuilder pod) { return ScoresOf(handle, pod)["n"].first; };
  api::OwnerReference owner{"apps/v1", "ReplicaSet", "set", "u", true};
  testing::PodBuilder owned = WebPod("p");
  owned.raw().metadata.owner_references = {owner};
  EXPECT_EQ(score(owned), 1);
  EXPECT_EQ(score(WebPod("p")), 0);
}

TEST(SelectorSpread, LeavesPodsWithTheirOwnConstraintsAlone) {
  FakeHandle handle;
  handle.Add(MakeService("web", {{"app", "web"}}));
  handle.cluster().AddNode(MakeNode("n"), {WebPod("a").Info()});
  EXPECT_THAT(ScoresOf(handle, WebPod("p").SpreadConstraint(1, "zone", "DoNotSchedule", {{"app", "web"}})), IsEmpty());
}

TEST(SelectorSpread, ScoresWithoutItsPreScore) {
  FakeHandle handle;
  handle.Add(MakeService("web", {{"app", "web"}}));
  const framework::NodeInfo node = MakeNode("n").Info({WebPod("a").Info()});
  EXPECT_EQ(MakePlugin<SelectorSpread>(handle)->Score(framework::CycleState(), *WebPod("p").Info(), node).score, 1);
}

TEST(SelectorSpread, SignsWhatFindsTheSelector) {
  FakeHandle handle;
  const auto plugin = MakePlugin<SelectorSpread>(handle);
  const auto sign = [&](testing::PodBuilder pod) { return SignatureOf(*plugin, *pod.Info()); };
  EXPECT_EQ(sign(WebPod("a")), sign(WebPod("b")));
  EXPECT_NE(sign(WebPod("a")), sign(MakePod("a")));
  EXPECT_NE(sign(WebPod("a")), sign(WebPod("a").Namespace("other")));
}

}  // namespace
}  // namespace berth::plugins
