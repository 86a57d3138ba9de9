// The lane with the in-tree plugins; each decision is also compared with a full evaluation (verify).
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "config/load.h"
#include "engine/evaluator.h"
#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::engine {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;

class LaneTest : public ::testing::Test {
 protected:
  LaneTest()
      : profile_(
            world_.MakeProfile(config::DefaultConfiguration(world_.gates).profiles.front(), plugins::InTreeRegistry())),
        evaluator_(*profile_, world_.cluster, {.verify = true, .runner_ups = true}) {
    for (const char* name : {"a", "b", "c"}) {
      world_.cluster.UpsertNode(
          MakeNode(name).Label("kubernetes.io/hostname", name).Capacity("cpu", "4").Capacity("memory", "8Gi").Shared());
    }
  }

  void SetNamespace(std::string_view name, std::string_view team) {
    api::Namespace object;
    object.metadata.name = name;
    object.metadata.labels.Set(Symbol("team"), Symbol(team));
    world_.cluster.objects().namespaces.Upsert(std::make_shared<const api::Namespace>(std::move(object)));
  }
  Evaluator::Decision Decide(const berth::testing::PodBuilder& pod) {
    return evaluator_.Decide(*pod.Info(), world_.random);
  }

  testing::World world_;
  std::unique_ptr<Profile> profile_;
  Evaluator evaluator_;
};

TEST_F(LaneTest, DecidesWithoutAFullEvaluation) {
  for (int i = 0; i < 20; ++i) {
    const auto pod = MakePod("p" + std::to_string(i)).Request("cpu", "500m");
    const Evaluator::Decision decision = Decide(pod);
    ASSERT_EQ(decision.kind, Evaluator::Decision::Kind::kChosen) << i;
    auto bound = pod.Obj();
    bound.spec.node_name = decision.choice.node->name();
    world_.cluster.UpsertPod(std::make_shared<const api::Pod>(std::move(bound)));
  }
}

TEST_F(LaneTest, SaysWhyNothingFits) {
  world_.cluster.UpsertNode(MakeNode("a").Capacity("cpu", "4").Capacity("memory", "8Gi").Unschedulable().Shared());
  world_.cluster.UpsertPod(MakePod("there").Request("cpu", "3").Node("b").Shared());
  const Evaluator::Decision decision = Decide(MakePod("large").Request("cpu", "4").Request("memory", "9Gi"));
  ASSERT_EQ(decision.kind, Evaluator::Decision::Kind::kNoFit);
  EXPECT_EQ(framework::FitErrorMessage(decision.diagnosis, 3),
            "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 2 Insufficient memory.");
  world_.cluster.RemovePod("default/there");
  EXPECT_EQ(
      framework::FitErrorMessage(Decide(MakePod("large").Request("cpu", "4").Request("memory", "9Gi")).diagnosis, 3),
      "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient memory.");
}

TEST_F(LaneTest, SaysWhyNothingFitsByDomain) {
  world_.cluster.UpsertPod(MakePod("full").Request("cpu", "4").Node("a").Shared());
  const auto lonely = MakePod("p")
                          .Request("cpu", "1")
                          .PodAffinity(berth::testing::MakeAffinityTerm("kubernetes.io/hostname", {{"app", "nobody"}}));
  for (int i = 0; i < 2; ++i) {
    const Evaluator::Decision decision = Decide(lonely);
    ASSERT_EQ(decision.kind, Evaluator::Decision::Kind::kNoFit);
    EXPECT_EQ(framework::FitErrorMessage(decision.diagnosis, 3),
              "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod affinity rules.");
  }
}

TEST_F(LaneTest, WhatWasToldDoesNotChangeWithTheCluster) {
  const auto large = MakePod("large").Request("cpu", "5");
  const auto larger = MakePod("larger").Request("cpu", "4").Request("memory", "7Gi");
  world_.cluster.UpsertPod(MakePod("there").Request("memory", "2Gi").Node("a").Shared());
  for (const char* node : {"b", "c"}) {
    world_.cluster.UpsertPod(MakePod(std::string("on-") + node).Request("cpu", "1").Node(node).Shared());
  }
  const Evaluator::Decision before = Decide(larger);
  const std::string text = "0/3 nodes are available: 1 Insufficient memory, 2 Insufficient cpu.";
  ASSERT_EQ(framework::FitErrorMessage(before.diagnosis, 3), text);
  world_.cluster.UpsertPod(MakePod("more").Request("cpu", "1").Node("a").Shared());
  world_.cluster.UpsertPod(MakePod("much").Request("memory", "2Gi").Node("c").Shared());
  const Evaluator::Decision after = Decide(larger);
  EXPECT_EQ(framework::FitErrorMessage(after.diagnosis, 3),
            "0/3 nodes are available: 2 Insufficient memory, 3 Insufficient cpu.");
  const auto reasons = [&](const Evaluator::Decision& decision, const char* node) {
    return decision.diagnosis.node_to_status.Get(world_.cluster.Find(node)->index()).reasons().size();
  };
  EXPECT_EQ(reasons(before, "c"), 1u);
  EXPECT_EQ(reasons(after, "c"), 2u);
  EXPECT_EQ(Decide(large).diagnosis.node_to_status.explicit_count(), 3u);
}

TEST_F(LaneTest, TakesTheNodeThatThePodWasPromised) {
  Evaluator::Decision decision = Decide(MakePod("p").Request("cpu", "1").NominatedNode("a"));
  ASSERT_EQ(decision.kind, Evaluator::Decision::Kind::kChosen);
  EXPECT_TRUE(decision.choice.nominated);
  EXPECT_EQ(decision.choice.node->name(), "a");
  world_.cluster.UpsertPod(MakePod("thief").Request("cpu", "4").Node("a").Shared());
  decision = Decide(MakePod("p").Request("cpu", "1").NominatedNode("a"));
  EXPECT_FALSE(decision.choice.nominated);
  EXPECT_EQ(decision.choice.feasible, 2u);
}

TEST_F(LaneTest, NodesPromisedToOthersAreTaken) {
  const auto feasible = [&](int32_t priority) {
    return Decide(MakePod("p").Priority(priority).Request("cpu", "1")).choice.feasible;
  };
  EXPECT_EQ(feasible(5), 3u);
  world_.cluster.nominator().Nominate(MakePod("other").Priority(10).Request("cpu", "4").Info(), "b");
  EXPECT_EQ(feasible(5), 2u);
  EXPECT_EQ(feasible(11), 3u) << "may push it aside";
  world_.cluster.UpsertPod(MakePod("x").Request("cpu", "1").Node("c").Shared());
  EXPECT_EQ(feasible(5), 2u);
  world_.cluster.nominator().Remove("default/other");
  EXPECT_EQ(feasible(5), 3u);
}

TEST_F(LaneTest, WhyNothingFitsCountsPromises) {
  for (const char* node : {"a", "c"}) {
    world_.cluster.UpsertPod(MakePod(std::string("on-") + node).Request("cpu", "4").Node(node).Shared());
  }
  world_.cluster.nominator().Nominate(MakePod("other").Priority(10).Request("cpu", "4").Request("memory", "8Gi").Info(),
                                      "b");
  const Evaluator::Decision decision = Decide(MakePod("p").Request("cpu", "1").Request("memory", "1Gi"));
  ASSERT_EQ(decision.kind, Evaluator::Decision::Kind::kNoFit);
  EXPECT_EQ(framework::FitErrorMessage(decision.diagnosis, 3),
            "0/3 nodes are available: 1 Insufficient memory, 3 Insufficient cpu.");
}

// Signs pods, and implements PreFilter but no Filter.
class GateKeeper final : public testing::Named, public framework::PreFilterPlugin, public framework::SignPlugin {
 public:
  GateKeeper(std::string name, const framework::PreFilterResult* answer) : Named(std::move(name)), answer_(answer) {}
  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo&) const override {
    return *answer_;
  }
  bool Sign(const framework::PodInfo&, framework::SignatureBuilder&) const override { return true; }

 private:
  const framework::PreFilterResult* const answer_;
};

TEST_F(LaneTest, APreFilterWithoutAFilterIsAskedEveryTime) {
  framework::PreFilterResult answer;
  framework::Registry registry = plugins::InTreeRegistry();
  testing::Add<GateKeeper>(registry, "GateKeeper", static_cast<const framework::PreFilterResult*>(&answer));
  config::Profile config = config::DefaultConfiguration(world_.gates).profiles.front();
  config.plugins.multi_point.enabled.push_back({"GateKeeper", 0});
  const std::unique_ptr<Profile> profile = world_.MakeProfile(config, registry);
  Evaluator evaluator(*profile, world_.cluster, {.verify = true});
  const auto decide = [&] { return evaluator.Decide(*MakePod("p").Request("cpu", "1").Info(), world_.random).kind; };
  using Kind = Evaluator::Decision::Kind;
  EXPECT_EQ(decide(), Kind::kChosen);
  answer.status = framework::Status::Unschedulable("closed");
  EXPECT_EQ(decide(), Kind::kAskEvaluate) << "nothing has changed but its mind";
  answer = {};
  EXPECT_EQ(decide(), Kind::kChosen);
  answer.node_names = {"b"};
  EXPECT_EQ(decide(), Kind::kAskEvaluate);
}

TEST_F(LaneTest, TimesEveryBuildAndSomeCatchUps) {
  std::map<std::string, int> calls;
  profile_->set_lane_observer([&](LaneWork work, config::ExtensionPoint, std::string_view plugin, base::Duration) {
    ++calls[std::string(plugin) + (work == LaneWork::kBuild ? " build" : " catch-up")];
  });
  for (int i = 0; i < 130; ++i) {
    (void)Decide(MakePod("p").Request("cpu", "1"));
    world_.cluster.UpsertPod(MakePod("q" + std::to_string(i)).Node("a").Shared());
  }
  EXPECT_EQ(calls["NodeResourcesFit build"], 2) << "once as a filter, once as a score";
  EXPECT_GE(calls["NodeResourcesFit catch-up"], 3) << "the first and one in sixty-four, as filter and perhaps as score";
  EXPECT_LE(calls["NodeResourcesFit catch-up"], 6);
}

TEST_F(LaneTest, ANamespaceThatChangesItsLabelsIsNoticed) {
  SetNamespace("other", "blue");
  world_.cluster.UpsertPod(MakePod("there").Namespace("other").Label("app", "db").Node("a").Shared());
  api::PodAffinityTerm term = berth::testing::MakeAffinityTerm("kubernetes.io/hostname", {{"app", "db"}});
  term.namespace_selector = api::LabelSelector{{{Symbol("team"), Symbol("red")}}, {}};
  const auto pod = MakePod("apart").Request("cpu", "1").PodAntiAffinity(term);
  EXPECT_EQ(Decide(pod).choice.feasible, 3u);
  SetNamespace("other", "red");
  EXPECT_EQ(Decide(pod).choice.feasible, 2u);
}

}  // namespace
}  // namespace berth::engine
