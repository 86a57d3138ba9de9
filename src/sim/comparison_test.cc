#include "sim/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "plugins/registry.h"
#include "report/comparison_report.h"
#include "testing/builders.h"

namespace berth::sim {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

PodReport Placed(std::string node) { return {.outcome = PodOutcome::kScheduled, .node = std::move(node)}; }
PodReport Waiting(std::string why) { return {.outcome = PodOutcome::kPending, .message = std::move(why)}; }
PodReport Evicted(std::string node, std::string by) {
  PodReport report{.outcome = PodOutcome::kPreempted, .node = std::move(node)};
  report.preempted_by = std::move(by);
  return report;
}
PodReport Gated() { return {.outcome = PodOutcome::kGated, .message = "waiting for gates"}; }

RunOutcome Outcome(std::map<std::string, PodReport> pods) { return {std::move(pods), {}}; }

// "a/web Moved n1 -> n2: detail" of everything that differs.
std::vector<std::string> Differences(const RunOutcome& before, const RunOutcome& after) {
  std::vector<std::string> lines;
  for (const PodDifference& difference : Compare(before, "x", after, "y").differences) {
    lines.push_back(difference.pod + " " + std::string(NameOf(difference.change)) + " " + difference.node_before +
                    "->" + difference.node_after + (difference.detail.empty() ? "" : ": " + difference.detail));
  }
  return lines;
}

TEST(Comparison, NamesWhatBecameOfAPod) {
  struct Case {
    PodReport before, after;
    std::vector<std::string> differences;
  };
  const std::vector<Case> cases = {
      {Placed("n1"), Placed("n1"), {}},
      {Placed("n1"), Placed("n2"), {"p Moved n1->n2"}},
      {Waiting("full"), Placed("n2"), {"p Placed ->n2"}},
      {Placed("n1"), Waiting("full"), {"p Pending n1->: full"}},
      {Waiting("full"), Waiting("full"), {}},
      {Waiting("full"), Waiting("tainted"), {"p Reason ->: tainted"}},
      {Placed("n1"), Evicted("n1", "q"), {"p Preempted n1->: made room for q"}},
      {Evicted("n1", "q"), Evicted("n1", "q"), {}},
      {Evicted("n1", "q"), Evicted("n1", "r"), {"p Preempted ->: made room for r"}},
      {Evicted("n1", "q"), Placed("n1"), {"p Placed ->n1"}},
      {Placed("n1"), Gated(), {"p Held n1->: waiting for gates"}},
      {Gated(), Waiting("full"), {"p Pending ->: full"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Differences(Outcome({{"p", c.before}}), Outcome({{"p", c.after}})), c.differences);
  }
}

TEST(Comparison, PodsOfOneSideOnly) {
  EXPECT_THAT(Differences(Outcome({{"a", Placed("n1")}, {"b", Placed("n1")}}),
                          Outcome({{"b", Placed("n1")}, {"c", Waiting("full")}})),
              ElementsAre("a Removed n1->", "c Added ->: full"));
}

TEST(Comparison, WhoIsLeftUnplacedWasPlacedBeforeOrIsNew) {
  const RunOutcome before = Outcome({{"a", Placed("n1")}, {"b", Waiting("full")}});
  EXPECT_FALSE(Compare(before, "", Outcome({{"b", Placed("n1")}}), "").leaves_unplaced());
  EXPECT_FALSE(Compare(before, "", Outcome({{"a", Placed("n2")}, {"b", Waiting("x")}}), "").leaves_unplaced());
  EXPECT_TRUE(Compare(before, "", Outcome({{"a", Waiting("x")}, {"b", Placed("n1")}}), "").leaves_unplaced());
  EXPECT_TRUE(Compare(before, "", Outcome({{"a", Placed("n1")}, {"b", Waiting("full")}, {"c", Waiting("x")}}), "")
                  .leaves_unplaced())
      << "an added pod that is pending";
}

TEST(Comparison, PodsOfAWorkloadAreMatchedWhateverTheirNames) {
  const auto owned = [](PodReport pod) {
    pod.owner = "Deployment shop/web";
    return pod;
  };
  const RunOutcome before = Outcome({{"web-a-1", owned(Placed("n1"))}, {"web-a-2", owned(Placed("n2"))}});
  EXPECT_THAT(Differences(before, Outcome({{"web-b-1", owned(Placed("n2"))}, {"web-b-2", owned(Placed("n1"))}})),
              ElementsAre());
  const Comparison moved =
      Compare(before, "", Outcome({{"web-b-1", owned(Placed("n1"))}, {"web-b-2", owned(Waiting("full"))}}), "");
  ASSERT_EQ(moved.differences.size(), 1u);
  EXPECT_EQ(moved.differences[0].pod, "web-b-2");
  EXPECT_EQ(moved.differences[0].replaces, "web-a-2");
  EXPECT_TRUE(moved.leaves_unplaced());
}

class ComparedRuns : public ::testing::Test {
 protected:
  RunOutcome Run(std::string_view configuration) {
    std::vector<api::Object> objects;
    for (const char* name : {"n1", "n2"}) {
      objects.push_back(api::MakeObject(MakeNode(name)
                                            .Capacity("cpu", "4")
                                            .Capacity("memory", "4Gi")
                                            .Label("topology.kubernetes.io/zone", name)
                                            .Obj()));
    }
    objects.push_back(api::MakeObject(MakePod("old").Request("cpu", "1").Node("n1").Obj()));
    objects.push_back(api::MakeObject(MakePod("new").Request("cpu", "1").Obj()));
    const auto loaded = config::LoadText(configuration, gates);
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    auto simulation = Simulation::Create(objects, *loaded, plugins::InTreeRegistry(), gates, {});
    EXPECT_TRUE(simulation);
    const SimulationReport report = (*simulation)->Run();
    return OutcomeOf(**simulation, report);
  }

  config::FeatureGates gates;
  const std::string kSpread = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
  const std::string kPack = kSpread + R"(profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins:
    score: {disabled: [{name: NodeResourcesBalancedAllocation}], enabled: [{name: NodeResourcesFit, weight: 100}]}
)";
};

TEST_F(ComparedRuns, PackingMovesAPodAndTiltsTheBalance) {
  const Comparison comparison = Compare(Run(kSpread), "spread.yaml", Run(kPack), "pack.yaml");
  EXPECT_EQ(report::ToTable(comparison),
            "before: spread.yaml\n"
            "after:  pack.yaml\n"
            "\n"
            "POD          BEFORE  AFTER  CHANGE     DETAIL\n"
            "default/new  n2      n1     Moved\n"
            "\n"
            "RESOURCE          TOTAL  LOWEST  MEDIAN  HIGHEST  STDDEV\n"
            "cpu       before    25%     25%     25%      25%    0.0%\n"
            "          after     25%      0%      0%      50%   25.0%\n"
            "memory    before     0%      0%      0%       0%    0.0%\n"
            "          after      0%      0%      0%       0%    0.0%\n"
            "pods      before     1%      1%      1%       1%    0.0%\n"
            "          after      1%      0%      0%       2%    0.9%\n"
            "\n"
            "Pods in each zone:\n"
            "  before  n1 1, n2 1; skew 0\n"
            "  after   n1 2, n2 0; skew 2\n"
            "\n"
            "1 of 2 pods differ: 1 moved.\n");
  EXPECT_THAT(report::ToJson(comparison), HasSubstr("\"nodeBefore\": \"n2\",\n            \"nodeAfter\": \"n1\""));
  EXPECT_THAT(report::ToJson(comparison),
              StartsWith("{\n    \"apiVersion\": \"berth.dev/v1\",\n    \"kind\": \"ComparisonReport\""));
}

TEST_F(ComparedRuns, TheSameTwiceIsNoDifference) {
  const Comparison comparison = Compare(Run(kPack), "a", Run(kPack), "b");
  EXPECT_FALSE(comparison.changed());
  EXPECT_THAT(report::ToTable(comparison), HasSubstr("No difference: 2 pods end up the same.\n"));
}

}  // namespace
}  // namespace berth::sim
