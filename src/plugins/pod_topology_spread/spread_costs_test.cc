// Costs compared with their definition, node by node.
#include "plugins/pod_topology_spread/spread_costs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "testing/builders.h"
#include "testing/fake_cluster.h"

namespace berth::plugins {
namespace {

using ::berth::testing::FakeCluster;
using ::berth::testing::kHostLabel;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePod;
using framework::NodeInfo;

SpreadConstraint Constraint(const char* key, int32_t max_skew, const char* app) {
  SpreadConstraint constraint;
  constraint.topology_key = Symbol(key);
  constraint.max_skew = max_skew;
  constraint.selector = api::Selector::FromLabels(testing::LabelsOf({{"app", app}}));
  return constraint;
}

// A missing label counts as an empty one, except that the node itself has no cost.
std::string ValueOf(const NodeInfo& node, const Symbol& key) {
  const Symbol* value = node.labels().Find(key);
  return value != nullptr ? std::string(value->str()) : "";
}

struct Scene {
  const FakeCluster& cluster;
  const SpreadPlan& plan;
  const std::vector<const NodeInfo*>& feasible;
  bool requires_every_key;

  bool Ignores(const NodeInfo& node) const { return requires_every_key && !plan.HasEveryKey(node.index()); }

  double CostOf(size_t i, const NodeInfo& node) const {
    const SpreadConstraint& constraint = plan.constraint(i);
    const bool per_host = constraint.topology_key == kHostLabel;
    std::set<std::string> domains;
    for (const NodeInfo* other : feasible) {
      if (!Ignores(*other)) domains.insert(per_host ? other->name() : ValueOf(*other, constraint.topology_key));
    }
    int64_t pods = 0;
    for (const NodeInfo* other : cluster.nodes()) {
      const bool counts = per_host
                              ? other == &node
                              : !Ignores(*other) && plan.Includes(i, *other) &&
                                    ValueOf(*other, constraint.topology_key) == ValueOf(node, constraint.topology_key);
      if (counts) pods += CountSelectedPods(*other, constraint.selector, plan.name_space());
    }
    return static_cast<double>(pods) * std::log(static_cast<double>(domains.size() + 2)) +
           static_cast<double>(constraint.max_skew - 1);
  }
  int64_t ScoreOf(const NodeInfo& node) const {
    if (Ignores(node)) return 0;
    double cost = 0;
    for (size_t i = 0; i < plan.size(); ++i) {
      if (node.labels().Find(plan.constraint(i).topology_key) != nullptr) cost += CostOf(i, node);
    }
    return static_cast<int64_t>(std::round(cost));
  }
};

TEST(SpreadCosts, AreWhatTheDefinitionSays) {
  const std::vector<std::vector<SpreadConstraint>> sets = {
      {Constraint("zone", 1, "web")},
      {Constraint(kHostLabel, 3, "web")},
      {Constraint(kHostLabel, 3, "web"), Constraint("zone", 5, "web")},
      {Constraint("zone", 2, "db"), Constraint("rack", 1, "web"), Constraint(kHostLabel, 1, "db")},
  };
  for (unsigned seed = 0; seed < 120; ++seed) {
    std::mt19937 random(seed);
    FakeCluster cluster;
    const int node_count = 2 + static_cast<int>(random() % 9);
    for (int i = 0; i < node_count; ++i) {
      const std::string name = "n" + std::to_string(i);
      auto node = MakeNode(name);
      if (random() % 6 != 0) node.Label(kHostLabel, name);
      if (random() % 6 != 0) node.Label("zone", random() % 6 == 0 ? "" : std::string(1, "abc"[random() % 3]));
      if (random() % 4 != 0) node.Label("rack", std::to_string(random() % 5));
      if (random() % 3 != 0) node.Label("disk", "ssd");
      cluster.AddNode(node);
    }
    for (int i = 0; i < 30; ++i) {
      auto pod = MakePod("p" + std::to_string(i)).Label("app", random() % 3 == 0 ? "db" : "web");
      if (random() % 8 == 0) pod.Terminating();
      cluster.AddPod(pod.Node("n" + std::to_string(random() % static_cast<unsigned>(node_count))));
    }
    auto incoming = MakePod("incoming").Label("app", "web");
    if (seed % 3 == 0) incoming.NodeSelector("disk", "ssd");
    std::vector<const NodeInfo*> feasible;
    std::vector<uint8_t> marks(cluster.columns().size(), 0);
    for (const NodeInfo* node : cluster.nodes()) {
      if (random() % 3 == 0) continue;
      feasible.push_back(node);
      marks[node->index()] = 1;
    }
    const bool requires_every_key = random() % 2 == 0;
    const auto plan =
        std::make_shared<const SpreadPlan>(*incoming.Info(), sets[seed % sets.size()], cluster, SpreadGates());
    SpreadCosts costs(plan, cluster, requires_every_key);
    costs.ChooseAmong(marks);
    const Scene scene{cluster, *plan, feasible, requires_every_key};
    for (const NodeInfo* node : feasible) {
      ASSERT_EQ(costs.ScoreOf(node->index()), scene.ScoreOf(*node)) << "seed " << seed << " " << node->name();
      ASSERT_EQ(costs.Ignores(node->index()), scene.Ignores(*node));
    }
  }
}

// More nodes than one block of the pass.
TEST(SpreadCosts, AgreesOverManyNodes) {
  FakeCluster cluster;
  for (int i = 0; i < 1300; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.AddNode(MakeNode(name).Label(kHostLabel, name).Label("zone", std::to_string(i % 3)));
  }
  for (int i = 0; i < 1300; i += 7) {
    cluster.AddPod(MakePod("p" + std::to_string(i)).Label("app", "web").Node("n" + std::to_string(i)));
  }
  const auto plan = std::make_shared<const SpreadPlan>(
      *MakePod("incoming").Info(), std::vector{Constraint(kHostLabel, 3, "web"), Constraint("zone", 5, "web")}, cluster,
      SpreadGates());
  SpreadCosts costs(plan, cluster, true);
  costs.ChooseAmong(std::vector<uint8_t>(cluster.columns().size(), 1));
  std::vector<int64_t> scores(1293);
  costs.ScoreRange(7, scores);
  for (size_t i = 0; i < scores.size(); ++i) {
    ASSERT_EQ(scores[i], costs.ScoreOf(static_cast<framework::NodeIndex>(7 + i))) << i;
  }
}

}  // namespace
}  // namespace berth::plugins
