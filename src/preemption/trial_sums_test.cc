#include "preemption/trial_sums.h"

#include <gtest/gtest.h>

#include <random>

namespace berth::preemption {
namespace {

using framework::NodeIndex;

// What Block should return, computed node by node.
TrialSum SumOneByOne(const TrialSums& sums, const std::vector<Cost>& costs, size_t begin, size_t end) {
  TrialSum sum;
  for (size_t node = begin; node < std::min(end, costs.size()); ++node) {
    const TrialState state = sums.state(static_cast<NodeIndex>(node));
    sum.unknown += state == TrialState::kUnknown;
    sum.violating += state == TrialState::kViolating;
    if (state != TrialState::kHarmless) continue;
    if (sum.harmless == 0 || costs[node] < sum.lowest) {
      sum.lowest = costs[node];
      sum.ties = 0;
    }
    sum.ties += costs[node] == sum.lowest;
    ++sum.harmless;
  }
  return sum;
}

TEST(TrialSums, EveryBlockEqualsTheSumOfItsNodes) {
  std::mt19937 draw(7);
  constexpr size_t kNodes = TrialSums::NodesOf(2) * 2 + 37;
  TrialSums sums;
  sums.Reset(kNodes);
  std::vector<Cost> costs(kNodes);
  const auto cost_of = [&](NodeIndex node) { return costs[node]; };
  for (int round = 0; round < 300; ++round) {
    // Many nodes at first, later few; both blocks that were asked about and others.
    for (size_t i = 0; i < (round < 20 ? kNodes / 4 : 5); ++i) {
      const auto node = static_cast<NodeIndex>(draw() % kNodes);
      costs[node].highest_priority = static_cast<int32_t>(draw() % 3);
      costs[node].victims = 1 + draw() % 2;
      sums.Set(node, static_cast<TrialState>(draw() % 5));
    }
    for (size_t level = 0; level < TrialSums::kLevels; ++level) {
      const size_t nodes = TrialSums::NodesOf(level);
      const size_t block = draw() % ((kNodes + nodes - 1) / nodes);
      const TrialSum& sum = sums.Block(level, block, cost_of);
      const TrialSum expected = SumOneByOne(sums, costs, block * nodes, (block + 1) * nodes);
      SCOPED_TRACE(::testing::Message() << "round " << round << " level " << level << " block " << block);
      EXPECT_EQ(sum.unknown, expected.unknown);
      EXPECT_EQ(sum.violating, expected.violating);
      ASSERT_EQ(sum.harmless, expected.harmless);
      if (expected.harmless == 0) continue;
      EXPECT_EQ(sum.ties, expected.ties);
      EXPECT_TRUE(sum.lowest == expected.lowest);
    }
  }
}

}  // namespace
}  // namespace berth::preemption
