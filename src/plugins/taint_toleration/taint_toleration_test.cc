#include "plugins/taint_toleration/taint_toleration.h"

#include <gmock/gmock.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::EventResource;
using framework::QueueingHint;
using testing::AskHint;
using ::testing::ElementsAre;
using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;

class TaintTolerationTest : public ::testing::Test {
 protected:
  FakeHandle handle_;
  framework::CycleState state_;
};

TEST_F(TaintTolerationTest, RejectsNodesWithUntoleratedTaints) {
  struct {
    const char* what;
    framework::PodInfoPtr pod;
    testing::NodeBuilder node;
    bool fits;
  } const cases[] = {
      {"no taints", MakePod("a").Info(), MakeNode("n"), true},
      {"untolerated", MakePod("a").Info(), MakeNode("n").Taint("gpu", "yes"), false},
      {"NoExecute counts too", MakePod("a").Info(), MakeNode("n").Taint("gpu", "yes", "NoExecute"), false},
      {"PreferNoSchedule does not", MakePod("a").Info(), MakeNode("n").Taint("gpu", "", "PreferNoSchedule"), true},
      {"equal value", MakePod("a").Tolerate("gpu", "yes", "NoSchedule", "Equal").Info(),
       MakeNode("n").Taint("gpu", "yes"), true},
      {"other value", MakePod("a").Tolerate("gpu", "no", "NoSchedule", "Equal").Info(),
       MakeNode("n").Taint("gpu", "yes"), false},
      {"one of two", MakePod("a").Tolerate("gpu").Info(), MakeNode("n").Taint("gpu").Taint("ssd"), false},
      {"both", MakePod("a").Tolerate("gpu").Tolerate("ssd").Info(), MakeNode("n").Taint("gpu").Taint("ssd"), true},
      {"Gt needs the gate", MakePod("a").Tolerate("sla", "900", "NoSchedule", "Gt").Info(),
       MakeNode("n").Taint("sla", "950"), false},
  };
  const auto plugin = MakePlugin<TaintToleration>(handle_);
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    testing::FakeCluster cluster;
    const framework::Status status = plugin->Filter(state_, *test.pod, cluster.AddNode(test.node));
    EXPECT_EQ(status.ok(), test.fits);
    if (!test.fits) {
      EXPECT_EQ(status.code(), framework::Code::kUnschedulableAndUnresolvable);
      EXPECT_EQ(status.Message(), "node(s) had untolerated taint(s)");
    }
    std::vector<uint8_t> verdicts(1, 9);
    ASSERT_TRUE(plugin->FilterRange(state_, *test.pod, cluster.columns(), 0, verdicts));
    EXPECT_EQ(verdicts[0] == 0, test.fits);
  }
}

TEST_F(TaintTolerationTest, ComparisonOperatorsWorkWithTheirGate) {
  ASSERT_TRUE(handle_.gates().Set("TaintTolerationComparisonOperators", true).ok());
  const auto plugin = MakePlugin<TaintToleration>(handle_);
  const framework::PodInfoPtr pod = MakePod("a").Tolerate("sla", "900", "NoSchedule", "Gt").Info();
  EXPECT_TRUE(plugin->Filter(state_, *pod, MakeNode("n").Taint("sla", "950").Info()).ok());
  EXPECT_FALSE(plugin->Filter(state_, *pod, MakeNode("n").Taint("sla", "850").Info()).ok());
}

TEST_F(TaintTolerationTest, EveryUntoleratedPreferenceCostsPoints) {
  const auto plugin = MakePlugin<TaintToleration>(handle_);
  const framework::PodInfoPtr pod = MakePod("a").Tolerate("gpu").Info();
  handle_.cluster().AddNode(MakeNode("none"));
  handle_.cluster().AddNode(MakeNode("tolerated").Taint("gpu", "", "PreferNoSchedule"));
  handle_.cluster().AddNode(MakeNode("one").Taint("gpu", "", "PreferNoSchedule").Taint("ssd", "", "PreferNoSchedule"));
  handle_.cluster().AddNode(MakeNode("two").Taint("a", "", "PreferNoSchedule").Taint("b", "", "PreferNoSchedule"));

  std::vector<framework::NodeScore> scores;
  std::vector<int64_t> raw;
  for (const framework::NodeInfo* node : handle_.cluster().nodes()) {
    scores.push_back({node, plugin->Score(state_, *pod, *node).score});
    raw.push_back(scores.back().score);
  }
  EXPECT_THAT(raw, ElementsAre(0, 0, 1, 2));

  std::vector<int64_t> range(2);
  ASSERT_TRUE(plugin->ScoreRange(state_, *pod, handle_.cluster().columns(), 2, range));
  EXPECT_THAT(range, ElementsAre(1, 2));

  ASSERT_TRUE(plugin->NormalizeScore(state_, *pod, scores).ok());
  EXPECT_EQ(scores[0].score, 100);
  EXPECT_EQ(scores[2].score, 50);
  EXPECT_EQ(scores[3].score, 0);
}

TEST_F(TaintTolerationTest, WakesUpWhenANodeBecomesAdmissible) {
  const auto plugin = MakePlugin<TaintToleration>(handle_);
  const framework::PodInfoPtr pod = MakePod("a").Info();
  const api::Node clean = MakeNode("n").Obj();
  const api::Node tainted = MakeNode("n").Taint("gpu").Obj();
  const auto hint = [&](const framework::EventObject& before, const framework::EventObject& after) {
    return AskHint(*plugin, EventResource::kNode, *pod, before, after);
  };
  EXPECT_EQ(hint({}, &clean), QueueingHint::kQueue);
  EXPECT_EQ(hint({}, &tainted), QueueingHint::kSkip);
  EXPECT_EQ(hint(&tainted, &clean), QueueingHint::kQueue);
  EXPECT_EQ(hint(&clean, &clean), QueueingHint::kSkip);
}

TEST_F(TaintTolerationTest, ExplainsWhatIsNotTolerated) {
  const auto plugin = MakePlugin<TaintToleration>(handle_);
  const struct {
    framework::PodInfoPtr pod;
    framework::NodeInfo node;
    std::string finding;
    std::string remedy;
  } cases[] = {
      {MakePod("p").Info(), MakeNode("n").Taint("gpu", "true").Info(), "taint gpu=true:NoSchedule is not tolerated",
       "tolerate gpu=true:NoSchedule"},
      {MakePod("p").Tolerate("a").Info(),
       MakeNode("n").Taint("a").Taint("b").Taint("soft", "", "PreferNoSchedule").Taint("c", "", "NoExecute").Info(),
       "each of the taints b:NoSchedule, c:NoExecute is not tolerated",
       "tolerate b:NoSchedule and tolerate c:NoExecute"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.finding);
    EXPECT_THAT(testing::FindingsOf(*plugin, *test.pod, test.node), ElementsAre(::testing::EndsWith(test.finding)));
    const std::vector<framework::Remedy> remedies = testing::RemediesOf(*plugin, *test.pod, test.node);
    ASSERT_EQ(remedies.size(), 1u);
    EXPECT_EQ(testing::TextOf(remedies[0]), test.remedy);
    EXPECT_TRUE(plugin->Filter(framework::CycleState(), *testing::ChangedPod(remedies[0]), test.node).ok());
  }
}

TEST_F(TaintTolerationTest, NeedsNoTolerationForATaintThatGoes) {
  const auto plugin = MakePlugin<TaintToleration>(handle_);
  const framework::PodInfoPtr pod = MakePod("p").Info();
  const framework::NodeInfo node = MakeNode("n").Taint("gone").Info();
  framework::Remedy so_far(pod->shared_pod(), node.shared_node());
  so_far.ChangeNode({"no taint", "taint"}, [](api::Node& changed) { changed.spec.taints.clear(); });
  const std::vector<framework::Remedy> remedies = plugin->ExplainRejections(*pod)->Remedies(node, so_far);
  ASSERT_EQ(remedies.size(), 1u);
  EXPECT_EQ(testing::TextOf(remedies[0]), "no taint");
}

}  // namespace
}  // namespace berth::plugins
