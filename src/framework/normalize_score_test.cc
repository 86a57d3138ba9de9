#include "framework/normalize_score.h"

#include <gmock/gmock.h>

#include <vector>

#include "testing/builders.h"

namespace berth::framework {
namespace {

using ::testing::ElementsAre;

class Scorer final : public ScorePlugin {
 public:
  explicit Scorer(Normalization rule) : rule_(rule) {}
  ScoreResult Score(const CycleState&, const PodInfo&, const NodeInfo&) const override { return 0; }
  Normalization normalization() const override { return rule_; }

 private:
  Normalization rule_;
};

std::vector<int64_t> Normalized(std::vector<int64_t> raw, Normalization rule) {
  std::vector<NodeScore> scores;
  for (const int64_t score : raw) scores.push_back({nullptr, score});
  EXPECT_TRUE(Scorer(rule).NormalizeScore(CycleState(), *testing::MakePod("a").Info(), scores).ok());
  for (size_t i = 0; i < raw.size(); ++i) raw[i] = scores[i].score;
  return raw;
}

TEST(Normalize, ScalesInProportionAndRoundsDown) {
  EXPECT_THAT(Normalized({1, 2, 3}, Normalization::kByMaximum), ElementsAre(33, 66, 100));
  EXPECT_THAT(Normalized({1, 2, 3}, Normalization::kByMaximumReversed), ElementsAre(67, 34, 0));
  EXPECT_THAT(Normalized({1, 2, 3}, Normalization::kNone), ElementsAre(1, 2, 3));
}

TEST(Normalize, AllZeroIsWorstOrBest) {
  EXPECT_THAT(Normalized({0, 0}, Normalization::kByMaximum), ElementsAre(0, 0));
  EXPECT_THAT(Normalized({0, 0}, Normalization::kByMaximumReversed), ElementsAre(100, 100));
  EXPECT_THAT(Normalized({}, Normalization::kByMaximumReversed), ElementsAre());
}

}  // namespace
}  // namespace berth::framework
