#include "plugins/normalize_score.h"

#include <gmock/gmock.h>

namespace berth::plugins {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> Normalized(std::vector<int64_t> raw, ScoreOrder order) {
  std::vector<framework::NodeScore> scores;
  for (const int64_t score : raw) scores.push_back({nullptr, score});
  NormalizeByHighest(scores, order);
  for (size_t i = 0; i < raw.size(); ++i) raw[i] = scores[i].score;
  return raw;
}

TEST(NormalizeByHighest, ScalesInProportionAndRoundsDown) {
  EXPECT_THAT(Normalized({1, 2, 3}, ScoreOrder::kHigherIsBetter), ElementsAre(33, 66, 100));
  EXPECT_THAT(Normalized({1, 2, 3}, ScoreOrder::kLowerIsBetter), ElementsAre(67, 34, 0));
}

TEST(NormalizeByHighest, AllZeroIsWorstOrBest) {
  EXPECT_THAT(Normalized({0, 0}, ScoreOrder::kHigherIsBetter), ElementsAre(0, 0));
  EXPECT_THAT(Normalized({0, 0}, ScoreOrder::kLowerIsBetter), ElementsAre(100, 100));
  EXPECT_THAT(Normalized({}, ScoreOrder::kLowerIsBetter), ElementsAre());
}

}  // namespace
}  // namespace berth::plugins
