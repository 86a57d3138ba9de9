// A plugin may declare that its PreScore does not read the feasible nodes; the engine then passes none, and does not
// run it again when other nodes are feasible. This test checks every plugin of the registry that declares so.
#include <gtest/gtest.h>

#include <optional>

#include "plugins/registry.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::plugins {
namespace {

using framework::NodeInfo;
using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePod;

using Nodes = std::vector<const NodeInfo*>;

// A score by node; unset for a plugin that skips.
using ScoresIfAny = std::optional<std::vector<int64_t>>;

ScoresIfAny ScoresAfter(const framework::Plugin& plugin, const framework::PodInfo& pod, const Nodes& feasible,
                        const testing::FakeCluster& cluster) {
  framework::CycleState state;
  if (const auto* pre_filter = dynamic_cast<const framework::PreFilterPlugin*>(&plugin)) {
    (void)pre_filter->PreFilter(state, pod);
  }
  const framework::Status status =
      dynamic_cast<const framework::PreScorePlugin&>(plugin).PreScore(state, pod, feasible);
  if (status.IsSkip()) return std::nullopt;
  EXPECT_TRUE(status.ok()) << status.Message();
  std::vector<int64_t> scores;
  for (const NodeInfo* node : cluster.nodes()) {
    scores.push_back(dynamic_cast<const framework::ScorePlugin&>(plugin).Score(state, pod, *node).score);
  }
  return scores;
}

void FillCluster(testing::FakeCluster& cluster) {
  for (int i = 0; i < 6; ++i) {
    auto node = MakeNode("n" + std::to_string(i)).Capacity("cpu", "8").Capacity("memory", "16Gi");
    node.Capacity("pods", "20");
    node.Label("zone", i % 2 ? "a" : "b").Label("kubernetes.io/hostname", "n" + std::to_string(i));
    if (i == 3) node.Taint("slow", "yes", "PreferNoSchedule");
    cluster.AddNode(node);
  }
  for (int i = 0; i < 9; ++i) {
    auto pod = MakePod("p" + std::to_string(i)).Node("n" + std::to_string(i * i % 6)).Request("cpu", "500m");
    pod.Label("app", i % 3 ? "web" : "db");
    if (i % 4 == 0) pod.PreferredPodAffinity(3, "zone", {{"app", "new"}});
    cluster.AddPod(pod);
  }
}

std::vector<framework::PodInfoPtr> PodsOfManyKinds() {
  return {
      MakePod("plain").Info(),
      MakePod("asks").Request("cpu", "1").Request("memory", "1Gi").Info(),
      MakePod("tolerates").Tolerate("slow", "yes", "PreferNoSchedule").Info(),
      MakePod("prefers").PreferredNodeAffinity(5, "zone", {"a"}).Info(),
      MakePod("near").Label("app", "new").PreferredPodAffinity(2, "zone", {{"app", "web"}}).Info(),
      MakePod("far").PreferredPodAntiAffinity(2, "kubernetes.io/hostname", {{"app", "web"}}).Info(),
      MakePod("must").PodAffinity("zone", testing::LabelPairs{{"app", "web"}}).Info(),
      MakePod("spread").Label("app", "web").SpreadConstraint(1, "zone", "ScheduleAnyway", {{"app", "web"}}).Info(),
      MakePod("claims").Pvc("data").Info(),
  };
}

TEST(FeasibleNodes, WhoSaysThatPreScoreReadsNoneAnswersTheSameWithAny) {
  FakeHandle handle;
  FillCluster(handle.cluster());
  const Nodes all(handle.cluster().nodes().begin(), handle.cluster().nodes().end());
  const Nodes some = {all[0], all[3]};
  const framework::Registry registry = InTreeRegistry();
  int held_to_it = 0;
  for (const auto& [name, entry] : registry.entries()) {
    SCOPED_TRACE(name);
    config::PluginArgs args;
    if (name == "RequestedToCapacityRatio") args = config::RequestedToCapacityRatioArgs{.shape = {{0, 0}, {100, 10}}};
    const Result<std::unique_ptr<framework::Plugin>> plugin = entry.factory(args, handle);
    ASSERT_TRUE(plugin.ok()) << plugin.error().message;
    const auto* pre_score = dynamic_cast<const framework::PreScorePlugin*>(plugin->get());
    if (!pre_score || !dynamic_cast<const framework::ScorePlugin*>(plugin->get())) continue;
    const auto* kept = dynamic_cast<const framework::IncrementalState*>(plugin->get());
    for (const framework::PodInfoPtr& pod : PodsOfManyKinds()) {
      SCOPED_TRACE(pod->name());
      const bool needs_none = !pre_score->ReadsFeasibleNodes(*pod);
      if (!needs_none && (!kept || kept->pre_score_reads_feasible_nodes())) continue;
      ++held_to_it;
      const ScoresIfAny with_all = ScoresAfter(**plugin, *pod, all, handle.cluster());
      EXPECT_EQ(ScoresAfter(**plugin, *pod, some, handle.cluster()), with_all);
      if (needs_none) {
        EXPECT_EQ(ScoresAfter(**plugin, *pod, {}, handle.cluster()), with_all);
      }
    }
  }
  EXPECT_GT(held_to_it, 20) << "or the test looks at nobody";
}

}  // namespace
}  // namespace berth::plugins
