#include "engine/top_totals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace berth::engine {
namespace {

using framework::NodeIndex;

// The slow reference: answers by scanning everything.
class PlainTop {
 public:
  void Set(NodeIndex node, int32_t total) { totals_[node] = total; }
  void Remove(NodeIndex node) { totals_.erase(node); }
  int32_t highest() const {
    int32_t highest = TopTotals::kNone;
    for (const auto& [node, total] : totals_) highest = std::max(highest, total);
    return highest;
  }
  std::set<NodeIndex> best() const {
    std::set<NodeIndex> best;
    const int32_t top = highest();
    for (const auto& [node, total] : totals_) {
      if (total == top) best.insert(node);
    }
    return best;
  }

 private:
  std::map<NodeIndex, int32_t> totals_;
};

std::set<NodeIndex> BestOf(TopTotals& totals) {
  std::set<NodeIndex> best;
  for (size_t i = 0; i < totals.ties(); ++i) best.insert(totals.Tie(i));
  return best;
}

TEST(TopTotals, NobodyIsBestAmongNobody) {
  TopTotals totals;
  EXPECT_EQ(totals.ties(), 0u);
  totals.Reset(10);
  EXPECT_EQ(totals.ties(), 0u);
  EXPECT_EQ(totals.highest(), TopTotals::kNone);
  totals.Remove(3);
  EXPECT_EQ(totals.ties(), 0u);
}

TEST(TopTotals, EqualTotalsAreAllBest) {
  TopTotals totals;
  totals.Reset(5000);
  for (const NodeIndex node : {0u, 63u, 64u, 4096u, 4999u}) totals.Set(node, 7);
  totals.Set(100, 6);
  EXPECT_EQ(totals.highest(), 7);
  EXPECT_EQ(BestOf(totals), (std::set<NodeIndex>{0, 63, 64, 4096, 4999}));
  totals.Set(64, 5);
  totals.Remove(0);
  EXPECT_EQ(BestOf(totals), (std::set<NodeIndex>{63, 4096, 4999}));
  totals.Reset(70);
  EXPECT_EQ(totals.ties(), 0u);
}

TEST(TopTotals, AgreesWithLookingAtEverything) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    size_t slots = 1 + random() % 300;
    TopTotals totals;
    PlainTop plain;
    totals.Reset(slots);
    for (int step = 0; step < 2000; ++step) {
      const auto node = static_cast<NodeIndex>(random() % slots);
      const unsigned what = random() % 20;
      if (what == 0) {
        slots += random() % 100;
        totals.Grow(slots);
      } else if (what < 6) {
        totals.Remove(node);
        plain.Remove(node);
      } else {
        const auto total = static_cast<int32_t>(random() % 8) - 2;
        totals.Set(node, total);
        plain.Set(node, total);
      }
      if (random() % 3 != 0) continue;  // lets stale entries accumulate
      ASSERT_EQ(totals.highest(), plain.highest()) << "seed " << seed << " step " << step;
      ASSERT_EQ(BestOf(totals), plain.best()) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace berth::engine
