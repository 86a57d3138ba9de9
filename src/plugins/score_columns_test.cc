#include "plugins/score_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace berth::plugins {
namespace {

using ::testing::ElementsAre;

TEST(ScoreColumns, OnlyFeasibleNodesSetTheSpan) {
  const std::vector<uint8_t> feasible{1, 0, 1, 0};
  const std::vector<int64_t> scores{5, -100, 9, 1000};
  const ScoreSpan span = SpanOf(feasible, scores);
  EXPECT_EQ(span.lowest, 5);
  EXPECT_EQ(span.highest, 9);
}

TEST(ScoreColumns, SumsAreAddedByDomainAndMissingLabelsLookAtPlaceZero) {
  const std::vector<int32_t> domains{0, 1, -1, 1};
  const std::vector<int64_t> sums{0, 7, -3};
  std::vector<int64_t> scores{1, 1, 1, 1};
  AddByDomain(domains.data(), sums.data(), scores);
  EXPECT_THAT(scores, ElementsAre(8, -2, 1, -2));
}

TEST(ScoreColumns, PointsOutOfRangeAreNoticed) {
  const std::vector<uint8_t> feasible{1, 1, 0};
  std::vector<uint8_t> points(3);
  const std::vector<int64_t> scores{1, 2, 90};
  const auto by = [&](int64_t factor) {
    return PointsFromScores(feasible, SpanOf(feasible, scores), scores, points,
                            [&](int64_t score) { return factor * score; });
  };
  EXPECT_TRUE(by(50));
  EXPECT_THAT(points, ElementsAre(50, 100, 0));
  EXPECT_FALSE(by(51));
  EXPECT_FALSE(by(-1));
}

// Through the table, where scores are close together, and one by one, where they are not.
TEST(ScoreColumns, BothWaysGiveTheSamePoints) {
  std::mt19937 random(1);
  for (const int64_t range : {1, 50, 100'000}) {
    std::vector<uint8_t> feasible(200);
    std::vector<int64_t> scores(200);
    for (size_t i = 0; i < scores.size(); ++i) {
      feasible[i] = random() % 3 != 0;
      scores[i] = static_cast<int64_t>(random() % static_cast<unsigned>(range)) - range / 2;
    }
    const ScoreSpan span = SpanOf(feasible, scores);
    const auto rule = [&](int64_t score) { return (score - span.lowest) * 100 / std::max<int64_t>(range, 1); };
    std::vector<uint8_t> points(200, 77);
    ASSERT_TRUE(PointsFromScores(feasible, span, scores, points, rule));
    for (size_t i = 0; i < scores.size(); ++i) ASSERT_EQ(points[i], feasible[i] ? rule(scores[i]) : 0) << i;
  }
}

TEST(ScoreColumns, NobodyFeasibleIsFine) {
  const std::vector<uint8_t> feasible{0, 0};
  const std::vector<int64_t> scores{1, 2};
  std::vector<uint8_t> points(2, 77);
  EXPECT_TRUE(PointsFromScores(feasible, SpanOf(feasible, scores), scores, points, [](int64_t) { return 500; }));
  EXPECT_THAT(points, ElementsAre(0, 0));
}

}  // namespace
}  // namespace berth::plugins
