#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using ::berth::testing::AskHint;
using ::berth::testing::FakeHandle;
using ::berth::testing::kHostLabel;
using ::berth::testing::kZoneLabel;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePlugin;
using ::berth::testing::MakePod;
using ::berth::testing::MakeService;
using ::berth::testing::NodeBuilder;
using ::berth::testing::PodBuilder;
using ::berth::testing::Scores;
using ::berth::testing::SelectorOf;
using ::berth::testing::SignatureOf;
using framework::CycleState;
using framework::EventObject;
using framework::EventResource;
using framework::QueueingHint;
using framework::Status;
using ::testing::ElementsAre;
using ::testing::Pair;

NodeBuilder Host(std::string_view name, std::string_view zone) {
  return MakeNode(name).Label(kHostLabel, name).Label(kZoneLabel, zone);
}
PodBuilder Web(std::string_view name, std::string_view node = "") {
  return MakePod(name).Label("app", "web").Node(node);
}

api::TopologySpreadConstraint ZoneConstraint(int32_t max_skew, std::string_view when, api::LabelSelector selector) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = max_skew;
  constraint.topology_key = Symbol(kZoneLabel);
  constraint.when_unsatisfiable = when;
  constraint.label_selector = std::move(selector);
  return constraint;
}
api::TopologySpreadConstraint WebPerZone(const std::function<void(api::TopologySpreadConstraint&)>& change) {
  api::TopologySpreadConstraint constraint = ZoneConstraint(1, kDoNotSchedule, SelectorOf({{"app", "web"}}));
  change(constraint);
  return constraint;
}

// Zone a: a1 with two web pods, a2 with one. Zone b: b1 with one, b2 tainted and empty. Zone c: empty. bare: no zone.
class PodTopologySpreadTest : public ::testing::Test {
 protected:
  PodTopologySpreadTest() {
    handle_.cluster().AddNode(Host("a1", "a"));
    handle_.cluster().AddNode(Host("a2", "a"));
    handle_.cluster().AddNode(Host("b1", "b"));
    handle_.cluster().AddNode(Host("b2", "b").Taint("gpu"));
    handle_.cluster().AddNode(Host("c1", "c").Label("disk", "ssd"));
    handle_.cluster().AddNode(MakeNode("bare").Label(kHostLabel, "bare"));
    handle_.cluster().AddPod(Web("w1", "a1"));
    handle_.cluster().AddPod(Web("w2", "a1"));
    handle_.cluster().AddPod(Web("w3", "a2"));
    handle_.cluster().AddPod(Web("w4", "b1"));
    // None of these count: in another namespace, terminating, with other labels.
    handle_.cluster().AddPod(Web("other", "c1").Namespace("elsewhere"));
    handle_.cluster().AddPod(Web("leaving", "c1").Terminating());
    handle_.cluster().AddPod(MakePod("db", "c1").Label("app", "db"));
    Configure({});
  }
  static PodBuilder MakePod(std::string_view name, std::string_view node) { return testing::MakePod(name).Node(node); }

  void Configure(const config::PluginArgs& args) { plugin_ = MakePlugin<PodTopologySpread>(handle_, args); }

  // The result for each node: "" fits, "skew", "label", or the text of an unexpected status. "skip" when PreFilter
  // skips.
  std::map<std::string, std::string> FilterAll(const PodBuilder& builder) {
    const framework::PodInfoPtr pod = builder.Info();
    CycleState state;
    const Status status = plugin_->PreFilter(state, *pod).status;
    if (status.IsSkip()) return {{"all", "skip"}};
    if (!status.ok()) return {{"all", status.Message()}};
    std::vector<uint8_t> range(6, 77);
    EXPECT_TRUE(plugin_->FilterRange(state, *pod, handle_.cluster().columns(), 0, range));
    std::map<std::string, std::string> verdicts;
    for (const framework::NodeInfo* node : handle_.cluster().nodes()) {
      const Status verdict = plugin_->Filter(state, *pod, *node);
      EXPECT_EQ(verdict.ok(), range[node->index()] == 0) << node->name();
      verdicts[node->name()] = Short(verdict);
    }
    return verdicts;
  }
  static std::string Short(const Status& status) {
    if (status.ok()) return "";
    if (status == Status::Unschedulable(std::string(PodTopologySpread::kSkewReason))) return "skew";
    if (status == Status::UnschedulableAndUnresolvable(std::string(PodTopologySpread::kMissingLabelReason))) {
      return "label";
    }
    return status.Message();
  }
  std::vector<std::string> Fitting(const PodBuilder& builder) {
    std::vector<std::string> names;
    for (const auto& [name, verdict] : FilterAll(builder)) {
      if (verdict.empty()) names.push_back(name);
    }
    return names;
  }

  Scores ScoreAll(const PodBuilder& builder, const std::vector<std::string>& feasible) {
    std::vector<const framework::NodeInfo*> nodes;
    for (const std::string& name : feasible) nodes.push_back(&handle_.cluster().Node(name));
    return testing::ScoreAll(*plugin_, *builder.Info(), nodes);
  }

  std::string Signature(const PodBuilder& builder) { return SignatureOf(*plugin_, *builder.Info()); }

  FakeHandle handle_;
  std::unique_ptr<PodTopologySpread> plugin_;
};

TEST_F(PodTopologySpreadTest, WithoutHardConstraintsThereIsNothingToFilter) {
  EXPECT_THAT(FilterAll(Web("p")), ElementsAre(Pair("all", "skip")));
  EXPECT_THAT(FilterAll(Web("p").SpreadConstraint(1, kZoneLabel, kScheduleAnyway, {{"app", "web"}})),
              ElementsAre(Pair("all", "skip")));
}

TEST_F(PodTopologySpreadTest, KeepsTheSkewWithinBounds) {
  struct Case {
    const char* what;
    api::TopologySpreadConstraint constraint;
    std::vector<std::string> fitting;
  };
  const Case cases[] = {
      {"counts are a=3 b=1 c=0", WebPerZone([](auto&) {}), {"c1"}},
      {"skew 2", WebPerZone([](auto& c) { c.max_skew = 2; }), {"b1", "b2", "c1"}},
      {"skew 4", WebPerZone([](auto& c) { c.max_skew = 4; }), {"a1", "a2", "b1", "b2", "c1"}},
      {"enough domains", WebPerZone([](auto& c) { c.max_skew = 2, c.min_domains = 3; }), {"b1", "b2", "c1"}},
      {"an empty selector counts nobody but the pod",
       WebPerZone([](auto& c) { c.label_selector.emplace(); }),
       {"a1", "a2", "b1", "b2", "c1"}},
      {"no selector matches not even the pod",
       WebPerZone([](auto& c) { c.label_selector.reset(); }),
       {"a1", "a2", "b1", "b2", "c1"}},
      {"a key the pod lacks narrows nothing",
       WebPerZone([](auto& c) { c.match_label_keys = {Symbol("version")}; }),
       {"c1"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Fitting(Web("p").SpreadConstraint(c.constraint)), c.fitting) << c.what;
    EXPECT_EQ(FilterAll(Web("p").SpreadConstraint(c.constraint))["bare"], "label") << c.what;
  }
}

TEST_F(PodTopologySpreadTest, MatchLabelKeysCountOnlyPodsThatAgree) {
  const auto constraint = WebPerZone([](auto& c) { c.match_label_keys = {Symbol("version")}; });
  EXPECT_THAT(Fitting(Web("p").Label("version", "2").SpreadConstraint(constraint)),
              ElementsAre("a1", "a2", "b1", "b2", "c1"));
}

TEST_F(PodTopologySpreadTest, NodesThePodCannotUseDoNotCountByPolicy) {
  // With zone c not counted, the minimum is 1, in zone b.
  const PodBuilder picky = Web("p").NodeAffinityDoesNotExist("disk");
  const auto ignoring = WebPerZone([](auto& c) { c.node_affinity_policy = "Ignore"; });
  EXPECT_THAT(Fitting(PodBuilder(picky).SpreadConstraint(WebPerZone([](auto&) {}))), ElementsAre("b1", "b2", "c1"));
  EXPECT_THAT(Fitting(PodBuilder(picky).SpreadConstraint(ignoring)), ElementsAre("c1"));

  // Hosts: a1=2, a2=1, b1=1, b2=0 (tainted), c1=0.
  auto per_host = WebPerZone([](auto& c) { c.topology_key = Symbol(kHostLabel); });
  const PodBuilder no_disk = Web("p").NodeAffinityIn(kZoneLabel, {"a", "b"});
  EXPECT_THAT(Fitting(PodBuilder(no_disk).SpreadConstraint(per_host)), ElementsAre("b2", "bare", "c1"));
  per_host.node_taints_policy = "Honor";
  EXPECT_THAT(Fitting(PodBuilder(no_disk).SpreadConstraint(per_host)), ElementsAre("a2", "b1", "b2", "bare", "c1"));
  EXPECT_THAT(Fitting(PodBuilder(no_disk).Tolerate("gpu").SpreadConstraint(per_host)), ElementsAre("b2", "bare", "c1"));
}

TEST_F(PodTopologySpreadTest, TooFewDomainsMakeTheMinimumZero) {
  const PodBuilder in_a_and_b = Web("p").NodeAffinityIn(kZoneLabel, {"a", "b"});
  EXPECT_THAT(Fitting(PodBuilder(in_a_and_b).SpreadConstraint(WebPerZone([](auto&) {}))),
              ElementsAre("b1", "b2", "c1"));
  EXPECT_THAT(Fitting(PodBuilder(in_a_and_b).SpreadConstraint(WebPerZone([](auto& c) { c.min_domains = 3; }))),
              ElementsAre("c1"));
}

TEST_F(PodTopologySpreadTest, FollowsPodsThatComeAndGo) {
  const framework::PodInfoPtr pod = Web("p").SpreadConstraint(WebPerZone([](auto&) {})).Info();
  CycleState original;
  ASSERT_TRUE(plugin_->PreFilter(original, *pod).status.ok());
  CycleState state = original.Clone();
  const auto verdict = [&](const CycleState& of, const char* node) {
    return Short(plugin_->Filter(of, *pod, handle_.cluster().Node(node)));
  };
  const framework::NodeInfo& c1 = handle_.cluster().Node("c1");
  ASSERT_TRUE(plugin_->AddPod(state, *pod, *Web("new").Info(), c1).ok());
  EXPECT_EQ(verdict(state, "b1"), "") << "the minimum rose to 1";
  EXPECT_EQ(verdict(state, "c1"), "");
  ASSERT_TRUE(plugin_->RemovePod(state, *pod, *Web("new").Info(), c1).ok());
  EXPECT_EQ(verdict(state, "b1"), "skew");
  ASSERT_TRUE(plugin_->AddPod(state, *pod, *Web("foreign").Namespace("elsewhere").Info(), c1).ok());
  ASSERT_TRUE(plugin_->AddPod(state, *pod, *Web("homeless").Info(), handle_.cluster().Node("bare")).ok());
  EXPECT_EQ(verdict(state, "b1"), "skew");
  // The terminating pod was never counted, but is subtracted anyway, as in upstream's preemption.
  ASSERT_TRUE(plugin_->RemovePod(state, *pod, *Web("leaving").Terminating().Info(), c1).ok());
  EXPECT_EQ(verdict(state, "c1"), "");
  EXPECT_EQ(verdict(original, "b1"), "skew") << "the original state is untouched";
}

TEST_F(PodTopologySpreadTest, ABadSelectorIsAnError) {
  const auto bad = WebPerZone([](auto& c) { c.label_selector = SelectorOf("app", "In", {}); });
  const std::string text = FilterAll(Web("p").SpreadConstraint(bad))["all"];
  EXPECT_THAT(text,
              ::testing::StartsWith("get constraints from pod: obtaining pod's hard topology spread constraints: "));
}

TEST_F(PodTopologySpreadTest, ScoresFewerPodsHigher) {
  // Three zones: ln 5 = 1.609. a: 3 pods, b: 1, c: 0.
  const PodBuilder pod = Web("p").SpreadConstraint(1, kZoneLabel, kScheduleAnyway, {{"app", "web"}});
  EXPECT_THAT(
      ScoreAll(pod, {"a1", "b1", "c1", "bare"}),
      ElementsAre(Pair("a1", Pair(5, 0)), Pair("b1", Pair(2, 60)), Pair("bare", Pair(0, 0)), Pair("c1", Pair(0, 100))));
  // maxSkew adds the same to all: 5+4, 2+4, 0+4.
  EXPECT_THAT(ScoreAll(Web("p").SpreadConstraint(5, kZoneLabel, kScheduleAnyway, {{"app", "web"}}), {"a1", "b1", "c1"}),
              ElementsAre(Pair("a1", Pair(9, 44)), Pair("b1", Pair(6, 77)), Pair("c1", Pair(4, 100))));
  EXPECT_THAT(ScoreAll(Web("p").SpreadConstraint(1, kZoneLabel, kScheduleAnyway, {{"app", "none"}}), {"a1", "b1"}),
              ElementsAre(Pair("a1", Pair(0, 100)), Pair("b1", Pair(0, 100))));
}

TEST_F(PodTopologySpreadTest, DefaultsNeedAServiceOrController) {
  EXPECT_TRUE(ScoreAll(Web("p"), {"a1", "b1"}).empty());
  handle_.Add(MakeService("web", {{"app", "web"}}));
  // Hosts: 4 of them, ln 6 = 1.792, skew 3. Zones: a, b and "none", ln 5, skew 5; the bare node has no zone cost.
  EXPECT_THAT(ScoreAll(Web("p"), {"a1", "a2", "b1", "bare"}),
              ElementsAre(Pair("a1", Pair(14, 14)), Pair("a2", Pair(13, 21)), Pair("b1", Pair(9, 50)),
                          Pair("bare", Pair(2, 100))));
  EXPECT_TRUE(ScoreAll(testing::MakePod("p").Label("app", "db"), {"a1", "b1"}).empty());
}

TEST_F(PodTopologySpreadTest, ListedDefaultsReplaceTheBuiltInOnes) {
  api::TopologySpreadConstraint hard = ZoneConstraint(1, kDoNotSchedule, {});
  hard.label_selector.reset();
  Configure(config::PodTopologySpreadArgs{{hard}, config::SpreadDefaulting::kList});
  EXPECT_THAT(FilterAll(Web("p")), ElementsAre(Pair("all", "skip")));
  api::ReplicaSet set;
  set.metadata.name = "web";
  set.metadata.namespace_ = Symbol("default");
  set.spec.selector = SelectorOf({{"app", "web"}});
  handle_.Add(set);
  PodBuilder owned = Web("p");
  owned.raw().metadata.owner_references.push_back(
      {.api_version = "apps/v1", .kind = "ReplicaSet", .name = "web", .uid = "u", .controller = true});
  EXPECT_THAT(Fitting(owned), ElementsAre("c1"));
  EXPECT_TRUE(ScoreAll(owned, {"a1", "b1"}).empty()) << "no soft constraint is listed";
}

TEST_F(PodTopologySpreadTest, HintsFollowWhatTheConstraintsRead) {
  const framework::PodInfoPtr pod =
      Web("p").SpreadConstraint(WebPerZone([](auto& c) { c.node_taints_policy = "Honor"; })).Info();
  ASSERT_EQ(plugin_->EventsToRegister().size(), 2u);
  const auto pods = [&](const EventObject& before, const EventObject& after) {
    return AskHint(*plugin_, EventResource::kPod, *pod, before, after);
  };
  const auto nodes = [&](const EventObject& before, const EventObject& after) {
    return AskHint(*plugin_, EventResource::kNode, *pod, before, after);
  };
  const EventObject none;
  const api::Pod placed = Web("w", "a1").Obj();
  const api::Pod pending = Web("w").Obj();
  const api::Pod db = MakePod("w", "a1").Label("app", "db").Obj();
  const api::Pod foreign = Web("w", "a1").Namespace("elsewhere").Obj();
  EXPECT_EQ(pods(none, &placed), QueueingHint::kQueue);
  EXPECT_EQ(pods(&placed, none), QueueingHint::kQueue);
  EXPECT_EQ(pods(none, &pending), QueueingHint::kSkip);
  EXPECT_EQ(pods(none, &foreign), QueueingHint::kSkip);
  EXPECT_EQ(pods(&db, none), QueueingHint::kSkip);
  EXPECT_EQ(pods(&db, &placed), QueueingHint::kQueue);
  EXPECT_EQ(pods(&placed, &placed), QueueingHint::kSkip);
  const api::Pod tolerating = PodBuilder(Web("p")).Tolerate("gpu").Obj();
  EXPECT_EQ(pods(&pod->pod(), &tolerating), QueueingHint::kQueue);

  const api::Node in_a = Host("n", "a").Obj();
  const api::Node in_b = Host("n", "b").Obj();
  const api::Node tainted = Host("n", "a").Taint("gpu").Obj();
  const api::Node bare = MakeNode("n").Obj();
  EXPECT_EQ(nodes(none, &in_a), QueueingHint::kQueue);
  EXPECT_EQ(nodes(&in_a, none), QueueingHint::kQueue);
  EXPECT_EQ(nodes(none, &bare), QueueingHint::kSkip);
  EXPECT_EQ(nodes(&bare, none), QueueingHint::kSkip);
  EXPECT_EQ(nodes(&in_a, &in_b), QueueingHint::kQueue);
  EXPECT_EQ(nodes(&in_a, &bare), QueueingHint::kQueue);
  EXPECT_EQ(nodes(&in_a, &tainted), QueueingHint::kQueue);
  EXPECT_EQ(nodes(&in_a, &in_a), QueueingHint::kSkip);
  EXPECT_EQ(nodes(&bare, &bare), QueueingHint::kSkip);
}

TEST_F(PodTopologySpreadTest, SignsWhatItReads) {
  const auto constrained = [](const PodBuilder& pod) {
    return PodBuilder(pod).SpreadConstraint(WebPerZone([](auto&) {}));
  };
  const std::string signature = Signature(constrained(Web("p")));
  EXPECT_EQ(signature, Signature(constrained(Web("q").Label("unread", "x"))));
  EXPECT_NE(signature, Signature(constrained(testing::MakePod("q")))) << "does not match itself";
  EXPECT_NE(signature, Signature(constrained(Web("q").Namespace("elsewhere"))));
  EXPECT_NE(signature, Signature(constrained(Web("q").NodeSelector("disk", "ssd"))));
  EXPECT_NE(signature, Signature(Web("q").SpreadConstraint(2, kZoneLabel, kDoNotSchedule, {{"app", "web"}})));
  EXPECT_NE(signature, Signature(Web("q").SpreadConstraint(1, kZoneLabel, kScheduleAnyway, {{"app", "web"}})));
}

TEST(PodTopologySpread, ExplainsTheSkewAndAllowsIt) {
  FakeHandle handle;
  handle.cluster().AddNode(MakeNode("a").Label("zone", "east"));
  handle.cluster().AddNode(MakeNode("b").Label("zone", "west"));
  handle.cluster().AddNode(MakeNode("c"));
  handle.cluster().AddPod(MakePod("w1").Label("app", "web").Node("a"));
  handle.cluster().AddPod(MakePod("w2").Label("app", "web").Node("a"));
  const auto plugin = MakePlugin<PodTopologySpread>(handle, config::PodTopologySpreadArgs());
  const framework::PodInfoPtr pod =
      MakePod("p").Label("app", "web").SpreadConstraint(1, "zone", "DoNotSchedule", {{"app", "web"}}).Info();
  const auto& cluster = handle.cluster();

  EXPECT_THAT(berth::testing::FindingsOf(*plugin, *pod, cluster.Node("a")),
              ElementsAre("maxSkew by zone | 3 | 1 | zone=east would have 3 matching pods, 3 more than the emptiest "
                          "(west 0, east 2); maxSkew is 1"));
  EXPECT_THAT(berth::testing::FindingsOf(*plugin, *pod, cluster.Node("b")), ::testing::IsEmpty());
  EXPECT_THAT(berth::testing::FindingsOf(*plugin, *pod, cluster.Node("c")),
              ElementsAre("label zone | any value |  | the node has no label zone, by which pods are spread"));

  const std::vector<framework::Remedy> remedies = berth::testing::RemediesOf(*plugin, *pod, cluster.Node("a"));
  ASSERT_EQ(remedies.size(), 1u);
  EXPECT_EQ(berth::testing::TextOf(remedies[0]), "maxSkew 1 -> 3 by zone");
  EXPECT_TRUE(berth::testing::Judge(*plugin, *berth::testing::ChangedPod(remedies[0]), cluster.Node("a")).ok());
  const std::vector<framework::Remedy> labels = berth::testing::RemediesOf(*plugin, *pod, cluster.Node("c"));
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(berth::testing::TextOf(labels[0]), "label zone on c, as it is in truth (tried with west)");
}

}  // namespace
}  // namespace berth::plugins
