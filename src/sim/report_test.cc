#include "sim/report.h"

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

SimulationReport Sample() {
  SimulationReport report;
  report.nodes = 2;
  report.bound_before = 1;
  PodReport scored{.key = "default/web", .outcome = PodOutcome::kScheduled, .node = "node-a"};
  scored.score = 512;
  scored.scored = true;
  scored.feasible_nodes = 2;
  PodReport preempting{.key = "default/high", .outcome = PodOutcome::kScheduled, .node = "node-b"};
  preempting.preempting = true;
  preempting.feasible_nodes = 1;
  PodReport pending{.key = "default/big", .message = "0/2 nodes are available: 2 Insufficient cpu."};
  PodReport gated{.key = "default/held", .outcome = PodOutcome::kGated, .message = "waiting"};
  PodReport victim{.key = "default/low", .outcome = PodOutcome::kPreempted, .node = "node-b"};
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
  SimulationReport report = Sample();
  report.pods.push_back(report.preempted[0]);
  const std::string table = ToTable(report);
  EXPECT_EQ(table.find("default/low "), table.rfind("default/low "));
}

TEST(Report, JsonIsStable) {
  SimulationReport report = Sample();
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
        "preempted": 1
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
    ]
}
)");
}

}  // namespace
}  // namespace berth::sim
