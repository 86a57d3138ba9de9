// Preemption with the plugins of the default profile, on clusters that change at random. The search that keeps trials
// compares itself with one that starts over (CycleState::verify_incremental): a difference ends the program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "config/load.h"
#include "engine/search.h"
#include "engine/testing/world.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::engine {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePdb;
using berth::testing::MakePod;
using berth::testing::PodBuilder;

class ChangingCluster {
 public:
  explicit ChangingCluster(uint32_t seed) : draw_(seed), world_(seed) {
    for (int i = 0; i < kNodes; ++i) UpsertNode(i);
    for (int i = 0; i < kNodes * 8; ++i) AddPod();
  }

  void Change() {
    const int node = Draw(kNodes);
    switch (Draw(8)) {
      case 0:
      case 1:
        return AddPod();
      case 2:
        return AddPod();
      case 3:
        return world_.cluster.RemovePod(fmt::format("default/v{}", 1 + Draw(number_)));
      case 4:
        return UpsertNode(node);
      case 5:
        return world_.cluster.RemoveNode(NodeName(node));
      case 6:
        world_.cluster.objects().pod_disruption_budgets.Upsert(std::make_shared<const api::PodDisruptionBudget>(
            MakePdb(fmt::format("b{}", Draw(3)), {{"app", fmt::format("a{}", Draw(3))}}, Draw(3))));
        return;
      default:
        world_.cluster.nominator().Nominate(
            MakePod(fmt::format("promised{}", Draw(3))).Priority(Draw(4) * 10).Request("cpu", "1").Info(),
            NodeName(node));
    }
  }

  // Whether the filters judged nodes alone; unset when the pod fits somewhere.
  std::optional<bool> Search() {
    PodBuilder builder = MakePod(fmt::format("p{}", ++number_)).Priority(Draw(4) * 10).Label("app", "a0");
    builder.Request("cpu", "3").Tolerate("odd", "", "NoExecute");
    switch (Draw(6)) {
      case 0:
        builder.SpreadConstraint(1, "zone", "DoNotSchedule", {{"app", "a0"}});
        break;
      case 1:
        builder.PodAntiAffinity("zone", {{"app", "a1"}});
        break;
      case 2:
        builder.HostPort(8080);
        break;
      default:
        break;
    }
    const framework::PodInfoPtr pod = builder.Info();
    framework::CycleState state = profile_->NewCycleState();
    const Evaluation evaluation = EvaluateFromScratch(*profile_, state, *pod, Scope::kDecide);
    if (evaluation.fits()) AddPod();  // until it is full
    if (evaluation.fits() || !evaluation.error.ok()) return std::nullopt;
    state.verify_incremental = true;
    const framework::PostFilterResult result =
        profile_->RunPostFilter(state, *pod, evaluation.diagnosis.node_to_status);
    for (const framework::PodInfoPtr& victim : result.victims.pods) {
      world_.cluster.RemovePod(victim->uid());
      AddPod();
    }
    return profile_->FiltersJudgeNodesAlone(state);
  }

 private:
  static constexpr int kNodes = 25;
  static std::string NodeName(int i) { return fmt::format("n{}", i); }
  int Draw(int below) { return static_cast<int>(draw_() % static_cast<uint32_t>(below)); }

  void UpsertNode(int i) {
    auto node = MakeNode(NodeName(i)).Capacity("cpu", Draw(2) ? "4" : "6").Capacity("pods", "10");
    node.Label("zone", fmt::format("z{}", i % 3));
    if (Draw(6) == 0) node.Taint("odd", "", "NoSchedule");
    world_.cluster.UpsertNode(node.Shared());
  }
  void AddPod() {
    PodBuilder pod = MakePod(fmt::format("v{}", ++number_)).Node(NodeName(Draw(kNodes))).Priority(Draw(4) * 10);
    pod.Request("cpu", Draw(2) ? "1" : "2").Label("app", fmt::format("a{}", Draw(3)));
    if (Draw(3) != 0) pod.StartTime(base::Time(std::chrono::hours(900 + Draw(200))));
    if (Draw(6) == 0) pod.HostPort(8080);
    world_.cluster.UpsertPod(pod.Shared());
  }

  std::mt19937 draw_;
  testing::World world_;
  std::unique_ptr<Profile> profile_ =
      world_.MakeProfile(config::DefaultConfiguration(world_.gates).profiles.front(), plugins::InTreeRegistry());
  int number_ = 0;
};

TEST(PreemptionTwins, TheDefaultPluginsKeepNothingThatIsStale) {
  int alone = 0, by_domain = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    ChangingCluster cluster(seed);
    for (int step = 0; step < 60; ++step) {
      if (const std::optional<bool> searched = cluster.Search()) ++(*searched ? alone : by_domain);
      for (int changes = step % 4; changes > 0; --changes) cluster.Change();
    }
  }
  EXPECT_GT(alone, 300);
  EXPECT_GT(by_domain, 100);
}

}  // namespace
}  // namespace berth::engine
