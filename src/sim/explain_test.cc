#include "explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "plugins/registry.h"
#include "report/report.h"
#include "sim/simulation.h"
#include "testing/builders.h"

namespace berth::sim {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::NodeBuilder;
using berth::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kZone[] = "topology.kubernetes.io/zone";

NodeBuilder Node(std::string_view name, std::string_view cpu = "4") {
  return MakeNode(name).Capacity("cpu", cpu).Label("kubernetes.io/hostname", name);
}
PodBuilder Pod(std::string_view name, std::string_view cpu = "1") { return MakePod(name).Request("cpu", cpu); }

class ExplainTest : public ::testing::Test {
 protected:
  template <class... T>
  void Add(T... values) {
    (..., objects.push_back(api::MakeObject(std::move(values))));
  }

  // For the pod named "p".
  const explain::Explanation& Run(Simulation::Options options = {.explain = {"default/p"}}) {
    options.verify_incremental = true;
    options.runner_ups = true;
    auto made = Simulation::Create(objects, configuration, plugins::InTreeRegistry(), gates, std::move(options));
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    report = (*made)->Run();
    static const explain::Explanation kNone;
    for (const explain::Explanation& told : report.explanations) {
      if (told.pod == "default/p") return told;
    }
    ADD_FAILURE() << "p is not explained";
    return kNone;
  }

  // "plugin: reason: detail" of each rejection of a node.
  static std::vector<std::string> Rejections(const explain::Explanation& told, std::string_view node) {
    std::vector<std::string> texts;
    for (const explain::NodeVerdict& verdict : told.nodes) {
      if (verdict.node != node) continue;
      for (const explain::NodeRejection& rejection : verdict.rejections) {
        texts.push_back(rejection.plugin + ": " + rejection.reason + ": " + rejection.Detail());
      }
    }
    return texts;
  }
  // "node: change and change".
  static std::vector<std::string> Remedies(const explain::Explanation& told) {
    std::vector<std::string> texts;
    for (const explain::ProvenRemedy& remedy : told.remedies) {
      std::string text = remedy.node + ":";
      for (const std::string& change : remedy.changes) text += (text.ends_with(':') ? " " : " and ") + change;
      texts.push_back(text);
    }
    return texts;
  }

  config::FeatureGates gates;
  config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates);
  std::vector<api::Object> objects;
  SimulationReport report;
};

TEST_F(ExplainTest, ResourcesTellWhoHoldsTheRest) {
  Add(Node("a").Obj(), Pod("web-1", "700m").Node("a").Obj(), Pod("web-2").Node("a").Obj(), Pod("web-3").Node("a").Obj(),
      Pod("p", "2").Obj());
  const explain::Explanation& told = Run();
  EXPECT_THAT(Rejections(told, "a"),
              ElementsAre("NodeResourcesFit: Insufficient cpu: needs 2 cpu, 1.3 free of 4; 2.7 held by 3 pods, largest "
                          "default/web-2 with 1"));
  EXPECT_THAT(Remedies(told), ElementsAre("a: cpu request 2 -> 1.3",
                                          "a: priority 0 -> 1: default/web-3 (priority 0) would be evicted"));
  EXPECT_EQ(told.node, "");
  EXPECT_EQ(told.message, report.pods[0].message);
}

TEST_F(ExplainTest, EveryFilterIsAsked) {
  Add(Node("a", "1").Taint("gpu", "true", "NoSchedule").Obj(), Pod("p", "2").Obj());
  const explain::Explanation& told = Run();
  EXPECT_THAT(
      Rejections(told, "a"),
      ElementsAre("TaintToleration: node(s) had untolerated taint(s): taint gpu=true:NoSchedule is not tolerated",
                  "NodeResourcesFit: Insufficient cpu: needs 2 cpu, has 1"));
  EXPECT_THAT(Remedies(told), ElementsAre("a: tolerate gpu=true:NoSchedule and cpu request 2 -> 1"));
}

TEST_F(ExplainTest, TheSmallestChangeComesFirst) {
  Add(Node("a", "1").Obj(), Node("b", "3").Obj(), Node("c").Taint("t", "", "NoSchedule").Obj(), Pod("p", "4").Obj());
  EXPECT_THAT(Remedies(Run()), ElementsAre("b: cpu request 4 -> 3", "c: tolerate t:NoSchedule"));
}

TEST_F(ExplainTest, LabelsThatDoNotMatch) {
  Add(Node("a").Label("disk", "hdd").Obj(), Node("b").Obj(), Pod("p").NodeSelector("disk", "ssd").Obj());
  const explain::Explanation& told = Run();
  EXPECT_THAT(
      Rejections(told, "a"),
      ElementsAre("NodeAffinity: node(s) didn't match Pod's node affinity/selector: nodeSelector wants disk=ssd, "
                  "the node has disk=hdd"));
  EXPECT_THAT(Rejections(told, "b"), ElementsAre(HasSubstr("the node has no label disk")));
  EXPECT_THAT(Remedies(told), ElementsAre("a: label disk=ssd on a"));
}

TEST_F(ExplainTest, ANodeCannotBeTalkedIntoAnotherZone) {
  Add(Node("a").Label(kZone, "east").Obj(), Pod("p").NodeSelector(kZone, "west").Obj());
  EXPECT_THAT(Remedies(Run()), IsEmpty());
}

TEST_F(ExplainTest, TryingLeavesTheClusterAsItWas) {
  // If the change were left behind, `q`, which needs the label too, would fit.
  Add(Node("a").Label("disk", "hdd").Obj(), Pod("p").NodeSelector("disk", "ssd").Obj(),
      Pod("q").NodeSelector("disk", "ssd").Obj());
  EXPECT_THAT(Remedies(Run()), ElementsAre("a: label disk=ssd on a"));
  EXPECT_EQ(report.Count(PodOutcome::kPending), 2u);
}

TEST_F(ExplainTest, SpreadTellsTheCounts) {
  const auto web = [](std::string_view name) { return Pod(name).Label("app", "web"); };
  Add(Node("a", "9").Label(kZone, "east").Obj(), Node("b", "1").Label(kZone, "west").Obj(), web("w1").Node("a").Obj(),
      web("w2").Node("a").Obj(), Pod("filler").Node("b").Obj(),
      web("p").SpreadConstraint(1, kZone, "DoNotSchedule", {{"app", "web"}}).Obj());
  const explain::Explanation& told = Run();
  EXPECT_THAT(Rejections(told, "a"),
              ElementsAre("PodTopologySpread: node(s) didn't match pod topology spread constraints: "
                          "topology.kubernetes.io/zone=east would have 3 matching pods, 3 more than the emptiest "
                          "(west 0, east 2); maxSkew is 1"));
  EXPECT_THAT(Remedies(told), ElementsAre("a: maxSkew 1 -> 3 by topology.kubernetes.io/zone",
                                          "b: priority 0 -> 1: default/filler (priority 0) would be evicted"));
}

TEST_F(ExplainTest, AntiAffinityNamesThePodInTheWay) {
  Add(Node("a").Obj(), Pod("other").Label("app", "db").Node("a").Obj(),
      Pod("p").PodAntiAffinity("kubernetes.io/hostname", {{"app", "db"}}).Obj());
  const explain::Explanation& told = Run();
  EXPECT_THAT(Rejections(told, "a"),
              ElementsAre("InterPodAffinity: node(s) didn't match pod anti-affinity rules: anti-affinity to app=db by "
                          "kubernetes.io/hostname: default/other is on a"));
  EXPECT_THAT(Remedies(told), ElementsAre("a: no required anti-affinity",
                                          "a: priority 0 -> 1: default/other (priority 0) would be evicted"));
}

TEST_F(ExplainTest, AffinityTellsWhatCompanyIsMissing) {
  Add(Node("a").Label(kZone, "east").Obj(), Node("b").Obj(), Node("c", "1").Label(kZone, "west").Obj(),
      Pod("cache").Label("app", "cache").Node("c").Obj(), Pod("p").PodAffinity(kZone, {{"app", "cache"}}).Obj());
  const explain::Explanation& told = Run();
  EXPECT_THAT(
      Rejections(told, "a"),
      ElementsAre("InterPodAffinity: node(s) didn't match pod affinity rules: affinity to app=cache by "
                  "topology.kubernetes.io/zone: no such pod where the node has topology.kubernetes.io/zone=east"));
  EXPECT_THAT(Rejections(told, "b"), ElementsAre(HasSubstr("the node has no label topology.kubernetes.io/zone")));
  EXPECT_THAT(Rejections(told, "c"), ElementsAre(HasSubstr("needs 1 cpu, 0 free of 1; 1 held by default/cache")));
  EXPECT_THAT(Remedies(told), IsEmpty());
}

TEST_F(ExplainTest, SomebodyElsesAntiAffinity) {
  Add(Node("a").Obj(), Pod("loner").Node("a").PodAntiAffinity("kubernetes.io/hostname", {{"app", "db"}}).Obj(),
      Pod("p").Label("app", "db").Obj());
  const explain::Explanation& told = Run();
  EXPECT_THAT(Rejections(told, "a"),
              ElementsAre(HasSubstr("default/loner on a has anti-affinity to app=db by kubernetes.io/hostname")));
  EXPECT_THAT(Remedies(told), ElementsAre("a: priority 0 -> 1: default/loner (priority 0) would be evicted"))
      << "there is nothing else that the pod could do about it";
}

TEST_F(ExplainTest, PortsAndCordons) {
  Add(Node("a").Obj(), Node("b").Unschedulable().Obj(), Pod("web").HostPort(80).Node("a").Obj(),
      Pod("p").HostPort(80).Obj());
  const explain::Explanation& told = Run();
  EXPECT_THAT(Rejections(told, "a"), ElementsAre(HasSubstr("port 80/TCP is taken by default/web")));
  EXPECT_THAT(Rejections(told, "b"), ElementsAre(HasSubstr("spec.unschedulable is set")));
  EXPECT_THAT(Remedies(told), ElementsAre("a: no host port 80/TCP", "b: uncordon b",
                                          "a: priority 0 -> 1: default/web (priority 0) would be evicted"));
}

TEST_F(ExplainTest, APlacedPodTellsItsScores) {
  Add(Node("a", "8").Obj(), Node("b", "4").Obj(), Node("c", "1").Obj(), Pod("p", "2").Obj());
  const explain::Explanation& told = Run();
  EXPECT_EQ(told.node, "a");
  EXPECT_EQ(told.runner_up, "b");
  ASSERT_EQ(told.nodes.size(), 3u);
  EXPECT_EQ(told.nodes[0].total, report.pods[0].score);
  int64_t sum = 0;
  ASSERT_EQ(told.nodes[0].points.size(), told.score_plugins.size());
  for (size_t i = 0; i < told.score_plugins.size(); ++i) {
    const explain::PluginPoints& points = told.nodes[0].points[i];
    EXPECT_EQ(points.weighted, points.normalised * told.score_plugins[i].weight);
    sum += points.weighted;
  }
  EXPECT_EQ(sum, told.nodes[0].total);
  EXPECT_THAT(told.nodes[2].points, IsEmpty());
  EXPECT_EQ(report.pods[0].runner_up_score, told.nodes[1].total);
  const std::string text = report::ToText(told);
  EXPECT_THAT(text, HasSubstr("default/p is on a; 2 of 3 nodes were feasible\n"));
  EXPECT_THAT(text, HasSubstr("NodeResourcesFit: Insufficient cpu: needs 2 cpu, has 1\n"));
}

TEST_F(ExplainTest, PreemptionTellsWhyANodeWasChosen) {
  Add(Node("a", "1").Obj(), Node("b", "1").Obj(), Node("c", "1").Obj(), Pod("on-a").Priority(5).Node("a").Obj(),
      Pod("on-b").Priority(3).Node("b").Obj(), Pod("on-c").Priority(50).Node("c").Obj(), Pod("p").Priority(10).Obj());
  const explain::Explanation& told = Run();
  EXPECT_EQ(told.node, "b");
  EXPECT_TRUE(told.nominated);
  ASSERT_TRUE(told.preemption);
  const auto& trials = told.preemption->trials;
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[0].node, "a");
  EXPECT_FALSE(trials[0].chosen);
  EXPECT_EQ(trials[0].verdict, "its most important victim has priority 5, that on b 3");
  EXPECT_EQ(trials[1].node, "b");
  EXPECT_TRUE(trials[1].chosen);
  EXPECT_EQ(trials[1].verdict, "the lowest priority of the most important victim");
  EXPECT_FALSE(trials[2].would_fit);
  EXPECT_EQ(trials[2].verdict, "No preemption victims found for incoming pod");
  EXPECT_EQ(report.preempted[0].key, "default/on-b");
}

TEST_F(ExplainTest, AllThatStayPendingWhenNobodyIsNamed) {
  Add(Node("a", "2").Obj(), Pod("fits").Obj(), Pod("p", "8").Obj(), Pod("q", "9").Obj());
  const explain::Explanation& told = Run({.explain_pending = true});
  EXPECT_THAT(Rejections(told, "a"), ElementsAre(HasSubstr("needs 8 cpu, ")));
  EXPECT_EQ(report.explanations.size(), 2u);
}

TEST_F(ExplainTest, APodWithoutAnAttemptSaysWhatHoldsIt) {
  Add(Node("a").Obj(), Pod("p").Gate("example.com/quota").Obj());
  EXPECT_EQ(report::ToText(Run()), "default/p has no node: waiting for scheduling gates: [example.com/quota]\n");
}

TEST_F(ExplainTest, APodTurnedDownAsAWhole) {
  Add(Node("a").Obj(), Pod("p").Pvc("missing").Obj());
  const explain::Explanation& told = Run();
  EXPECT_THAT(told.nodes, IsEmpty());
  EXPECT_THAT(told.pre_filter, HasSubstr("persistentvolumeclaim \"missing\" not found"));
  EXPECT_THAT(report::ToText(told), HasSubstr("rejected before any node was evaluated: "));
}

TEST_F(ExplainTest, ManyNodesStandTogether) {
  for (int i = 10; i < 40; ++i) Add(Node("n" + std::to_string(i), i < 30 ? "1" : "2").Obj());
  Add(Pod("p", "3").Obj());
  const std::string text = report::ToText(Run());
  EXPECT_THAT(text, HasSubstr("  n30, n10, n11, n12 and 26 more (30 nodes; numbers of the closest, n30)\n"
                              "    NodeResourcesFit: Insufficient cpu: needs 3 cpu, has 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("n20")));
}

TEST_F(ExplainTest, TheSameInputGivesTheSameBytes) {
  Add(Node("a", "8").Obj(), Node("b", "8").Obj(), Pod("p", "2").Obj(), Pod("q", "2").Obj(), Pod("r", "20").Obj());
  const auto all = [&] {
    Run({.explain = {"default/p"}, .explain_pending = true});
    return report::ToTable(report, {.wide = true}) + report::ToJson(report) + report::ToYaml(report) +
           report::ToHtml(report);
  };
  EXPECT_EQ(all(), all());
}

}  // namespace
}  // namespace berth::sim
