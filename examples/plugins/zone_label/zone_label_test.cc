#include "zone_label.h"

#include <berth/testing.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace example {
namespace {

using berth::framework::CycleState;
using berth::framework::EventResource;
using berth::framework::PodInfoPtr;
using berth::framework::QueueingHint;
using berth::testing::ArgsOf;
using berth::testing::AskHint;
using berth::testing::ChangedPod;
using berth::testing::FakeHandle;
using berth::testing::FindingsOf;
using berth::testing::MakeNode;
using berth::testing::MakePlugin;
using berth::testing::MakePod;
using berth::testing::RemediesOf;
using berth::testing::SignatureOf;
using berth::testing::TextOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr char kZone[] = "topology.kubernetes.io/zone";

class ZoneLabelTest : public ::testing::Test {
 protected:
  ZoneLabelTest() {
    handle.cluster().AddNode(MakeNode("a1").Label(kZone, "a"));
    handle.cluster().AddNode(MakeNode("a2").Label(kZone, "a"));
    handle.cluster().AddNode(MakeNode("b1").Label(kZone, "b"));
    handle.cluster().AddNode(MakeNode("nowhere"));
  }

  static PodInfoPtr PodOf(std::string_view zone) { return MakePod("p").Label("example.com/zone", zone).Info(); }

  FakeHandle handle;
  CycleState state;
};

TEST_F(ZoneLabelTest, DropsTheNodesOfOtherZones) {
  const auto plugin = MakePlugin<ZoneLabel>(handle);
  EXPECT_THAT(plugin->PreFilter(state, *PodOf("a")).node_names, Optional(ElementsAre("a1", "a2")));
  EXPECT_THAT(plugin->PreFilter(state, *PodOf("c")).node_names, Optional(IsEmpty()));
}

TEST_F(ZoneLabelTest, APodWithoutAZoneGoesToTheDefaultOnes) {
  const auto plugin = MakePlugin<ZoneLabel>(handle, ArgsOf(R"({"defaultZones": ["b", "c"]})"));
  EXPECT_THAT(plugin->PreFilter(state, *MakePod("p").Info()).node_names, Optional(ElementsAre("b1")));
  EXPECT_THAT(plugin->PreFilter(state, *PodOf("a")).node_names, Optional(ElementsAre("a1", "a2")));
}

TEST_F(ZoneLabelTest, HasNothingToSayWithoutAny) {
  EXPECT_TRUE(MakePlugin<ZoneLabel>(handle)->PreFilter(state, *MakePod("p").Info()).status.IsSkip());
}

TEST_F(ZoneLabelTest, OnlyANodeOfTheRightZoneWakesAPod) {
  const auto plugin = MakePlugin<ZoneLabel>(handle);
  const auto right = MakeNode("a3").Label(kZone, "a").Obj();
  const auto wrong = MakeNode("b2").Label(kZone, "b").Obj();
  EXPECT_EQ(AskHint(*plugin, EventResource::kNode, *PodOf("a"), {}, &right), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kNode, *PodOf("a"), {}, &wrong), QueueingHint::kSkip);
}

TEST_F(ZoneLabelTest, PodsOfOneZoneShareAnswers) {
  const auto plugin = MakePlugin<ZoneLabel>(handle);
  EXPECT_EQ(SignatureOf(*plugin, *PodOf("a")), SignatureOf(*plugin, *PodOf("a")));
  EXPECT_NE(SignatureOf(*plugin, *PodOf("a")), SignatureOf(*plugin, *PodOf("b")));
}

TEST_F(ZoneLabelTest, RefusesArgumentsItDoesNotUnderstand) {
  for (const auto& [json, problem] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"nodeLabel": 5})", "args.nodeLabel: expected a string, found number 5"},
           {R"({"defaultZones": ["a", {}]})", "args.defaultZones[1]: expected a string"},
           {R"({"nodelabel": "zone"})", "args.nodelabel: unknown field"},
           {R"({"podLabel": ""})", "args.podLabel: expected a label key"},
       }) {
    const berth::NewPlugin made = ZoneLabel::Create(ArgsOf(json), handle);
    ASSERT_FALSE(made) << json;
    EXPECT_THAT(made.error().message, HasSubstr(problem));
  }
}

TEST_F(ZoneLabelTest, ExplainsWhichZoneIsWantedAndWhichWouldDo) {
  const auto plugin = MakePlugin<ZoneLabel>(handle);
  const PodInfoPtr pod = PodOf("c");
  EXPECT_THAT(FindingsOf(*plugin, *pod, handle.cluster().Node("a1")),
              ElementsAre("topology.kubernetes.io/zone | c | a | asks for topology.kubernetes.io/zone c, has a"));
  EXPECT_THAT(FindingsOf(*plugin, *PodOf("a"), handle.cluster().Node("a1")), IsEmpty());
  const auto remedies = RemediesOf(*plugin, *pod, handle.cluster().Node("a1"));
  ASSERT_EQ(remedies.size(), 1u);
  EXPECT_EQ(TextOf(remedies[0]), "label example.com/zone=a on the pod");
  EXPECT_THAT(plugin->PreFilter(state, *ChangedPod(remedies[0])).node_names, Optional(ElementsAre("a1", "a2")));
  EXPECT_THAT(RemediesOf(*plugin, *pod, handle.cluster().Node("nowhere")), IsEmpty());
}

}  // namespace
}  // namespace example
