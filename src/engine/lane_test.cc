// The lane with the in-tree plugins; each decision is also compared with one from scratch (verify).
#include <gtest/gtest.h>

#include "config/load.h"
#include "engine/evaluator.h"
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
        evaluator_(*profile_, world_.cluster, {.verify = true}) {
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
  EXPECT_EQ(evaluator_.statistics().decisions, 20u);
  EXPECT_EQ(evaluator_.statistics().evaluations, 0u);
}

TEST_F(LaneTest, SaysWhenNothingFits) {
  EXPECT_EQ(Decide(MakePod("large").Request("cpu", "5")).kind, Evaluator::Decision::Kind::kNoFit);
}

TEST_F(LaneTest, LeavesNominatedPodsToAFullEvaluation) {
  EXPECT_EQ(Decide(MakePod("p").Request("cpu", "1").NominatedNode("a")).kind, Evaluator::Decision::Kind::kAskEvaluate);
  world_.cluster.nominator().Nominate(MakePod("other").Priority(10).Info(), "b");
  EXPECT_EQ(Decide(MakePod("p").Request("cpu", "1")).kind, Evaluator::Decision::Kind::kAskEvaluate);
  EXPECT_EQ(Decide(MakePod("p").Priority(11).Request("cpu", "1")).kind, Evaluator::Decision::Kind::kChosen);
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
