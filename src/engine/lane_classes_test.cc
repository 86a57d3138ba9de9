// Compares choosing by class of nodes with a pass over all nodes: the same node from the same random numbers, with the
// same total and ties, over clusters that change at random.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "config/load.h"
#include "engine/evaluator.h"
#include "engine/testing/world.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::engine {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::PodBuilder;

constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kRack[] = "rack";
constexpr char kHost[] = "kubernetes.io/hostname";

api::TopologySpreadConstraint& LastConstraint(PodBuilder& pod) {
  return pod.raw().spec.topology_spread_constraints.back();
}

PodBuilder Web(const std::string& name) { return MakePod(name).Label("app", "web").Request("cpu", "100m"); }

// One of several kinds of pods that read topology domains.
PodBuilder Shaped(const std::string& name, unsigned shape) {
  PodBuilder pod = Web(name);
  switch (shape) {
    case 0:
      return pod.SpreadConstraint(1, kZone, "DoNotSchedule", {{"app", "web"}});
    case 1:
      return pod.SpreadConstraint(1, kZone, "ScheduleAnyway", {{"app", "web"}});
    case 2:
      return pod.SpreadConstraint(2, kZone, "DoNotSchedule", {{"app", "web"}})
          .SpreadConstraint(1, kHost, "ScheduleAnyway", {{"app", "web"}});
    case 3:
      return pod.PodAffinity(kZone, {{"app", "web"}}).PreferredNodeAffinity(20, "disk", {"ssd"});
    case 4:
      return pod.Label("colour", "red").PodAntiAffinity(kHost, {{"colour", "red"}});
    case 5:
      return pod.PreferredPodAffinity(5, kHost, {{"app", "web"}}).PreferredPodAntiAffinity(3, kRack, {{"app", "web"}});
    case 6:
      return pod.Label("app", "served");  // by a Service: the default constraints
    case 7:
      pod.SpreadConstraint(1, kRack, "DoNotSchedule", {{"app", "web"}});
      LastConstraint(pod).min_domains = 9;
      LastConstraint(pod).node_taints_policy = "Honor";
      return pod;
    case 8:
      pod.SpreadConstraint(3, kHost, "DoNotSchedule", {{"app", "web"}});
      pod.Label("version", "v2");
      LastConstraint(pod).match_label_keys = {Symbol("version")};
      return pod.SpreadConstraint(5, kRack, "ScheduleAnyway", {{"app", "web"}});
    case 9:
      pod.SpreadConstraint(1, kZone, "ScheduleAnyway", {{"app", "web"}}).NodeSelector("disk", "ssd");
      LastConstraint(pod).node_affinity_policy = "Ignore";
      return pod.Tolerate("pool");
    case 10:
      return pod.Label("app", "lonely").PodAffinity(kRack, {{"app", "lonely"}});
    default:
      return pod.PodAntiAffinity(kZone, {{"app", "enemy"}});
  }
}
constexpr unsigned kShapes = 12;

class ClassTwins : public ::testing::TestWithParam<uint32_t> {
 protected:
  ClassTwins()
      : random_(GetParam()),
        profile_(
            world_.MakeProfile(config::DefaultConfiguration(world_.gates).profiles.front(), plugins::InTreeRegistry())),
        by_class_(*profile_, world_.cluster, {.runner_ups = true}),
        by_pass_(*profile_, world_.cluster, {.runner_ups = true, .by_class = false}) {
    world_.cluster.objects().services.Upsert(
        std::make_shared<const api::Service>(berth::testing::MakeService("served", {{"app", "served"}})));
  }

  unsigned Below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  void UpsertNode(unsigned number) {
    const std::string name = "n" + std::to_string(number);
    auto node = MakeNode(name).Capacity("cpu", Below(8) == 0 ? "300m" : "2").Capacity("memory", "8Gi");
    node.Capacity("pods", Below(5) == 0 ? "3" : "110");
    // Hosts whose label is missing, or equals another's.
    if (Below(40) != 0) node.Label(kHost, hosts_overlap_ && Below(40) == 0 ? "n1" : name);
    if (Below(12) != 0) node.Label(kZone, "z" + std::to_string(Below(3)));
    if (Below(12) != 0) node.Label(kRack, Below(30) == 0 ? "" : "r" + std::to_string(Below(8)));
    if (Below(3) != 0) node.Label("disk", Below(2) == 0 ? "ssd" : "hdd");
    if (Below(6) == 0) node.Taint("pool", "batch", Below(2) == 0 ? "NoSchedule" : "PreferNoSchedule");
    world_.cluster.UpsertNode(node.Shared());
  }
  void Bind(PodBuilder pod, const std::string& node) {
    pod.Node(node);
    bound_.push_back(pod.Obj().metadata.uid);
    world_.cluster.UpsertPod(pod.Shared());
  }
  void RemoveAPod() {
    if (bound_.empty()) return;
    std::swap(bound_[Below(static_cast<unsigned>(bound_.size()))], bound_.back());
    world_.cluster.RemovePod(bound_.back());
    bound_.pop_back();
  }

  void Disturb(unsigned nodes) {
    const unsigned what = Below(100);
    if (what < 3) {
      UpsertNode(Below(nodes));
    } else if (what < 4) {
      world_.cluster.RemoveNode("n" + std::to_string(Below(nodes)));
    } else if (what < 30) {
      RemoveAPod();
    } else if (what < 40) {
      auto other = MakePod("x" + std::to_string(++others_)).Label("app", Below(6) == 0 ? "enemy" : "web");
      if (Below(5) == 0) other.PreferredPodAntiAffinity(7, kRack, {{"app", "web"}});
      if (Below(9) == 0) other.PodAntiAffinity(kHost, {{"app", "served"}});
      Bind(other, "n" + std::to_string(Below(nodes)));
    } else if (what < 42) {
      world_.cluster.nominator().Nominate(MakePod("promised").Priority(10).Request("cpu", "2").Info(),
                                          "n" + std::to_string(Below(nodes)));
    } else if (what < 44) {
      world_.cluster.nominator().Remove("default/promised");
    }
  }

  void DecideWithBoth(unsigned shape, int step) {
    const PodBuilder pod = Shaped("p" + std::to_string(step), shape);
    const Evaluator::Decision mine = by_class_.Decide(*pod.Info(), random_of_classes_);
    const Evaluator::Decision twin = by_pass_.Decide(*pod.Info(), random_of_passes_);
    ASSERT_EQ(mine.kind, twin.kind);
    chosen_ += mine.kind == Evaluator::Decision::Kind::kChosen;
    if (mine.kind == Evaluator::Decision::Kind::kNoFit) {
      ASSERT_EQ(FirstDifference(mine.diagnosis, twin.diagnosis, world_.cluster.nodes()), "");
      return;
    }
    if (mine.kind != Evaluator::Decision::Kind::kChosen) return;
    ASSERT_EQ(mine.choice.node, twin.choice.node);
    ASSERT_EQ(mine.choice.total, twin.choice.total);
    ASSERT_EQ(mine.choice.feasible, twin.choice.feasible);
    ASSERT_EQ(mine.choice.ties, twin.choice.ties);
    ASSERT_EQ(mine.choice.scored, twin.choice.scored);
    ASSERT_EQ(mine.runner_up.node, twin.runner_up.node);
    ASSERT_EQ(mine.runner_up.total, twin.runner_up.total);
    if (Below(10) != 0) Bind(pod, mine.choice.node->name());
  }

  std::mt19937 random_;
  bool hosts_overlap_ = false;
  testing::World world_;
  std::unique_ptr<Profile> profile_;
  Evaluator by_class_;
  Evaluator by_pass_;
  base::Random random_of_classes_{7};
  base::Random random_of_passes_{7};
  std::vector<std::string> bound_;
  int others_ = 0;
  int chosen_ = 0;
};

TEST_P(ClassTwins, MakeTheSameChoices) {
  hosts_overlap_ = GetParam() % 3 == 0;
  const unsigned nodes = 20 + 60 * (GetParam() % 4);
  for (unsigned i = 0; i < nodes; ++i) UpsertNode(i);
  unsigned shape = 0;
  for (int step = 0; step < 500; ++step) {
    // Pods of one shape come in series.
    if (Below(4) == 0) shape = Below(kShapes);
    DecideWithBoth(shape, step);
    if (HasFatalFailure()) FAIL() << "shape " << shape << " at step " << step;
    Disturb(nodes);
  }
  EXPECT_GT(chosen_, 200);
}
INSTANTIATE_TEST_SUITE_P(Seeds, ClassTwins, ::testing::Range(1u, 13u));

}  // namespace
}  // namespace berth::engine
