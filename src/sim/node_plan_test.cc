#include "sim/node_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "report/node_plan_report.h"

namespace berth::sim {
namespace {

using ::testing::HasSubstr;

// Every node takes ten; `others` fit nowhere.
std::function<Result<NodeTrial>(size_t)> TenEach(size_t pods, size_t others, std::vector<size_t>* asked) {
  return [=](size_t nodes) -> Result<NodeTrial> {
    asked->push_back(nodes);
    const size_t placed = std::min(pods, nodes * 10);
    return NodeTrial{pods - placed + others, "default/p", "0/1 nodes are available: 1 Insufficient cpu."};
  };
}

TEST(NodePlan, FindsTheSmallestNumber) {
  for (const auto& [pods, nodes] : std::vector<std::pair<size_t, size_t>>{
           {0, 0}, {1, 1}, {10, 1}, {11, 2}, {45, 5}, {80, 8}, {81, 9}, {12345, 1235}}) {
    std::vector<size_t> asked;
    const Result<NodePlan> plan = PlanNodes(TenEach(pods, 0, &asked), pods);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->possible);
    EXPECT_EQ(plan->nodes, nodes) << pods;
    EXPECT_LT(asked.size(), 25u);
    EXPECT_EQ(plan->short_of.unplaced, nodes == 0 ? 0 : pods - (nodes - 1) * 10) << pods;
  }
}

TEST(NodePlan, SaysWhenNoNumberHelps) {
  std::vector<size_t> asked;
  const Result<NodePlan> plan = PlanNodes(TenEach(35, 2, &asked), 37);
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->possible);
  EXPECT_EQ(plan->nodes, 37u);
  EXPECT_EQ(report::ToText(*plan, "cpu=4", "37 pod(s)"),
            "No number of nodes with cpu=4 is enough for 37 pod(s).\n"
            "\n"
            "With 37 of them, 2 have no place. default/p: 0/1 nodes are available: 1 Insufficient cpu.\n");
}

TEST(NodePlan, TellsWhatOneLessWouldLeave) {
  std::vector<size_t> asked;
  const Result<NodePlan> plan = PlanNodes(TenEach(35, 0, &asked), 35);
  ASSERT_TRUE(plan);
  EXPECT_EQ(report::ToText(*plan, "cpu=4", "35 pod(s)"),
            "4 more node(s) with cpu=4 are needed for 35 pod(s).\n"
            "\n"
            "With one less, 5 have no place. default/p: 0/1 nodes are available: 1 Insufficient cpu.\n");
  EXPECT_THAT(report::ToJson(*plan, "cpu=4", "35 pod(s)"),
              HasSubstr("\"nodes\": 4,\n    \"shortOf\": {\n        \"nodes\": 3,"));
}

TEST(NodePlan, AnErrorEndsTheSearch) {
  const Result<NodePlan> plan = PlanNodes(
      [](size_t nodes) -> Result<NodeTrial> {
        if (nodes == 2) return Error::InvalidArgument("no");
        return NodeTrial{1, "p", "full"};
      },
      10);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "no");
}

}  // namespace
}  // namespace berth::sim
