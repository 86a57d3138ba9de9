#include "plugins/service_affinity/service_affinity.h"

#include <gmock/gmock.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::NodeScore;
using framework::PodInfoPtr;
using framework::Status;
using ::testing::ElementsAre;
using testing::FakeHandle;
using ::testing::IsEmpty;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;
using testing::MakeService;
using testing::SignatureOf;

const Status kMismatch = Status::Unschedulable("node(s) didn't match service affinity");

testing::PodBuilder SvcPod(std::string_view name) { return MakePod(name).Label("app", "web"); }

// Four nodes: region r1 with zones z11 (two nodes) and z12, and region r2; and a service over app=web.
class ServiceAffinityTest : public ::testing::Test {
 protected:
  ServiceAffinityTest() {
    handle_.Add(MakeService("web", {{"app", "web"}}));
    AddNode("n1", "r1", "z11");
    AddNode("n2", "r1", "z11");
    AddNode("n3", "r1", "z12");
    AddNode("n4", "r2", "z21");
    handle_.cluster().AddNode(MakeNode("n5"));
  }
  void AddNode(std::string_view name, std::string_view region, std::string_view zone) {
    handle_.cluster().AddNode(MakeNode(name).Label("region", region).Label("zone", zone));
  }
  std::unique_ptr<ServiceAffinity> Affinity(std::vector<std::string> labels) {
    return MakePlugin<ServiceAffinity>(handle_, config::ServiceAffinityArgs{std::move(labels), {}});
  }
  // The names of the nodes the pod may go to.
  std::vector<std::string> Admitted(const ServiceAffinity& plugin, const testing::PodBuilder& pod) {
    CycleState state;
    EXPECT_TRUE(plugin.PreFilter(state, *pod.Info()).status.ok());
    return Admitted(plugin, state, pod);
  }
  std::vector<std::string> Admitted(const ServiceAffinity& plugin, const CycleState& state,
                                    const testing::PodBuilder& pod) {
    std::vector<std::string> names;
    for (const NodeInfo* node : handle_.cluster().nodes()) {
      const Status status = plugin.Filter(state, *pod.Info(), *node);
      if (status.ok()) {
        names.push_back(node->name());
      } else {
        EXPECT_EQ(status, kMismatch);
      }
    }
    return names;
  }

  FakeHandle handle_;
};

TEST_F(ServiceAffinityTest, TheFirstPodOfAServiceDecidesForTheRest) {
  const auto region = Affinity({"region"});
  EXPECT_THAT(Admitted(*region, SvcPod("p")), ElementsAre("n1", "n2", "n3", "n4", "n5")) << "nobody has decided yet";
  handle_.cluster().AddPod(SvcPod("a").Node("n3"));
  EXPECT_THAT(Admitted(*region, SvcPod("p")), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(Admitted(*Affinity({"region", "zone"}), SvcPod("p")), ElementsAre("n3"));
  EXPECT_THAT(Admitted(*region, MakePod("p").Label("app", "other")), ElementsAre("n1", "n2", "n3", "n4", "n5"));
  EXPECT_THAT(Admitted(*region, SvcPod("p").Namespace("other")), ElementsAre("n1", "n2", "n3", "n4", "n5"));
  EXPECT_THAT(Admitted(*region, SvcPod("p").Label("tier", "1")), ElementsAre("n1", "n2", "n3", "n4", "n5"))
      << "goes with pods that have all of its labels";
  handle_.cluster().AddPod(SvcPod("b").Node("n5"));
  EXPECT_THAT(Admitted(*region, SvcPod("p")), ElementsAre("n1", "n2", "n3")) << "first by node name";
}

TEST_F(ServiceAffinityTest, TheNodeSelectorComesFirst) {
  handle_.cluster().AddPod(SvcPod("a").Node("n1"));
  EXPECT_THAT(Admitted(*Affinity({"region"}), SvcPod("p").NodeSelector("region", "r2")), ElementsAre("n4"));
  EXPECT_THAT(Admitted(*Affinity({"region", "zone"}), SvcPod("p").NodeSelector("zone", "z12")), ElementsAre("n3"))
      << "the region from the pod that is there";
  EXPECT_THAT(Admitted(*Affinity({"region"}), SvcPod("p").NodeSelector("zone", "z21")), ElementsAre("n1", "n2", "n3"))
      << "not a label it looks at";
  EXPECT_THAT(Admitted(*Affinity({"region"}), MakePod("p").NodeSelector("region", "r3")), IsEmpty());
}

TEST_F(ServiceAffinityTest, ANodeWithoutTheLabelLeavesItOpen) {
  handle_.cluster().AddPod(SvcPod("a").Node("n5"));
  EXPECT_THAT(Admitted(*Affinity({"region"}), SvcPod("p")), ElementsAre("n1", "n2", "n3", "n4", "n5"));
}

TEST_F(ServiceAffinityTest, FollowsWhatIfs) {
  handle_.cluster().AddPod(SvcPod("a").Node("n1"));
  const auto plugin = Affinity({"region"});
  const testing::PodBuilder pod = SvcPod("p");
  CycleState state;
  ASSERT_TRUE(plugin->PreFilter(state, *pod.Info()).status.ok());

  CycleState gone = state.Clone();
  NodeInfo n1 = handle_.cluster().Node("n1");
  const PodInfoPtr victim = n1.pods()[0];
  n1.RemovePod(*victim);
  EXPECT_TRUE(plugin->Filter(gone, *pod.Info(), n1).ok());
  ASSERT_TRUE(plugin->RemovePod(gone, *pod.Info(), *victim, n1).ok());
  EXPECT_THAT(Admitted(*plugin, gone, pod), ElementsAre("n1", "n2", "n3", "n4", "n5"));

  ASSERT_TRUE(plugin->AddPod(gone, *pod.Info(), *SvcPod("new").Info(), handle_.cluster().Node("n4")).ok());
  EXPECT_EQ(plugin->Filter(gone, *pod.Info(), handle_.cluster().Node("n1")), kMismatch);
  ASSERT_TRUE(plugin->AddPod(state, *pod.Info(), *MakePod("new").Info(), handle_.cluster().Node("n4")).ok());
  EXPECT_THAT(Admitted(*plugin, state, pod), ElementsAre("n1", "n2", "n3")) << "the clone was changed, not the state";
}

TEST_F(ServiceAffinityTest, HasNothingToFilterWithoutLabels) {
  const auto plugin = Affinity({});
  CycleState state;
  EXPECT_TRUE(plugin->PreFilter(state, *SvcPod("p").Info()).status.IsSkip());
  EXPECT_TRUE(plugin->Filter(state, *SvcPod("p").Info(), handle_.cluster().Node("n1")).ok());
  EXPECT_EQ(Affinity({"region"})->Filter(state, *SvcPod("p").Info(), handle_.cluster().Node("n1")),
            Status::Error("error reading \"PreFilterServiceAffinity\" from cycleState: not found"));
}

TEST_F(ServiceAffinityTest, SpreadsTheServiceOverLabelValues) {
  for (const char* node : {"n1", "n1", "n2", "n4"}) {
    handle_.cluster().AddPod(SvcPod(std::to_string(handle_.cluster().Node(node).pods().size()) + node).Node(node));
  }
  handle_.cluster().AddPod(SvcPod("leaving").Node("n3").Terminating());
  const auto scores_by = [&](std::vector<std::string> labels, const testing::PodBuilder& pod) {
    const auto plugin = MakePlugin<ServiceAffinity>(handle_, config::ServiceAffinityArgs{{}, std::move(labels)});
    std::vector<NodeScore> scores;
    for (const NodeInfo* node : handle_.cluster().nodes()) {
      scores.push_back({node, plugin->Score(CycleState(), *pod.Info(), *node).score});
    }
    EXPECT_TRUE(plugin->NormalizeScore(CycleState(), *pod.Info(), scores).ok());
    std::vector<int64_t> values;
    for (const NodeScore& score : scores) values.push_back(score.score);
    return values;
  };
  EXPECT_THAT(scores_by({"zone"}, SvcPod("p")), ElementsAre(25, 25, 100, 75, 0));
  EXPECT_THAT(scores_by({"region"}, SvcPod("p")), ElementsAre(25, 25, 25, 75, 0));
  EXPECT_THAT(scores_by({"region", "zone"}, SvcPod("p")), ElementsAre(25, 25, 62, 75, 0));
  EXPECT_THAT(scores_by({"zone"}, MakePod("p")), ElementsAre(100, 100, 100, 100, 0)) << "of no service";
  EXPECT_THAT(scores_by({}, SvcPod("p")), ElementsAre(0, 0, 0, 0, 0));
}

TEST_F(ServiceAffinityTest, SignsWhatItReadsOfThePod) {
  const auto plugin = Affinity({"region"});
  const auto sign = [&](testing::PodBuilder pod) { return SignatureOf(*plugin, *pod.Info()); };
  EXPECT_EQ(sign(SvcPod("a")), sign(SvcPod("b").NodeSelector("zone", "z")));
  EXPECT_NE(sign(SvcPod("a")), sign(SvcPod("a").NodeSelector("region", "r1")));
  EXPECT_NE(sign(SvcPod("a")), sign(MakePod("a")));
  EXPECT_NE(sign(SvcPod("a")), sign(SvcPod("a").Namespace("other")));
}

}  // namespace
}  // namespace berth::plugins
