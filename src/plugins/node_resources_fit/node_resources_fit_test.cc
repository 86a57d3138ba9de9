#include "plugins/node_resources_fit/node_resources_fit.h"

#include <gmock/gmock.h>

#include <map>

#include "base/random.h"
#include "framework/pod_resources.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::EventResource;
using framework::QueueingHint;
using testing::AskHint;
using ::testing::ElementsAre;
using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;

framework::PodInfoPtr Asking(std::string_view cpu, std::string_view memory) {
  return MakePod("p").Request("cpu", cpu).Request("memory", memory).Info();
}

class NodeResourcesFitTest : public ::testing::Test {
 protected:
  framework::Status Filter(const NodeResourcesFit& plugin, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) {
    framework::CycleState state;
    EXPECT_TRUE(plugin.PreFilter(state, pod).status.ok());
    return plugin.Filter(state, pod, node);
  }
  int64_t Score(const NodeResourcesFit& plugin, const framework::PodInfo& pod, const framework::NodeInfo& node) {
    framework::CycleState state;
    EXPECT_TRUE(plugin.PreScore(state, pod, {}).ok());
    return plugin.Score(state, pod, node).score;
  }

  FakeHandle handle_;
};

TEST_F(NodeResourcesFitTest, ListsEveryResourceThatIsShort) {
  const framework::PodInfoPtr there =
      MakePod("q").Request("cpu", "3").Request("memory", "6Gi").Request("example.com/gpu", "1").Info();
  const framework::NodeInfo node = MakeNode("n")
                                       .Capacity("cpu", "4")
                                       .Capacity("memory", "8Gi")
                                       .Capacity("ephemeral-storage", "10Gi")
                                       .Capacity("example.com/gpu", "2")
                                       .Capacity("pods", "2")
                                       .Info({there});
  const framework::NodeInfo full = MakeNode("n").Capacity("cpu", "4").Capacity("pods", "1").Info({Asking("1", "0")});
  struct {
    const char* what;
    framework::PodInfoPtr pod;
    const framework::NodeInfo& node;
    Code code;
    std::vector<std::string> reasons;
  } const cases[] = {
      {"fits exactly", Asking("1", "2Gi"), node, Code::kSuccess, {}},
      {"cpu", Asking("1001m", "1Gi"), node, Code::kUnschedulable, {"Insufficient cpu"}},
      {"cpu and memory", Asking("2", "3Gi"), node, Code::kUnschedulable, {"Insufficient cpu", "Insufficient memory"}},
      {"more than the node has",
       Asking("5", "3Gi"),
       node,
       Code::kUnschedulableAndUnresolvable,
       {"Insufficient cpu", "Insufficient memory"}},
      {"storage",
       MakePod("p").Request("ephemeral-storage", "11Gi").Info(),
       node,
       Code::kUnschedulableAndUnresolvable,
       {"Insufficient ephemeral-storage"}},
      {"extended",
       MakePod("p").Request("example.com/gpu", "2").Info(),
       node,
       Code::kUnschedulable,
       {"Insufficient example.com/gpu"}},
      {"not on this node",
       MakePod("p").Request("example.com/nic", "1").Info(),
       node,
       Code::kUnschedulableAndUnresolvable,
       {"Insufficient example.com/nic"}},
      {"zero of it is no request", MakePod("p").Request("example.com/nic", "0").Info(), node, Code::kSuccess, {}},
      {"pods", MakePod("p").Info(), full, Code::kUnschedulable, {"Too many pods"}},
      {"pods and cpu", Asking("4", "0"), full, Code::kUnschedulable, {"Too many pods", "Insufficient cpu"}},
      {"overhead counts",
       MakePod("p").Request("cpu", "500m").Overhead("cpu", "501m").Info(),
       node,
       Code::kUnschedulable,
       {"Insufficient cpu"}},
      {"largest init container counts",
       MakePod("p").InitContainer().Request("cpu", "2").Container().Request("cpu", "100m").Info(),
       node,
       Code::kUnschedulable,
       {"Insufficient cpu"}},
      {"pod-level requests count",
       MakePod("p").Request("cpu", "100m").PodLevelRequest("cpu", "2").Info(),
       node,
       Code::kUnschedulable,
       {"Insufficient cpu"}},
  };
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    const framework::Status status = Filter(*plugin, *test.pod, test.node);
    EXPECT_EQ(status.code(), test.code);
    EXPECT_EQ(status.reasons(), test.reasons);
  }
}

TEST_F(NodeResourcesFitTest, RejectionsCarryTheirNumbers) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  const framework::NodeInfo node =
      MakeNode("n").Capacity("cpu", "4").Capacity("memory", "1Gi").Info({Asking("3", "0")});
  const framework::Status status = Filter(*plugin, *Asking("2", "1"), node);
  ASSERT_EQ(status.shortfalls().size(), 1u);
  const framework::Shortfall& cpu = status.shortfalls()[0];
  EXPECT_EQ(cpu.resource, "cpu");
  EXPECT_EQ(cpu.requested, 2000);
  EXPECT_EQ(cpu.used, 3000);
  EXPECT_EQ(cpu.capacity, 4000);
}

TEST_F(NodeResourcesFitTest, IgnoredResourcesAreNotChecked) {
  config::NodeResourcesFitArgs args;
  args.ignored_resources = {"example.com/gpu", "hugepages-2Mi"};
  args.ignored_resource_groups = {"vendor.io"};
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_, args);
  const framework::NodeInfo node = MakeNode("n").Info();
  EXPECT_TRUE(Filter(*plugin, *MakePod("p").Request("example.com/gpu", "1").Info(), node).ok());
  EXPECT_TRUE(Filter(*plugin, *MakePod("p").Request("vendor.io/nic", "1").Info(), node).ok());
  EXPECT_FALSE(Filter(*plugin, *MakePod("p").Request("example.com/nic", "1").Info(), node).ok());
  // Only extended resources can be ignored.
  EXPECT_FALSE(Filter(*plugin, *MakePod("p").Request("hugepages-2Mi", "2Mi").Info(), node).ok());
}

TEST_F(NodeResourcesFitTest, StrategiesScoreTheNodeAsItWouldBe) {
  const framework::NodeInfo node = MakeNode("n")
                                       .Capacity("cpu", "4")
                                       .Capacity("memory", "10000")
                                       .Capacity("example.com/gpu", "4")
                                       .Info({Asking("1", "2000")});
  const auto args = [](config::ScoringStrategyType type, std::vector<config::ResourceSpec> resources) {
    config::NodeResourcesFitArgs made;
    made.scoring_strategy.type = type;
    made.scoring_strategy.resources = std::move(resources);
    made.scoring_strategy.shape = {{0, 0}, {50, 10}, {100, 3}};
    return made;
  };
  using Type = config::ScoringStrategyType;
  const config::ResourceSpec cpu{Symbol("cpu"), 1};
  const config::ResourceSpec memory{Symbol("memory"), 1};
  const config::ResourceSpec heavy_memory{Symbol("memory"), 3};
  const config::ResourceSpec gpu{Symbol("example.com/gpu"), 2};
  const framework::PodInfoPtr pod = Asking("1", "3000");
  const framework::PodInfoPtr gpu_pod =
      MakePod("p").Request("cpu", "1").Request("memory", "3000").Request("example.com/gpu", "1").Info();
  struct {
    const char* what;
    config::NodeResourcesFitArgs args;
    framework::PodInfoPtr pod;
    int64_t score;
  } const cases[] = {
      {"least", args(Type::kLeastAllocated, {cpu, memory}), pod, (50 + 50) / 2},
      {"least, weighted", args(Type::kLeastAllocated, {cpu, heavy_memory}), Asking("1", "1000"), (50 + 3 * 70) / 4},
      {"most", args(Type::kMostAllocated, {cpu, memory}), Asking("2", "3000"), (75 + 50) / 2},
      {"most, beyond the capacity", args(Type::kMostAllocated, {cpu}), Asking("9", "1"), 100},
      {"least, beyond the capacity", args(Type::kLeastAllocated, {cpu, memory}), Asking("9", "3000"), 25},
      {"a scalar that is not asked for is left out", args(Type::kLeastAllocated, {cpu, gpu}), pod, 50},
      {"a scalar that is asked for counts", args(Type::kLeastAllocated, {cpu, gpu}), gpu_pod, (50 + 2 * 75) / 3},
      {"ratio at a point", args(Type::kRequestedToCapacityRatio, {cpu}), pod, 100},
      {"ratio between points", args(Type::kRequestedToCapacityRatio, {cpu}), MakePod("p").Request("memory", "1").Info(),
       2 * 27},  // 100m by default
      {"ratio beyond the capacity", args(Type::kRequestedToCapacityRatio, {cpu}), Asking("9", "1"), 30},
      {"a resource the node lacks", args(Type::kLeastAllocated, {{Symbol("example.com/nic"), 1}}), pod, 0},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    EXPECT_EQ(Score(*MakePlugin<NodeResourcesFit>(handle_, test.args), *test.pod, node), test.score);
  }
}

TEST_F(NodeResourcesFitTest, ScoringTakesContainersWhereverPodLevelRequestsAreSet) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  const framework::NodeInfo node = MakeNode("n").Capacity("cpu", "1").Capacity("memory", "1000Mi").Info();
  // 100m and 200Mi are the defaults of the one container.
  const framework::PodInfoPtr pod =
      MakePod("p").Container("c").PodLevelRequest("cpu", "500m").PodLevelRequest("memory", "500Mi").Info();
  EXPECT_EQ(Score(*plugin, *pod, node), (90 + 80) / 2);
}

TEST_F(NodeResourcesFitTest, RefusesArgumentsOfOthersAndAnEmptyShape) {
  EXPECT_FALSE(NodeResourcesFit::Create(config::NodeAffinityArgs{}, handle_).ok());
  config::NodeResourcesFitArgs args;
  args.scoring_strategy.type = config::ScoringStrategyType::kRequestedToCapacityRatio;
  EXPECT_FALSE(NodeResourcesFit::Create(args, handle_).ok());
}

TEST_F(NodeResourcesFitTest, FilterWithoutPreFilterIsAnError) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  EXPECT_TRUE(plugin->Filter(framework::CycleState(), *Asking("1", "1"), MakeNode("n").Info()).IsError());
}

// Rows and columns are two forms of the same answer: over random nodes and pods they must agree, and equal verdicts
// must mean equal statuses.
TEST_F(NodeResourcesFitTest, ColumnsAgreeWithRows) {
  base::Random random(20240607);
  const auto amount = [&](uint64_t bound) { return std::to_string(random.Below(bound)); };
  const auto random_pod = [&] {
    testing::PodBuilder pod = MakePod("p");
    for (const char* resource : {"cpu", "memory", "ephemeral-storage"}) {
      if (random.Below(4) != 0) pod.Request(resource, amount(6));
    }
    return pod.Info();
  };
  for (int i = 0; i < 300; ++i) {
    std::vector<framework::PodInfoPtr> pods;
    for (uint64_t count = random.Below(4); count > 0; --count) pods.push_back(random_pod());
    testing::NodeBuilder node = MakeNode("n" + std::to_string(i));
    node.Capacity("pods", amount(5));
    for (const char* resource : {"cpu", "memory", "ephemeral-storage"}) node.Capacity(resource, amount(12));
    handle_.cluster().AddNode(node, pods);
  }
  std::vector<config::NodeResourcesFitArgs> all(3);
  all[1].scoring_strategy.type = config::ScoringStrategyType::kMostAllocated;
  all[1].scoring_strategy.resources = {
      {Symbol("cpu"), 3}, {Symbol("ephemeral-storage"), 2}, {Symbol("example.com/gpu"), 5}};
  all[2].scoring_strategy.type = config::ScoringStrategyType::kRequestedToCapacityRatio;
  all[2].scoring_strategy.shape = {{10, 0}, {40, 9}, {90, 4}};
  const size_t count = handle_.cluster().nodes().size();
  for (int round = 0; round < 60; ++round) {
    const auto plugin = MakePlugin<NodeResourcesFit>(handle_, all[round % all.size()]);
    const framework::PodInfoPtr pod = random_pod();
    framework::CycleState state;
    ASSERT_TRUE(plugin->PreFilter(state, *pod).status.ok());
    ASSERT_TRUE(plugin->PreScore(state, *pod, {}).ok());
    const framework::NodeIndex begin = static_cast<framework::NodeIndex>(random.Below(10));
    std::vector<uint8_t> verdicts(count - begin, 77);
    std::vector<int64_t> scores(count - begin, -1);
    ASSERT_TRUE(plugin->FilterRange(state, *pod, handle_.cluster().columns(), begin, verdicts));
    ASSERT_TRUE(plugin->ScoreRange(state, *pod, handle_.cluster().columns(), begin, scores));
    std::map<uint8_t, framework::Status> status_of;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const framework::NodeInfo& node = *handle_.cluster().nodes()[begin + i];
      const framework::Status status = plugin->Filter(state, *pod, node);
      ASSERT_EQ(verdicts[i] == 0, status.ok());
      ASSERT_EQ(status_of.try_emplace(verdicts[i], status).first->second, status);
      ASSERT_EQ(scores[i], plugin->Score(state, *pod, node).score);
    }
  }
}

TEST_F(NodeResourcesFitTest, ColumnsDoNotAnswerForScalarResources) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  handle_.cluster().AddNode(MakeNode("n"));
  const framework::PodInfoPtr pod = MakePod("p").Request("example.com/gpu", "1").Info();
  framework::CycleState state;
  ASSERT_TRUE(plugin->PreFilter(state, *pod).status.ok());
  std::vector<uint8_t> verdicts(1);
  EXPECT_FALSE(plugin->FilterRange(state, *pod, handle_.cluster().columns(), 0, verdicts));
}

TEST_F(NodeResourcesFitTest, WakesUpForNodesThatGainWhatIsWanted) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  const framework::PodInfoPtr pod = Asking("2", "0");
  const api::Node small = MakeNode("n").Capacity("cpu", "1").Obj();
  const api::Node large = MakeNode("n").Capacity("cpu", "4").Obj();
  const api::Node large_with_memory = MakeNode("n").Capacity("cpu", "4").Capacity("memory", "1Gi").Obj();
  const auto hint = [&](const framework::EventObject& before, const framework::EventObject& after) {
    return AskHint(*plugin, EventResource::kNode, *pod, before, after);
  };
  EXPECT_EQ(hint({}, &small), QueueingHint::kSkip);
  EXPECT_EQ(hint({}, &large), QueueingHint::kQueue);
  EXPECT_EQ(hint(&small, &large), QueueingHint::kQueue);
  EXPECT_EQ(hint(&large, &large_with_memory), QueueingHint::kSkip);
}

TEST_F(NodeResourcesFitTest, WakesUpForPodsThatGiveBackWhatIsWanted) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  const framework::PodInfoPtr pod = Asking("2", "0");
  const auto hint = [&](const framework::EventObject& before, const framework::EventObject& after) {
    return AskHint(*plugin, EventResource::kPod, *pod, before, after);
  };
  const api::Pod placed = MakePod("q").Request("cpu", "2").Request("memory", "2Gi").Node("n").Obj();
  const api::Pod pending = MakePod("q").Request("cpu", "2").Obj();
  EXPECT_EQ(hint(&placed, {}), QueueingHint::kQueue);
  EXPECT_EQ(hint(&pending, {}), QueueingHint::kSkip);
  const api::Pod less_cpu = MakePod("q").Request("cpu", "1").Request("memory", "2Gi").Node("n").Obj();
  const api::Pod less_memory = MakePod("q").Request("cpu", "2").Request("memory", "1Gi").Node("n").Obj();
  EXPECT_EQ(hint(&placed, &less_cpu), QueueingHint::kQueue);
  EXPECT_EQ(hint(&placed, &less_memory), QueueingHint::kSkip);
  EXPECT_EQ(hint(&pending, &pending), QueueingHint::kSkip);
  const api::Pod self = MakePod("p").Request("cpu", "1").Obj();
  EXPECT_EQ(hint(&self, &self), QueueingHint::kQueue);
}

TEST_F(NodeResourcesFitTest, SignatureTellsRequestsApart) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  const auto sign = [&](const framework::PodInfoPtr& pod) { return testing::SignatureOf(*plugin, *pod); };
  EXPECT_EQ(sign(Asking("1", "1Gi")),
            sign(MakePod("other").Request("cpu", "1000m").Request("memory", "1024Mi").Info()));
  EXPECT_NE(sign(Asking("1", "1Gi")), sign(Asking("1", "2Gi")));
  // Requesting nothing and requesting the default score the same but fit differently.
  EXPECT_NE(sign(MakePod("p").Container("c").Info()), sign(Asking("100m", "200Mi")));
}

TEST_F(NodeResourcesFitTest, ExplainsWhatIsShortAndWhoHoldsIt) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  const std::vector<framework::PodInfoPtr> two = {MakePod("a").Request("cpu", "2").Info(),
                                                  MakePod("b").Request("cpu", "700m").Info()};
  const struct {
    framework::PodInfoPtr pod;
    framework::NodeInfo node;
    std::string finding;
    std::string remedy;  // "": none
  } cases[] = {
      {MakePod("p").Request("cpu", "2").Info(), MakeNode("n").Capacity("cpu", "4").Info(two),
       "cpu | 2 | 1.3 | needs 2 cpu, 1.3 free of 4; 2.7 held by 2 pods, largest default/a with 2",
       "cpu request 2 -> 1.3"},
      {MakePod("p").Request("cpu", "2").Info(), MakeNode("n").Capacity("cpu", "1").Info(),
       "cpu | 2 | 1 | needs 2 cpu, has 1", "cpu request 2 -> 1"},
      {MakePod("p").Request("example.com/gpu", "1").Info(), MakeNode("n").Capacity("cpu", "4").Info(),
       "example.com/gpu | 1 | 0 | needs 1 example.com/gpu, has none", ""},
      {MakePod("p").Info(), MakeNode("n").Capacity("pods", "2").Info(two), "pods | 1 | 0 | has 2 of 2 pods already",
       ""},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.finding);
    const framework::Status status = testing::Judge(*plugin, *test.pod, test.node);
    EXPECT_THAT(testing::FindingsOf(*plugin, *test.pod, test.node, status), ElementsAre(test.finding));
    const std::vector<framework::Remedy> remedies = testing::RemediesOf(*plugin, *test.pod, test.node);
    ASSERT_EQ(remedies.size(), test.remedy.empty() ? 0u : 1u);
    if (remedies.empty()) continue;
    EXPECT_EQ(testing::TextOf(remedies[0]), test.remedy);
    EXPECT_TRUE(testing::Judge(*plugin, *testing::ChangedPod(remedies[0]), test.node).ok());
  }
}

TEST_F(NodeResourcesFitTest, WhatOnlyItsOverheadKeepsOutFitsWithoutTheRuntimeClass) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  api::Pod pod = MakePod("p").Request("cpu", "2").Obj();
  pod.spec.runtime_class_name = "kata";
  pod.spec.overhead[Symbol("cpu")] = *api::Quantity::Parse("250m");
  const framework::PodInfoPtr info =
      framework::PodInfo::Make(std::make_shared<const api::Pod>(pod), framework::RunningPodOptions({}));
  const framework::NodeInfo exact = MakeNode("n").Capacity("cpu", "2").Info();
  const std::vector<framework::Remedy> remedies = testing::RemediesOf(*plugin, *info, exact);
  ASSERT_EQ(remedies.size(), 2u);
  EXPECT_EQ(testing::TextOf(remedies[0]), "cpu request 2.25 -> 2 (container-1 2 -> 1.75)");
  EXPECT_EQ(testing::TextOf(remedies[1]), "no RuntimeClass kata, whose overhead is cpu 250m");
  for (const framework::Remedy& remedy : remedies) {
    EXPECT_TRUE(testing::Judge(*plugin, *testing::ChangedPod(remedy), exact).ok());
  }
  const framework::NodeInfo small = MakeNode("n").Capacity("cpu", "1").Info();
  EXPECT_EQ(testing::RemediesOf(*plugin, *info, small).size(), 1u) << "without overhead it is too large still";
}

TEST_F(NodeResourcesFitTest, ASmallerRequestCostsWhatIsGivenUp) {
  const auto plugin = MakePlugin<NodeResourcesFit>(handle_);
  const framework::PodInfoPtr pod = MakePod("p").Request("cpu", "4").Info();
  const std::vector<framework::Remedy> remedies =
      testing::RemediesOf(*plugin, *pod, MakeNode("n").Capacity("cpu", "3").Info());
  ASSERT_EQ(remedies.size(), 1u);
  EXPECT_DOUBLE_EQ(remedies[0].cost(), 0.25);
}

}  // namespace
}  // namespace berth::plugins
