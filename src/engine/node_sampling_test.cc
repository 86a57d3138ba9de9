#include "engine/node_sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/testing/fake_extender.h"
#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "testing/builders.h"

namespace berth::engine {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using testing::Add;
using ::testing::ElementsAre;
using testing::Filterer;
using testing::FilterFn;
using testing::ScoreFn;
using testing::Scorer;

TEST(SamplingRule, CountsAsUpstreamDoes) {
  const auto wanted = [](int32_t percentage, size_t nodes) { return SamplingRule{percentage}.NodesToFind(nodes); };
  EXPECT_EQ(wanted(10, 99), 99u) << "few nodes are all looked at";
  EXPECT_EQ(wanted(10, 100), 100u);
  EXPECT_EQ(wanted(10, 999), 100u) << "at least a hundred";
  EXPECT_EQ(wanted(10, 2005), 200u) << "rounded down";
  EXPECT_EQ(wanted(100, 2005), 2005u);
  EXPECT_EQ(wanted(0, 1000), 420u) << "50 - 1000 / 125 percent";
  EXPECT_EQ(wanted(0, 100'000), 5'000u) << "at least 5 percent";
}

// Nodes n0 to n9; "bad" ones are rejected.
class NodeSamplerTest : public ::testing::Test {
 protected:
  NodeSamplerTest() {
    for (int i = 0; i < 10; ++i) world_.cluster.UpsertNode(MakeNode("n" + std::to_string(i)).Shared());
    Add<Filterer>(registry_, "Filter", FilterFn([this](const framework::PodInfo&, const framework::NodeInfo& node) {
                    if (node.name() == broken_) return framework::Status::Error("broken");
                    return bad_.contains(node.name()) ? framework::Status::Unschedulable("bad")
                                                      : framework::Status::Success();
                  }));
    Add<Scorer>(registry_, "Score", ScoreFn([](const framework::NodeInfo&) { return framework::ScoreResult(1); }));
  }
  Profile& Make(const std::vector<std::string>& plugins) {
    Environment environment = world_.environment();
    environment.extenders = extenders_;
    auto made = Profile::Create(testing::ProfileOf(plugins), registry_, environment);
    CHECK(made.ok());
    profile_ = std::move(*made);
    return *profile_;
  }
  std::vector<std::string> Search(const berth::testing::PodBuilder& pod = MakePod("p")) {
    framework::CycleState state = profile_->NewCycleState();
    evaluation_ = sampler_.Evaluate(*profile_, rule_, state, *pod.Info(), Scope::kDecide);
    std::vector<std::string> names;
    if (!evaluation_.sampled) return names;
    for (const framework::NodeInfo* node : evaluation_.sampled->found) names.push_back(node->name());
    return names;
  }

  testing::World world_;
  framework::Registry registry_ = testing::MinimalRegistry();
  std::set<std::string, std::less<>> bad_;
  std::string broken_;
  std::vector<Extender*> extenders_;
  std::unique_ptr<Profile> profile_;
  SamplingRule rule_{.percentage = 30, .fewest_nodes = 2};
  NodeSampler sampler_{world_.cluster};
  Evaluation evaluation_;
};

TEST_F(NodeSamplerTest, GoesOnWhereTheLastSearchEnded) {
  Make({"Filter", "Score"});
  EXPECT_THAT(Search(), ElementsAre("n0", "n1", "n2"));
  EXPECT_THAT(Search(), ElementsAre("n3", "n4", "n5"));
  bad_ = {"n6", "n9"};
  EXPECT_THAT(Search(), ElementsAre("n7", "n8", "n0"));
  EXPECT_EQ(evaluation_.sampled->evaluated, 5u);
  EXPECT_EQ(sampler_.next_start(), 1u);
}

TEST_F(NodeSamplerTest, NodesRejectedBeforeOneTooManyAreCounted) {
  Make({"Filter", "Score"});
  bad_ = {"n3", "n4"};
  EXPECT_THAT(Search(), ElementsAre("n0", "n1", "n2"));
  EXPECT_EQ(evaluation_.sampled->evaluated, 5u) << "the search ends at n5, the fourth";
}

TEST_F(NodeSamplerTest, OneNodeWillDoWhenNobodyHasAPreference) {
  Make({"Filter"});
  EXPECT_THAT(Search(), ElementsAre("n0"));
  EXPECT_THAT(Search(), ElementsAre("n1"));
}

TEST_F(NodeSamplerTest, LooksAtAllWhenNothingFits) {
  Make({"Filter", "Score"});
  for (int i = 0; i < 10; ++i) bad_.insert("n" + std::to_string(i));
  EXPECT_THAT(Search(), ElementsAre());
  EXPECT_EQ(evaluation_.sampled->evaluated, 10u);
  EXPECT_EQ(framework::FitErrorMessage(evaluation_.diagnosis, 10), "0/10 nodes are available: 10 bad.");
}

TEST_F(NodeSamplerTest, ANominationThatHoldsMovesNothing) {
  Make({"Filter", "Score"});
  Search(MakePod("p").NominatedNode("n7"));
  EXPECT_FALSE(evaluation_.sampled);
  ASSERT_NE(evaluation_.nominated, nullptr);
  EXPECT_EQ(sampler_.next_start(), 0u);
}

TEST_F(NodeSamplerTest, ANominationThatDoesNotHoldCountsAsLookedAt) {
  Make({"Filter", "Score"});
  bad_ = {"n7"};
  EXPECT_THAT(Search(MakePod("p").NominatedNode("n7")), ElementsAre("n0", "n1", "n2"));
  EXPECT_EQ(sampler_.next_start(), 4u);
}

TEST_F(NodeSamplerTest, TroubleEndsTheSearch) {
  Make({"Filter", "Score"});
  broken_ = "n1";
  Search();
  EXPECT_FALSE(evaluation_.error.ok());
  EXPECT_EQ(sampler_.next_start(), 1u) << "n0 was looked at";
}

TEST_F(NodeSamplerTest, ExtendersGetTheSample) {
  testing::FakeExtender extender;
  extender.filter = [](Nodes nodes) -> Result<ExtenderVerdicts> {
    return ExtenderVerdicts{{nodes.begin(), nodes.end()}, {}, {}};
  };
  extenders_ = {&extender};
  Make({"Filter", "Score"});
  EXPECT_THAT(Search(), ElementsAre("n0", "n1", "n2"));
  EXPECT_THAT(extender.calls, ElementsAre("filter n0 n1 n2"));
}

}  // namespace
}  // namespace berth::engine
