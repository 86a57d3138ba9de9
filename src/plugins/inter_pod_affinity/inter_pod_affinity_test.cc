#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using ::berth::testing::MakeAffinityTerm;
using ::berth::testing::MakeNamespace;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePlugin;
using ::berth::testing::MakePod;
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
using ::testing::IsEmpty;
using ::testing::Pair;

using Verdicts = std::map<std::string, std::string>;

PodBuilder App(std::string_view name, std::string_view app, std::string_view node = "") {
  return MakePod(name).Label("app", app).Node(node);
}
api::PodAffinityTerm TermIn(std::string_view app, api::LabelSelector namespace_selector) {
  api::PodAffinityTerm term = MakeAffinityTerm("zone", {{"app", app}});
  term.namespace_selector = std::move(namespace_selector);
  return term;
}

// Nodes a1 and a2 in zone a, b1 in zone b, bare without a zone; every node has a host label. A cache runs on a1.
class InterPodAffinityTest : public ::testing::Test {
 protected:
  InterPodAffinityTest() {
    for (const auto& [name, zone] : {std::pair{"a1", "a"}, {"a2", "a"}, {"b1", "b"}}) {
      handle_.cluster().AddNode(MakeNode(name).Label("host", name).Label("zone", zone));
    }
    handle_.cluster().AddNode(MakeNode("bare").Label("host", "bare"));
    handle_.cluster().AddPod(App("cache", "cache", "a1"));
    for (const char* team : {"red", "blue"}) {
      handle_.Add(MakeNamespace(team, {{"team", team}}));
    }
    Configure({});
  }

  void Configure(const config::PluginArgs& args) { plugin_ = MakePlugin<InterPodAffinity>(handle_, args); }

  static std::string Short(const Status& status) {
    if (status.ok()) return "";
    if (status == Status::UnschedulableAndUnresolvable(std::string(InterPodAffinity::kAffinityReason)))
      return "affinity";
    if (status == Status::Unschedulable(std::string(InterPodAffinity::kAntiAffinityReason))) return "anti";
    if (status == Status::Unschedulable(std::string(InterPodAffinity::kExistingAntiAffinityReason))) return "existing";
    return status.Message();
  }
  // Nodes that do not fit, and why; "all" when PreFilter does not succeed.
  Verdicts Rejections(const PodBuilder& builder) {
    const framework::PodInfoPtr pod = builder.Info();
    CycleState state;
    const Status status = plugin_->PreFilter(state, *pod).status;
    if (status.IsSkip()) return {{"all", "skip"}};
    if (!status.ok()) return {{"all", status.Message()}};
    std::vector<uint8_t> range(4, 77);
    EXPECT_TRUE(plugin_->FilterRange(state, *pod, handle_.cluster().columns(), 0, range));
    Verdicts rejections;
    for (const framework::NodeInfo* node : handle_.cluster().nodes()) {
      const Status verdict = plugin_->Filter(state, *pod, *node);
      EXPECT_EQ(verdict.ok(), range[node->index()] == 0) << node->name();
      if (!verdict.ok()) rejections[node->name()] = Short(verdict);
    }
    return rejections;
  }

  Scores ScoreAll(const PodBuilder& builder) {
    return testing::ScoreAll(*plugin_, *builder.Info(), handle_.cluster().nodes());
  }

  std::string Signature(const PodBuilder& builder) { return SignatureOf(*plugin_, *builder.Info()); }

  FakeHandle handle_;
  std::unique_ptr<InterPodAffinity> plugin_;
};

TEST_F(InterPodAffinityTest, FiltersByTheTermsOfThePod) {
  struct Case {
    const char* what;
    PodBuilder pod;
    Verdicts rejections;
  };
  const Case cases[] = {
      {"no terms anywhere", App("p", "web"), {{"all", "skip"}}},
      {"preferred terms filter nothing",
       App("p", "web").PreferredPodAffinity(5, "zone", {{"app", "cache"}}),
       {{"all", "skip"}}},
      {"near the cache",
       App("p", "web").PodAffinity("zone", {{"app", "cache"}}),
       {{"b1", "affinity"}, {"bare", "affinity"}}},
      {"away from the cache",
       App("p", "web").PodAntiAffinity("zone", {{"app", "cache"}}),
       {{"a1", "anti"}, {"a2", "anti"}}},
      {"affinity is judged first",
       App("p", "web").PodAffinity("zone", {{"app", "cache"}}).PodAntiAffinity("host", {{"app", "cache"}}),
       {{"a1", "anti"}, {"b1", "affinity"}, {"bare", "affinity"}}},
      {"nobody to be near",
       App("p", "web").PodAffinity("zone", {{"app", "gone"}}),
       {{"a1", "affinity"}, {"a2", "affinity"}, {"b1", "affinity"}, {"bare", "affinity"}}},
      {"the first of a series goes anywhere with the label",
       App("p", "web").PodAffinity("zone", {{"app", "web"}}),
       {{"bare", "affinity"}}},
      {"not the first: someone matches already",
       App("p", "cache").PodAffinity("zone", {{"app", "cache"}}),
       {{"b1", "affinity"}, {"bare", "affinity"}}},
      {"one pod must match all terms",
       App("p", "web").PodAffinity("zone", {{"app", "cache"}}).PodAffinity("zone", {{"tier", "x"}}),
       {{"a1", "affinity"}, {"a2", "affinity"}, {"b1", "affinity"}, {"bare", "affinity"}}},
      {"terms speak of their own namespace",
       App("p", "web").Namespace("red").PodAntiAffinity("zone", {{"app", "cache"}}),
       {}},
  };
  for (const Case& c : cases) EXPECT_EQ(Rejections(c.pod), c.rejections) << c.what;
}

TEST_F(InterPodAffinityTest, ResolvesNamespaceSelectorsOfThePod) {
  handle_.cluster().AddPod(App("red-db", "db", "b1").Namespace("red"));
  const auto away = [](api::LabelSelector selector) {
    return App("p", "web").PodAntiAffinity(TermIn("db", std::move(selector)));
  };
  EXPECT_EQ(Rejections(away(SelectorOf({{"team", "red"}}))), (Verdicts{{"b1", "anti"}}));
  EXPECT_EQ(Rejections(away(SelectorOf({{"team", "blue"}}))), Verdicts{});
  EXPECT_EQ(Rejections(away({})), (Verdicts{{"b1", "anti"}})) << "an empty selector means every namespace";
  // Upstream v1.36 keeps such a selector beside the names, and evaluates it for a namespace without labels.
  EXPECT_EQ(Rejections(away(SelectorOf("team", "NotIn", {"red"}))), (Verdicts{{"b1", "anti"}}));
}

TEST_F(InterPodAffinityTest, PlacedPodsKeepOthersAway) {
  handle_.cluster().AddPod(App("loner", "loner", "b1").PodAntiAffinity("host", {{"app", "web"}}));
  handle_.cluster().AddPod(
      App("red-loner", "loner", "a2").PodAntiAffinity(TermIn("web", SelectorOf({{"team", "red"}}))));
  EXPECT_EQ(Rejections(App("p", "web")), (Verdicts{{"b1", "existing"}}));
  EXPECT_EQ(Rejections(App("p", "web").Namespace("red")), (Verdicts{{"a1", "existing"}, {"a2", "existing"}}));
  EXPECT_EQ(Rejections(App("p", "web").Namespace("unknown")), (Verdicts{{"all", "skip"}}));
  EXPECT_EQ(Rejections(App("p", "other")), (Verdicts{{"all", "skip"}}));
}

TEST_F(InterPodAffinityTest, FollowsPodsThatComeAndGo) {
  const framework::PodInfoPtr pod =
      App("p", "web").PodAffinity("zone", {{"app", "cache"}}).PodAntiAffinity("host", {{"app", "db"}}).Info();
  CycleState original;
  ASSERT_TRUE(plugin_->PreFilter(original, *pod).status.ok());
  CycleState state = original.Clone();
  const auto verdict = [&](const CycleState& of, const char* node) {
    return Short(plugin_->Filter(of, *pod, handle_.cluster().Node(node)));
  };
  const auto add = [&](const PodBuilder& other, const char* node) {
    ASSERT_TRUE(plugin_->AddPod(state, *pod, *other.Info(), handle_.cluster().Node(node)).ok());
  };
  const auto remove = [&](const PodBuilder& other, const char* node) {
    ASSERT_TRUE(plugin_->RemovePod(state, *pod, *other.Info(), handle_.cluster().Node(node)).ok());
  };
  add(App("cache2", "cache"), "b1");
  EXPECT_EQ(verdict(state, "b1"), "");
  add(App("db", "db"), "b1");
  EXPECT_EQ(verdict(state, "b1"), "anti");
  remove(App("db", "db"), "b1");
  add(App("loner", "loner").PodAntiAffinity("zone", {{"app", "web"}}), "b1");
  EXPECT_EQ(verdict(state, "b1"), "existing");
  remove(App("loner", "loner").PodAntiAffinity("zone", {{"app", "web"}}), "b1");
  remove(App("cache2", "cache"), "b1");
  EXPECT_EQ(verdict(state, "b1"), "affinity");
  remove(App("cache", "cache"), "a1");
  EXPECT_EQ(verdict(state, "a1"), "affinity") << "it does not match its own term";
  EXPECT_EQ(verdict(original, "a1"), "") << "the original state is untouched";
}

TEST_F(InterPodAffinityTest, ABadSelectorIsBeyondRepair) {
  const PodBuilder bad = App("p", "web").PodAffinity("zone", SelectorOf("app", "In", {}));
  const framework::PodInfoPtr pod = bad.Info();
  CycleState state;
  const Status status = plugin_->PreFilter(state, *pod).status;
  EXPECT_EQ(status.code(), framework::Code::kUnschedulableAndUnresolvable);
  EXPECT_THAT(status.Message(), ::testing::StartsWith("parsing pod: requiredAffinityTerms: "));
  framework::SignatureBuilder signature;
  EXPECT_FALSE(plugin_->Sign(*pod, signature));
}

TEST_F(InterPodAffinityTest, ScoresPreferencesOfBothSides) {
  EXPECT_THAT(ScoreAll(App("p", "web")), IsEmpty()) << "nobody says anything";
  EXPECT_THAT(ScoreAll(App("p", "web").PreferredPodAffinity(8, "zone", {{"app", "cache"}})),
              ElementsAre(Pair("a1", Pair(8, 100)), Pair("a2", Pair(8, 100)), Pair("b1", Pair(0, 0)),
                          Pair("bare", Pair(0, 0))));
  EXPECT_THAT(
      ScoreAll(App("p", "web")
                   .PreferredPodAffinity(8, "zone", {{"app", "cache"}})
                   .PreferredPodAntiAffinity(3, "host", {{"app", "cache"}})),
      ElementsAre(Pair("a1", Pair(5, 62)), Pair("a2", Pair(8, 100)), Pair("b1", Pair(0, 0)), Pair("bare", Pair(0, 0))));
  handle_.cluster().AddPod(App("fan", "fan", "b1").PodAffinity("zone", {{"app", "web"}}));
  handle_.cluster().AddPod(App("foe", "foe", "a2").PreferredPodAntiAffinity(4, "host", {{"app", "web"}}));
  const auto mutual = ElementsAre(Pair("a1", Pair(0, 80)), Pair("a2", Pair(-4, 0)), Pair("b1", Pair(1, 100)),
                                  Pair("bare", Pair(0, 80)));
  EXPECT_THAT(ScoreAll(App("p", "web")), mutual);

  Configure(config::InterPodAffinityArgs{.hard_pod_affinity_weight = 0});
  EXPECT_THAT(ScoreAll(App("p", "web")), ElementsAre(Pair("a1", Pair(0, 100)), Pair("a2", Pair(-4, 0)),
                                                     Pair("b1", Pair(0, 100)), Pair("bare", Pair(0, 100))));
  Configure(config::InterPodAffinityArgs{.ignore_preferred_terms_of_existing_pods = true});
  EXPECT_THAT(ScoreAll(App("p", "web")), IsEmpty());
}

TEST_F(InterPodAffinityTest, PreferencesThatCancelOutStillScore) {
  EXPECT_THAT(
      ScoreAll(App("p", "web")
                   .PreferredPodAffinity(8, "zone", {{"app", "cache"}})
                   .PreferredPodAntiAffinity(8, "zone", {{"app", "cache"}})),
      ElementsAre(Pair("a1", Pair(0, 0)), Pair("a2", Pair(0, 0)), Pair("b1", Pair(0, 0)), Pair("bare", Pair(0, 0))));
}

TEST_F(InterPodAffinityTest, HintsFollowTheRequiredTerms) {
  const framework::PodInfoPtr pod =
      App("p", "web").PodAffinity("zone", {{"app", "cache"}}).PodAntiAffinity("rack", {{"app", "db"}}).Info();
  ASSERT_EQ(plugin_->EventsToRegister().size(), 2u);
  const auto pods = [&](const EventObject& before, const EventObject& after) {
    return AskHint(*plugin_, EventResource::kPod, *pod, before, after);
  };
  const auto nodes = [&](const EventObject& before, const EventObject& after) {
    return AskHint(*plugin_, EventResource::kNode, *pod, before, after);
  };
  const EventObject none;
  const api::Pod cache = App("c", "cache", "a1").Obj();
  const api::Pod pending_cache = App("c", "cache").Obj();
  const api::Pod db = App("c", "db", "a1").Obj();
  const api::Pod foe = App("c", "foe", "a1").PodAntiAffinity("host", {{"app", "web"}}).Obj();
  const api::Pod relabelled = App("p", "other").Obj();
  EXPECT_EQ(pods(none, &cache), QueueingHint::kQueue);
  EXPECT_EQ(pods(none, &pending_cache), QueueingHint::kSkip);
  EXPECT_EQ(pods(none, &db), QueueingHint::kSkip);
  EXPECT_EQ(pods(&cache, none), QueueingHint::kSkip);
  EXPECT_EQ(pods(&db, none), QueueingHint::kQueue);
  EXPECT_EQ(pods(&foe, none), QueueingHint::kQueue);
  EXPECT_EQ(pods(&foe, &cache), QueueingHint::kQueue);
  EXPECT_EQ(pods(&db, &foe), QueueingHint::kQueue);
  EXPECT_EQ(pods(&foe, &foe), QueueingHint::kSkip);
  EXPECT_EQ(pods(&pod->pod(), &relabelled), QueueingHint::kQueue);

  const framework::PodInfoPtr near = App("p", "web").PodAffinity("zone", {{"app", "cache"}}).Info();
  const auto near_nodes = [&](const EventObject& before, const EventObject& after) {
    return AskHint(*plugin_, EventResource::kNode, *near, before, after);
  };
  const api::Node bare = MakeNode("n").Obj();
  const api::Node in_a = MakeNode("n").Label("zone", "a").Obj();
  const api::Node in_b = MakeNode("n").Label("zone", "b").Obj();
  const api::Node in_rack = MakeNode("n").Label("rack", "r").Obj();
  EXPECT_EQ(near_nodes(none, &in_a), QueueingHint::kQueue);
  EXPECT_EQ(near_nodes(none, &bare), QueueingHint::kSkip);
  EXPECT_EQ(near_nodes(&bare, &in_a), QueueingHint::kQueue);
  EXPECT_EQ(near_nodes(&in_a, &in_b), QueueingHint::kQueue);
  EXPECT_EQ(near_nodes(&in_a, &bare), QueueingHint::kSkip);
  EXPECT_EQ(nodes(none, &bare), QueueingHint::kQueue) << "anti-affinity fits a node without the label";
  EXPECT_EQ(nodes(&in_rack, &bare), QueueingHint::kQueue);
  EXPECT_EQ(nodes(&bare, &in_rack), QueueingHint::kSkip);
}

TEST_F(InterPodAffinityTest, SignsLabelsNamespaceAndTerms) {
  const std::string signature = Signature(App("p", "web"));
  EXPECT_EQ(signature, Signature(App("q", "web")));
  EXPECT_NE(signature, Signature(App("q", "db")));
  EXPECT_NE(signature, Signature(App("q", "web").Namespace("red")));
  EXPECT_NE(signature, Signature(App("q", "web").PodAffinity("zone", {{"app", "web"}})));
  EXPECT_NE(Signature(App("q", "web").PodAntiAffinity("zone", {{"app", "web"}})),
            Signature(App("q", "web").PodAffinity("zone", {{"app", "web"}})));
  EXPECT_NE(Signature(App("q", "web").PreferredPodAffinity(1, "zone", {{"app", "web"}})),
            Signature(App("q", "web").PreferredPodAffinity(2, "zone", {{"app", "web"}})));
}

TEST(InterPodAffinity, ExplainsWhoIsInTheWayOrMissing) {
  FakeHandle handle;
  handle.cluster().AddNode(MakeNode("a").Label("host", "a"));
  handle.cluster().AddNode(MakeNode("b").Label("host", "b"));
  handle.cluster().AddPod(MakePod("db").Label("app", "db").Node("a"));
  handle.cluster().AddPod(MakePod("loner").PodAntiAffinity("host", {{"app", "web"}}).Node("b"));
  const auto plugin = MakePlugin<InterPodAffinity>(handle, config::InterPodAffinityArgs());
  const struct {
    framework::PodInfoPtr pod;
    std::string node;
    std::string finding;
    std::string remedy;  // "": none
  } cases[] = {
      {MakePod("p").PodAntiAffinity("host", {{"app", "db"}}).Info(), "a",
       "anti-affinity | app=db by host | default/db | anti-affinity to app=db by host: default/db is on a",
       "no required anti-affinity"},
      {MakePod("p").PodAffinity("host", {{"app", "db"}}).Info(), "b",
       "affinity | app=db by host |  | affinity to app=db by host: no such pod where the node has host=b", ""},
      {MakePod("p").PodAffinity("zone", {{"app", "db"}}).Info(), "a",
       "affinity | app=db by zone |  | affinity to app=db by zone: the node has no label zone", ""},
      {MakePod("p").Label("app", "web").Info(), "b",
       "anti-affinity of others | app=web by host | default/loner | default/loner on b has anti-affinity to app=web "
       "by host",
       ""},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.finding);
    const framework::NodeInfo& node = handle.cluster().Node(test.node);
    EXPECT_THAT(berth::testing::FindingsOf(*plugin, *test.pod, node), ElementsAre(test.finding));
    const std::vector<framework::Remedy> remedies = berth::testing::RemediesOf(*plugin, *test.pod, node);
    ASSERT_EQ(remedies.size(), test.remedy.empty() ? 0u : 1u);
    if (remedies.empty()) continue;
    EXPECT_EQ(berth::testing::TextOf(remedies[0]), test.remedy);
    EXPECT_TRUE(berth::testing::ChangedPod(remedies[0])->required_anti_affinity_terms().empty());
  }
}

}  // namespace
}  // namespace berth::plugins
