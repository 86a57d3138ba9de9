#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/capacity_report.h"
#include "report/comparison_report.h"
#include "report/gate_report.h"
#include "report/node_plan_report.h"

namespace berth::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

sim::SimulationReport Sample() {
  sim::SimulationReport report;
  report.nodes = 2;
  report.bound_before = 1;
  sim::PodReport scored{.key = "default/web", .outcome = sim::PodOutcome::kScheduled, .node = "node-a"};
  scored.score = 512;
  scored.scored = true;
  scored.feasible_nodes = 2;
  sim::PodReport preempting{.key = "default/high", .outcome = sim::PodOutcome::kScheduled, .node = "node-b"};
  preempting.preempting = true;
  preempting.feasible_nodes = 1;
  sim::PodReport pending{.key = "default/big", .message = "0/2 nodes are available: 2 Insufficient cpu."};
  sim::PodReport gated{.key = "default/held", .outcome = sim::PodOutcome::kGated, .message = "waiting"};
  sim::PodReport victim{.key = "default/low", .outcome = sim::PodOutcome::kPreempted, .node = "node-b"};
  victim.preempted_by = "default/high";
  report.pods = {pending, gated, preempting, scored};
  report.preempted = {victim};
  return report;
}

TEST(Report, TheTableReadsFromLeftToRight) {
  EXPECT_EQ(ToTable(Sample()),
            "POD           NODE    OUTCOME    DETAIL\n"
            "default/big   -       Pending    0/2 nodes are available: 2 Insufficient cpu.\n"
            "default/held  -       Gated      waiting\n"
            "default/high  node-b  Scheduled  its nominated node\n"
            "default/web   node-a  Scheduled  score 512, 2 nodes feasible\n"
            "default/low   node-b  Preempted  made room for default/high\n"
            "\n"
            "2 of 4 pods scheduled onto 2 nodes, 1 pending, 1 gated, 1 preempted; 1 pod was bound before.\n");
}

TEST(Report, AVictimOfThisRunIsListedOnce) {
  sim::SimulationReport report = Sample();
  report.pods.push_back(report.preempted[0]);
  const std::string table = ToTable(report);
  EXPECT_EQ(table.find("default/low "), table.rfind("default/low "));
}

TEST(Report, JsonIsStable) {
  sim::SimulationReport report = Sample();
  report.pods = {report.pods[0], report.pods[3]};
  EXPECT_EQ(ToJson(report), R"({
    "apiVersion": "berth.dev/v1",
    "kind": "SimulationReport",
    "summary": {
        "nodes": 2,
        "boundBefore": 1,
        "scheduled": 1,
        "pending": 1,
        "gated": 0,
        "notOurs": 0,
        "preempted": 1,
        "utilisation": [],
        "zones": [],
        "placedSpread": 0
    },
    "pods": [
        {
            "pod": "default/big",
            "outcome": "Pending",
            "message": "0/2 nodes are available: 2 Insufficient cpu."
        },
        {
            "pod": "default/web",
            "outcome": "Scheduled",
            "node": "node-a",
            "feasibleNodes": 2,
            "score": 512
        }
    ],
    "preempted": [
        {
            "pod": "default/low",
            "outcome": "Preempted",
            "node": "node-b",
            "preemptedBy": "default/high"
        }
    ],
    "nodes": [],
    "warnings": [],
    "notes": []
}
)");
}

TEST(Report, WideTellsWhoCameSecond) {
  sim::SimulationReport report = Sample();
  report.pods = {report.pods[0], report.pods[3]};
  report.preempted.clear();
  report.pods[1].runner_up = "node-b";
  report.pods[1].runner_up_score = 500;
  EXPECT_EQ(ToTable(report, {.wide = true}),
            "POD          NODE    OUTCOME    RUNNER-UP  MARGIN  DETAIL\n"
            "default/big  -       Pending    -          -       0/2 nodes are available: 2 Insufficient cpu.\n"
            "default/web  node-a  Scheduled  node-b     12      score 512, 2 nodes feasible\n"
            "\n"
            "1 of 2 pods scheduled onto 2 nodes, 1 pending; 1 pod was bound before.\n");
  EXPECT_THAT(ToJson(report), HasSubstr(R"("runnerUp": {
                "node": "node-b",
                "score": 500,
                "margin": 12
            })"));
}

sim::Utilisation SomeUse() {
  sim::Utilisation use;
  use.resources = {
      {"cpu", {1500, 6000}, {"node-b", 0.0}, {"node-b", 0.0}, {"node-a", 0.5}},
      {"memory", {int64_t{1536} << 20, int64_t{2} << 30}, {"node-b", 0.5}, {"node-b", 0.5}, {"node-a", 1}}};
  use.nodes = {{"node-a", "east", {{1500, 3000}, {int64_t{1} << 30, int64_t{1} << 30}}},
               {"node-b", "west", {{0, 3000}, {int64_t{512} << 20, int64_t{1} << 30}}}};
  use.zones = {{"east", 1, 3, 2}, {"west", 1, 1, 0}};
  return use;
}

TEST(Report, HowFullTheClusterIs) {
  EXPECT_EQ(ToTable(SomeUse()),
            "RESOURCE                              REQUESTED     EMPTIEST NODE  MEDIAN  FULLEST NODE\n"
            "cpu       █████░░░░░░░░░░░░░░░   25%  1.5 of 6      0% node-b      0%      50% node-a\n"
            "memory    ███████████████░░░░░   75%  1.5Gi of 2Gi  50% node-b     50%     100% node-a\n"
            "\n"
            "ZONE  NODES  PODS   PLACED\n"
            "east  1      3      2\n"
            "west  1      1      0\n"
            "Spread of the pods placed over zones: 2\n");
  EXPECT_EQ(ToTable(sim::Utilisation()), "");
}

TEST(Report, JsonTellsHowFullTheClusterIs) {
  sim::SimulationReport report;
  report.utilisation = SomeUse();
  const std::string json = ToJson(report);
  EXPECT_THAT(json, HasSubstr(R"({
                "resource": "cpu",
                "requested": "1500m",
                "allocatable": "6",
                "share": 0.25,
                "lowest": {
                    "node": "node-b",
                    "share": 0
                },)"));
  EXPECT_THAT(json, HasSubstr(R"("placedSpread": 2)"));
  EXPECT_THAT(json, HasSubstr(R"({
            "node": "node-b",
            "zone": "west",
            "resources": [
                {
                    "resource": "cpu",
                    "requested": "0",
                    "allocatable": "3",
                    "share": 0
                },)"));
}

TEST(Report, YamlSaysTheSame) {
  const std::string yaml = ToYaml(Sample());
  EXPECT_THAT(yaml, HasSubstr("apiVersion: berth.dev/v1\nkind: SimulationReport\n"));
  EXPECT_THAT(yaml, HasSubstr("- node: node-b\n  outcome: Preempted\n  pod: default/low\n"));
}

TEST(Report, ThePageHoldsTheReportAndNothingFromIt) {
  sim::SimulationReport report = Sample();
  report.utilisation = SomeUse();
  report.pods[0].message = "</script><script>alert(1)</script>@SCRIPT@";
  const std::string page = ToHtml(report);
  EXPECT_THAT(page, ::testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, ::testing::EndsWith("</html>\n"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr(R"(\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e@SCRIPT@)"));
  EXPECT_THAT(page, Not(HasSubstr("@STYLE@")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
}

TEST(Report, APageHoldsSoMuchAndNoMore) {
  EXPECT_TRUE(FitsOnPage(2000, 30));
  EXPECT_FALSE(FitsOnPage(2001, 1));
  EXPECT_FALSE(FitsOnPage(2000, 31));
}

TEST(Report, APageWithoutRoomForAllExplanationsHoldsOneForEachMessage) {
  sim::SimulationReport report;
  for (const char* pod : {"default/first", "default/second", "default/other"}) {
    explain::Explanation told{.pod = pod, .message = pod == std::string("default/other") ? "no memory" : "no cpu"};
    told.nodes.resize(25'000);
    report.explanations.push_back(std::move(told));
  }
  const std::string page = ToHtml(report);
  EXPECT_THAT(page, HasSubstr(R"("pod":"default/first")"));
  EXPECT_THAT(page, Not(HasSubstr(R"("pod":"default/second")")));
  EXPECT_THAT(page, HasSubstr(R"("pod":"default/other")"));
  report.explanations.pop_back();
  EXPECT_THAT(ToHtml(report), HasSubstr(R"("pod":"default/second")"));
  EXPECT_TRUE(MayExplainPending(500, 1000));
  EXPECT_FALSE(MayExplainPending(501, 1000));
  EXPECT_TRUE(MayExplainPending(1'000'000, 0));
}

TEST(Report, ColourIsOnlyThereWhenAskedFor) {
  sim::SimulationReport report = Sample();
  report.utilisation = SomeUse();
  EXPECT_THAT(ToTable(report), Not(HasSubstr("\x1b")));
  const std::string coloured = ToTable(report, {.color = true});
  EXPECT_THAT(coloured, HasSubstr("\x1b[31mPending  \x1b[0m"));
  EXPECT_THAT(coloured, HasSubstr("\x1b[32mScheduled\x1b[0m"));
}

// Used for everything that may come from the input; no renderer may let it through.
constexpr char kHostile[] = "x\x1b]0;pwned\x07\x1b[2J\r\n::error::FAKE<script>|**";

sim::SimulationReport HostileReport() {
  sim::SimulationReport report;
  const std::string text = kHostile;
  for (const sim::PodOutcome outcome : {sim::PodOutcome::kScheduled, sim::PodOutcome::kPending, sim::PodOutcome::kGated,
                                        sim::PodOutcome::kForeign, sim::PodOutcome::kPreempted}) {
    sim::PodReport pod;
    pod.outcome = outcome;
    pod.key = pod.node = pod.message = pod.runner_up = pod.preempted_by = pod.owner = text;
    report.pods.push_back(pod);
    report.preempted.push_back(pod);
  }
  report.rollouts = {{text, 1, 0, 1}};
  report.warnings = report.notes = {text};
  report.utilisation.resources = {{text, {1, 2}, {text, 0.5}, {text, 0.5}, {text, 0.5}}};
  report.utilisation.nodes = {{text, text, {{1, 2}}, {text}}};
  report.utilisation.zones = {{text, 1, 1, 1}};
  explain::Explanation told{.pod = text};
  told.message = told.pre_filter = told.pre_filter_plugin = text;
  told.nodes = {{text, {{text, text, {}, {{text, text, text, text}}}}}};
  told.preemption.emplace();
  told.preemption->trials = {{text, true, {{text, 1}}, 1, true, text}, {text, false, {}, 0, false, text}};
  told.remedies = {{text, {text, text}}};
  told.hints = {text};
  explain::Explanation placed = told;
  placed.node = placed.runner_up = text;
  report.explanations = {told, placed};
  return report;
}

TEST(Report, NothingOfTheInputReachesATerminalOrALogAsItIs) {
  const sim::SimulationReport report = HostileReport();
  sim::Comparison comparison;
  comparison.differences = {{kHostile, kHostile, kHostile, sim::PodChange::kPending, kHostile, kHostile, kHostile}};
  comparison.before.name = comparison.after.name = kHostile;
  comparison.before.balance = comparison.after.balance = {{kHostile}};
  comparison.before.zones = comparison.after.zones = {{kHostile, 1, 1, 1}};
  sim::CapacityReport capacity;
  capacity.shares = {{kHostile, kHostile, 2, 1, {{kHostile, 1}}}};
  capacity.message = kHostile;
  const sim::NodePlan plan{.possible = true, .nodes = 1, .short_of = {1, kHostile, kHostile}};
  const std::pair<std::string_view, std::string> texts[] = {
      {"table", ToTable(report, {.wide = true})},
      {"markdown", ToMarkdown(report, {"unplaced"})},
      {"junit", ToJUnit(report, {"unplaced"})},
      {"github", ToGitHub(report, {"unplaced"})},
      {"diff", ToTable(comparison)},
      {"diff markdown", ToMarkdown(comparison, {"changed"})},
      {"diff github", ToGitHub(comparison, {"changed"})},
      {"capacity", ToText(capacity, true)},
      {"plan", ToText(plan, kHostile, kHostile)},
      {"diff junit", ToJUnit(comparison, {"changed"})},
      {"errors", ErrorsToGitHub({kHostile})},
      {"errors markdown", ErrorsToMarkdown("berth", {kHostile})},
      {"errors junit", ErrorsToJUnit("berth", {kHostile})},
  };
  for (const auto& [name, text] : texts) {
    // The text is there, but harmless.
    EXPECT_THAT(text, HasSubstr("pwned")) << name;
    EXPECT_TRUE(
        std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t' || c < 0 || c >= 0x20; }))
        << name << ": " << text;
    EXPECT_THAT(text, Not(HasSubstr("\n::error::FAKE"))) << name;
  }
  EXPECT_THAT(ToMarkdown(report, {"unplaced"}), Not(HasSubstr("<script>")));
  EXPECT_THAT(ToJUnit(report, {"unplaced"}), Not(HasSubstr("<script>")));
}

}  // namespace
}  // namespace berth::report
