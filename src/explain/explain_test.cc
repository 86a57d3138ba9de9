#include "explain/explain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/picture.h"
#include "config/load.h"
#include "engine/testing/world.h"
#include "framework/pod_resources.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::explain {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::MakeStorageClass;
using berth::testing::PodBuilder;
using framework::Finding;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Remedy;
using framework::Status;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A plugin known only to this test: a node's fuel label must not be below the pod's, and a storage class of a certain
// name must exist.
class Fuel final : public framework::Plugin,
                   public framework::PreFilterPlugin,
                   public framework::FilterPlugin,
                   public framework::ExplainsRejections {
 public:
  explicit Fuel(const framework::Handle& handle) : handle_(handle) {}

  static int Of(const api::Labels& labels) {
    const Symbol* value = labels.Find(Symbol("fuel"));
    return value ? std::stoi(std::string(value->str())) : 0;
  }

  std::string_view name() const override { return "Fuel"; }
  // Leaves out nodes without any fuel, so that a node can be rejected at either point.
  framework::PreFilterResult PreFilter(framework::CycleState&, const PodInfo& pod) const override {
    framework::PreFilterResult result;
    if (Of(pod.labels()) == 0) return Status::Skip();
    result.node_names.emplace();
    for (const NodeInfo* node : handle_.cluster().nodes()) {
      if (node->labels().Contains(Symbol("fuel"))) result.node_names->insert(node->name());
    }
    return result;
  }
  Status Filter(const framework::CycleState&, const PodInfo& pod, const NodeInfo& node) const override {
    if (!node.labels().Contains(Symbol("fuel"))) return Status::Success();
    if (Of(node.labels()) < Of(pod.labels())) return Status::Unschedulable("node(s) lacked fuel");
    if (!handle_.objects().storage_classes.Find("depot")) return Status::Unschedulable("no depot");
    return Status::Success();
  }

  class Explainer final : public framework::RejectionExplainer {
   public:
    explicit Explainer(const PodInfo& pod) : pod_(pod) {}
    std::vector<Finding> Findings(const Status&, const NodeInfo& node) const override {
      return {{"fuel", std::to_string(Of(pod_.labels())), fmt::format("{}", Of(node.labels())), ""}};
    }
    // Two ways: the cheaper one is to open a depot, where that is enough.
    std::vector<Remedy> Remedies(const NodeInfo& node, const Remedy& so_far) const override {
      Remedy depot = so_far;
      depot.ChangeObjects({"open a depot", "depot", 0.5}, [](framework::Objects& objects) {
        objects.storage_classes.Upsert(std::make_shared<const api::StorageClass>(MakeStorageClass("depot")));
      });
      Remedy both = depot;
      both.ChangeNode({fmt::format("refuel {}", node.name()), "refuel"}, [&](api::Node& changed) {
        changed.metadata.labels.Set(Symbol("fuel"), *pod_.labels().Find(Symbol("fuel")));
      });
      return {depot, both};
    }

   private:
    const PodInfo& pod_;
  };
  std::unique_ptr<framework::RejectionExplainer> ExplainRejections(const PodInfo& pod) const override {
    return std::make_unique<Explainer>(pod);
  }

 private:
  const framework::Handle& handle_;
};

class ExplainTest : public ::testing::Test {
 protected:
  // The default profile, and Fuel.
  void SetUp() override {
    config::Profile config = config::DefaultConfiguration(world.gates).profiles.front();
    config.plugins.multi_point.enabled.push_back({.name = "Fuel"});
    framework::Registry registry = plugins::InTreeRegistry();
    const auto make = [](const config::PluginArgs&, framework::Handle& handle) {
      return Result<std::unique_ptr<framework::Plugin>>(std::make_unique<Fuel>(handle));
    };
    ASSERT_TRUE(registry.Register("Fuel", make, "a test"));
    profile = world.MakeProfile(config, registry);
  }

  Explanation Explained(const PodBuilder& pod) {
    return Explain(*profile, *framework::PodInfo::Make(pod.Shared(), framework::RunningPodOptions(world.gates)));
  }
  // "plugin: detail" of each rejection of a node.
  static std::vector<std::string> Details(const Explanation& told, std::string_view node) {
    std::vector<std::string> texts;
    for (const NodeVerdict& verdict : told.nodes) {
      if (verdict.node != node) continue;
      for (const NodeRejection& rejection : verdict.rejections) {
        texts.push_back(rejection.plugin + ": " + rejection.Detail());
      }
    }
    return texts;
  }
  static std::vector<std::string> Remedies(const Explanation& told) {
    std::vector<std::string> texts;
    for (const ProvenRemedy& remedy : told.remedies) {
      std::string text = remedy.node + ":";
      for (const std::string& change : remedy.changes) text += (text.ends_with(':') ? " " : " and ") + change;
      texts.push_back(text);
    }
    return texts;
  }
  // Everything in which a change could show, including the versions by which others notice changes.
  std::string WholePicture() const {
    const cluster::Cluster& picture = world.cluster;
    std::string text = cluster::testing::Picture(picture) + cluster::testing::FirstDisagreement(picture);
    for (const NodeInfo* node : picture.nodes()) {
      text += fmt::format("\n{} {} {} {}", node->name(), fmt::ptr(node), fmt::ptr(node->shared_node().get()),
                          node->generation());
    }
    return text + fmt::format("\nchanges {} classes {}", picture.table().changes().end(),
                              picture.objects().storage_classes.version());
  }

  engine::testing::World world;
  std::unique_ptr<engine::Profile> profile;
};

TEST_F(ExplainTest, NumbersAndRemediesOfAPluginThatItDoesNotKnow) {
  world.cluster.UpsertNode(MakeNode("a").Capacity("cpu", "4").Capacity("pods", "9").Label("fuel", "2").Shared());
  const Explanation told = Explained(MakePod("p").Label("fuel", "5"));
  EXPECT_THAT(Details(told, "a"), ElementsAre("Fuel: asks for fuel 5, has 2"));
  EXPECT_THAT(Remedies(told), ElementsAre("a: open a depot and refuel a"));
  EXPECT_EQ(told.remedies_tried, 2u) << "a depot alone was tried first, and does not do";
}

TEST_F(ExplainTest, ARemedyMayChangeOtherObjects) {
  world.cluster.UpsertNode(MakeNode("a").Capacity("cpu", "4").Capacity("pods", "9").Label("fuel", "7").Shared());
  EXPECT_THAT(Remedies(Explained(MakePod("p").Label("fuel", "5"))), ElementsAre("a: open a depot"))
      << "and not what does no more than that with another change besides";
}

TEST_F(ExplainTest, APluginThatLeavesNodesOutInPreFilterExplainsItself) {
  world.cluster.UpsertNode(MakeNode("dry").Capacity("cpu", "4").Capacity("pods", "9").Shared());
  world.cluster.UpsertNode(MakeNode("low").Capacity("cpu", "4").Capacity("pods", "9").Label("fuel", "2").Shared());
  const Explanation told = Explained(MakePod("p").Label("fuel", "5"));
  EXPECT_THAT(Details(told, "dry"), ElementsAre(": asks for fuel 5, has 0"));
  EXPECT_THAT(Remedies(told), ::testing::Contains("dry: open a depot and refuel dry"));
}

TEST_F(ExplainTest, RemediesOfSeveralPluginsAddUp) {
  world.cluster.UpsertNode(
      MakeNode("a").Capacity("cpu", "1").Capacity("pods", "9").Label("fuel", "7").Taint("t").Shared());
  EXPECT_THAT(Remedies(Explained(MakePod("p").Request("cpu", "2").Label("fuel", "5"))),
              ElementsAre("a: tolerate t:NoSchedule and cpu request 2 -> 1 and open a depot"));
}

TEST_F(ExplainTest, UncordoningANodeTakesTheTaintAlong) {
  world.cluster.UpsertNode(MakeNode("a")
                               .Capacity("cpu", "4")
                               .Capacity("pods", "9")
                               .Unschedulable()
                               .Taint("node.kubernetes.io/unschedulable")
                               .Shared());
  EXPECT_THAT(Remedies(Explained(MakePod("p"))), ElementsAre("a: uncordon a"));
}

// The cluster belongs to others: nothing in it may change, not even temporarily in a way that leaves a trace.
TEST_F(ExplainTest, ThePictureIsAsItWas) {
  world.cluster.UpsertNode(
      MakeNode("a").Capacity("cpu", "1").Capacity("pods", "9").Label("disk", "hdd").Taint("t").Shared());
  world.cluster.UpsertNode(MakeNode("b").Capacity("cpu", "4").Capacity("pods", "9").Unschedulable().Shared());
  world.cluster.UpsertNode(MakeNode("c").Capacity("cpu", "4").Capacity("pods", "9").Label("fuel", "1").Shared());
  world.cluster.UpsertPod(MakePod("low").Request("cpu", "1").Priority(1).Node("a").Shared());
  const std::string before = WholePicture();
  const Explanation told =
      Explained(MakePod("p").Request("cpu", "2").Priority(9).NodeSelector("disk", "ssd").Label("fuel", "3"));
  EXPECT_GT(told.remedies_tried, 0u);
  ASSERT_TRUE(told.preemption);
  EXPECT_EQ(WholePicture(), before);
  EXPECT_EQ(&profile->cluster(), &world.cluster) << "plugins see the picture again";
  EXPECT_EQ(&profile->objects(), &world.cluster.objects());
}

TEST_F(ExplainTest, AskingTwiceGivesTheSameAnswer) {
  world.cluster.UpsertNode(MakeNode("a").Capacity("cpu", "4").Capacity("pods", "9").Label("disk", "hdd").Shared());
  const PodBuilder pod = MakePod("p").NodeSelector("disk", "ssd");
  const std::vector<std::string> first = Remedies(Explained(pod));
  EXPECT_THAT(first, ElementsAre("a: label disk=ssd on a"));
  EXPECT_EQ(Remedies(Explained(pod)), first);
}

TEST_F(ExplainTest, APodThatFitsNeedsNoRemedy) {
  world.cluster.UpsertNode(MakeNode("a").Capacity("cpu", "4").Capacity("pods", "9").Shared());
  const Explanation told = Explained(MakePod("p"));
  EXPECT_TRUE(told.nodes.at(0).feasible());
  EXPECT_THAT(told.remedies, IsEmpty());
  EXPECT_FALSE(told.preemption);
}

}  // namespace
}  // namespace berth::explain
