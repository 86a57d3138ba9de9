#include "engine/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "testing/builders.h"

namespace berth::engine {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using framework::CycleState;
using framework::DependsOn;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;
using testing::Add;
using ::testing::ElementsAre;
using testing::ProfileOf;

// Room for `cpu` milli-cores, answered from rows and from columns.
class Room final : public testing::Named,
                   public framework::FilterPlugin,
                   public framework::ScorePlugin,
                   public framework::SignPlugin {
 public:
  // `asked` counts the nodes asked about by column.
  Room(std::string name, int64_t cpu, size_t* asked) : Named(std::move(name)), cpu_(cpu), asked_(asked) {}

  Status Filter(const CycleState&, const PodInfo&, const NodeInfo& node) const override {
    if (Fits(node.allocatable().milli_cpu, node.requested().milli_cpu)) return {};
    return Status::Unschedulable("no room");
  }
  DependsOn filter_depends_on() const override { return DependsOn::kNodeAndPods; }
  bool FilterRange(const CycleState&, const PodInfo&, const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const override {
    *asked_ += verdicts.size();
    for (size_t i = 0; i < verdicts.size(); ++i) {
      verdicts[i] = Fits(columns.allocatable_milli_cpu[begin + i], columns.requested_milli_cpu[begin + i]) ? 0 : 1;
    }
    return true;
  }

  framework::ScoreResult Score(const CycleState&, const PodInfo&, const NodeInfo& node) const override {
    return Free(node.allocatable().milli_cpu, node.requested().milli_cpu);
  }
  DependsOn score_depends_on() const override { return DependsOn::kNodeAndPods; }
  bool ScoreRange(const CycleState&, const PodInfo&, const framework::NodeColumns& columns, framework::NodeIndex begin,
                  std::span<int64_t> scores) const override {
    for (size_t i = 0; i < scores.size(); ++i) {
      scores[i] = Free(columns.allocatable_milli_cpu[begin + i], columns.requested_milli_cpu[begin + i]);
    }
    return true;
  }
  bool Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const override {
    const Symbol* shape = pod.labels().Find(Symbol("shape"));
    signature.Add("shape", shape ? shape->str() : "");
    return true;
  }

 private:
  bool Fits(int64_t allocatable, int64_t requested) const { return requested + cpu_ <= allocatable; }
  static int64_t Free(int64_t allocatable, int64_t requested) {
    return allocatable == 0 ? 0 : std::max<int64_t>(0, (allocatable - requested) * 100 / allocatable);
  }

  int64_t cpu_;
  size_t* asked_;
};

class EvaluatorTest : public ::testing::Test {
 protected:
  EvaluatorTest() {
    Add<Room>(registry_, "Room", int64_t{500}, &asked_);
    for (int i = 0; i < kNodes; ++i) world_.cluster.UpsertNode(MakeNode(Name(i)).Capacity("cpu", "2").Shared());
  }

  static std::string Name(int i) { return (i < 10 ? "n0" : "n") + std::to_string(i); }
  void Make(const config::Profile& config, Evaluator::Options options = {.verify = true, .runner_ups = true}) {
    profile_ = world_.MakeProfile(config, registry_);
    evaluator_ = std::make_unique<Evaluator>(*profile_, world_.cluster, options);
  }
  // A full evaluation. The evaluator is asked as well, which ends the program if the two disagree.
  Evaluation Ask(const PodInfo& pod, Scope scope = Scope::kDecide) {
    decision_ = evaluator_->Decide(pod, world_.random);
    CycleState state = profile_->NewCycleState();
    return EvaluateFromScratch(*profile_, state, pod, scope);
  }
  const Status& StatusOf(const Evaluation& evaluation, const std::string& node) const {
    return evaluation.diagnosis.node_to_status.Get(world_.cluster.Find(node)->index());
  }
  void Bind(const std::string& pod, const std::string& node, const std::string& cpu) {
    world_.cluster.UpsertPod(MakePod(pod).Request("cpu", cpu).Node(node).Shared());
  }
  static std::vector<std::string> NamesOf(const std::vector<const NodeInfo*>& nodes) {
    std::vector<std::string> names;
    for (const NodeInfo* node : nodes) names.push_back(node->name());
    return names;
  }

  static constexpr int kNodes = 40;
  size_t asked_ = 0;
  testing::World world_;
  framework::Registry registry_ = testing::MinimalRegistry();
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Evaluator> evaluator_;
  Evaluator::Decision decision_;
  framework::PodInfoPtr pod_ = MakePod("pod").Info();
};

TEST_F(EvaluatorTest, AsksOnlyWhatChangedTheSecondTime) {
  Make(ProfileOf({"Room"}));
  EXPECT_EQ(Ask(*pod_).feasible.size(), 40u);
  EXPECT_EQ(asked_, 40u);
  Bind("full", Name(3), "2");
  Bind("half", Name(4), "1");
  const Evaluation evaluation = Ask(*MakePod("other").Info());
  EXPECT_EQ(evaluation.feasible.size(), 39u);
  EXPECT_EQ(asked_, 42u);
  EXPECT_EQ(decision_.choice.feasible, 39u);
  EXPECT_EQ(evaluation.best.size(), 38u) << "the half-empty node scores less";
}

TEST_F(EvaluatorTest, FollowsNodesThatComeAndGo) {
  Make(ProfileOf({"Room"}));
  Ask(*pod_);
  world_.cluster.RemoveNode(Name(7));
  EXPECT_EQ(Ask(*pod_).feasible.size(), 39u);
  world_.cluster.UpsertNode(MakeNode("small").Capacity("cpu", "100m").Shared());
  EXPECT_EQ(world_.cluster.Find("small")->index(), 7u) << "in the place of the one that left";
  EXPECT_EQ(StatusOf(Ask(*pod_), "small").Message(), "no room");
  world_.cluster.UpsertNode(MakeNode("large").Capacity("cpu", "8").Shared());
  EXPECT_EQ(Ask(*pod_).feasible.size(), 40u);
  EXPECT_LE(asked_, 44u);
}

TEST_F(EvaluatorTest, StartsOverWhenMuchHasChanged) {
  Make(ProfileOf({"Room"}));
  Ask(*pod_);
  for (int i = 0; i < kNodes; ++i) {
    for (const char* half : {"p", "q"}) Bind(half + std::to_string(i), Name(i), i % 2 ? "1" : "500m");
  }
  EXPECT_EQ(Ask(*pod_).feasible.size(), 20u);
  EXPECT_EQ(asked_, 80u) << "once for every node, not once for every change";
}

TEST_F(EvaluatorTest, PodsOfDifferentShapesShareNothing) {
  Make(ProfileOf({"Room"}));
  Ask(*MakePod("a").Label("shape", "round").Info());
  Ask(*MakePod("b").Label("shape", "square").Info());
  EXPECT_EQ(asked_, 80u);
  Ask(*MakePod("c").Label("shape", "round").Info());
  EXPECT_EQ(asked_, 80u);
}

TEST_F(EvaluatorTest, TheShapeUsedLongestAgoIsForgotten) {
  Make(ProfileOf({"Room"}), {.verify = true, .max_kept = 2});
  const auto remembers = [&](const char* shape) {
    const size_t before = asked_;
    Ask(*MakePod("p").Label("shape", shape).Info());
    return asked_ == before;
  };
  EXPECT_FALSE(remembers("a"));
  EXPECT_FALSE(remembers("b"));
  EXPECT_TRUE(remembers("a"));
  EXPECT_FALSE(remembers("c"));
  EXPECT_TRUE(remembers("a"));
  EXPECT_FALSE(remembers("b"));
}

// The pods of a DaemonSet: a signature each, and a PreFilter that names one node.
TEST_F(EvaluatorTest, PodsThatNoLaneCanKeepPushNoLaneOut) {
  class OneNodeForSome final : public testing::Named, public framework::PreFilterPlugin, public framework::SignPlugin {
   public:
    using Named::Named;
    framework::PreFilterResult PreFilter(CycleState&, const PodInfo& pod) const override {
      framework::PreFilterResult result;
      if (pod.labels().Find(Symbol("only"))) result.node_names = std::set<std::string>{"n03"};
      return result;
    }
    bool Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const override {
      const Symbol* only = pod.labels().Find(Symbol("only"));
      signature.Add("only", only ? only->str() : "");
      return true;
    }
  };
  Add<OneNodeForSome>(registry_, "OneNodeForSome");
  Make(ProfileOf({"OneNodeForSome", "Room"}), {.verify = true, .max_kept = 2});
  Ask(*MakePod("a").Label("shape", "round").Info());
  Ask(*MakePod("b").Label("shape", "square").Info());
  EXPECT_EQ(decision_.why, LongWay::kNone);
  for (const char* only : {"x", "y", "z"}) {
    Ask(*MakePod(only).Label("only", only).Info());
    EXPECT_EQ(decision_.kind, Evaluator::Decision::Kind::kAskEvaluate);
    EXPECT_EQ(decision_.why, LongWay::kNarrowed);
  }
  const size_t asked = asked_;
  Ask(*MakePod("c").Label("shape", "round").Info());
  Ask(*MakePod("d").Label("shape", "square").Info());
  EXPECT_EQ(asked_, asked) << "both are remembered";
}

TEST_F(EvaluatorTest, AReaderThatFellBehindTheLogStartsOver) {
  Make(ProfileOf({"Room"}));
  Ask(*pod_);
  Bind("full", Name(3), "2");
  for (int i = 0; i < (1 << 14) + 10; ++i) Bind("busy", Name(5), "10m");
  EXPECT_EQ(Ask(*pod_).feasible.size(), 39u);
}

TEST_F(EvaluatorTest, AFilterThatDependsOnAnythingIsAskedAfresh) {
  std::string closed = Name(1);
  Add<testing::Filterer>(registry_, "Moody", testing::FilterFn([&](const PodInfo&, const NodeInfo& node) {
                           return node.name() == closed ? Status::Unschedulable("closed") : Status::Success();
                         }));
  Bind("full", Name(3), "2");
  for (const auto& order : {std::vector<std::string>{"Room", "Moody"}, std::vector<std::string>{"Moody", "Room"}}) {
    closed = Name(1);
    Make(ProfileOf(order));
    Ask(*pod_);
    closed = Name(3);
    const Evaluation evaluation = Ask(*pod_);
    EXPECT_EQ(decision_.why, LongWay::kUndeclared);
    EXPECT_EQ(evaluation.feasible.size(), 39u);
    EXPECT_EQ(StatusOf(evaluation, Name(3)).plugin(), order.front()) << "the first in order speaks";
  }
}

TEST_F(EvaluatorTest, APluginThatSkipsThisTimeIsNotRemembered) {
  bool skip = true;
  class Switch final : public testing::Named,
                       public framework::PreFilterPlugin,
                       public framework::FilterPlugin,
                       public framework::SignPlugin {
   public:
    Switch(std::string name, bool* off) : Named(std::move(name)), skip_(off) {}
    framework::PreFilterResult PreFilter(CycleState&, const PodInfo&) const override {
      return *skip_ ? Status::Skip() : Status::Success();
    }
    Status Filter(const CycleState&, const PodInfo&, const NodeInfo&) const override {
      return Status::Unschedulable("on");
    }
    bool Sign(const PodInfo&, framework::SignatureBuilder&) const override { return true; }

   private:
    bool* skip_;
  };
  Add<Switch>(registry_, "Switch", &skip);
  Make(ProfileOf({"Switch", "Room"}));
  EXPECT_EQ(Ask(*pod_).feasible.size(), 40u);
  skip = false;
  EXPECT_EQ(Ask(*pod_).feasible.size(), 0u);
  skip = true;
  EXPECT_EQ(Ask(*pod_).feasible.size(), 40u);
}

TEST_F(EvaluatorTest, NominatedPodsTakeTheirRoom) {
  Make(ProfileOf({"Room"}));
  EXPECT_EQ(Ask(*pod_).feasible.size(), 40u);
  world_.cluster.nominator().Nominate(MakePod("vip").Request("cpu", "2").Priority(10).Info(), Name(2));
  EXPECT_EQ(Ask(*pod_).feasible.size(), 39u);
  EXPECT_EQ(Ask(*MakePod("king").Priority(11).Info()).feasible.size(), 40u);
  world_.cluster.nominator().Remove("default/vip");
  EXPECT_EQ(Ask(*pod_).feasible.size(), 40u);
}

// A thousand preemptors waiting for their victims to terminate once made every decision ask about a thousand nodes.
TEST_F(EvaluatorTest, NodesPromisedToOthersAreAskedAboutOnce) {
  size_t asked = 0;
  Add<testing::Filterer>(registry_, "Counting", testing::FilterFn([&](const PodInfo&, const NodeInfo& node) {
                           ++asked;
                           return node.pods().empty() ? Status::Success() : Status::Unschedulable("taken");
                         }),
                         DependsOn::kNodeAndPods);
  Make(ProfileOf({"Counting"}), Evaluator::Options{});
  framework::Nominator& nominator = world_.cluster.nominator();
  std::vector<framework::PodInfoPtr> promised;
  for (int i = 0; i < 20; ++i) {
    promised.push_back(MakePod("p" + std::to_string(i)).Info());
    nominator.Nominate(promised.back(), Name(i));
  }
  const auto feasible = [&](const framework::PodInfoPtr& pod) {
    asked = 0;
    return evaluator_->Decide(*pod, world_.random).choice.feasible;
  };
  EXPECT_EQ(feasible(MakePod("a").Info()), 20u);
  EXPECT_GE(asked, 40u);
  EXPECT_EQ(feasible(MakePod("b").Info()), 20u);
  EXPECT_EQ(asked, 0u);
  // One nomination more, one less, one of the pod itself, and a node that changes.
  nominator.Nominate(MakePod("more").Info(), Name(30));
  EXPECT_EQ(feasible(MakePod("c").Info()), 19u);
  nominator.Remove(promised[3]->uid());
  EXPECT_EQ(feasible(MakePod("d").Info()), 20u);
  EXPECT_LE(asked, 4u);
  EXPECT_EQ(feasible(promised[5]), 21u) << "nobody is kept from the node he was promised";
  EXPECT_EQ(feasible(MakePod("e").Info()), 20u);
  world_.cluster.RemoveNode(Name(7));
  EXPECT_EQ(feasible(MakePod("f").Info()), 20u);
  world_.cluster.UpsertNode(MakeNode(Name(7)).Shared());
  EXPECT_EQ(feasible(MakePod("g").Info()), 20u) << "it came back, and the promise holds";
  // Pods of higher priority ignore the nominations.
  EXPECT_EQ(feasible(MakePod("high").Priority(1).Info()), 40u);
  EXPECT_EQ(feasible(MakePod("h").Info()), 20u);
}

TEST_F(EvaluatorTest, AFeasibleNominatedNodeEndsTheSearch) {
  Make(ProfileOf({"Room"}));
  const auto nominee = MakePod("nominee").NominatedNode(Name(5)).Info();
  Evaluation evaluation = Ask(*nominee);
  ASSERT_NE(evaluation.nominated, nullptr);
  EXPECT_THAT(NamesOf(evaluation.feasible), ElementsAre(Name(5)));
  EXPECT_EQ(Ask(*nominee, Scope::kEverything).feasible.size(), 40u);
  Bind("thief", Name(5), "2");
  evaluation = Ask(*nominee);
  EXPECT_EQ(evaluation.nominated, nullptr);
  EXPECT_EQ(evaluation.feasible.size(), 39u);
  EXPECT_EQ(Ask(*MakePod("lost").NominatedNode("gone").Info()).feasible.size(), 39u);
}

TEST_F(EvaluatorTest, OneFeasibleNodeIsNotScored) {
  Make(ProfileOf({"Room"}));
  for (int i = 1; i < kNodes; ++i) Bind("p" + std::to_string(i), Name(i), "2");
  const Evaluation evaluation = Ask(*pod_);
  EXPECT_THAT(NamesOf(evaluation.feasible), ElementsAre(Name(0)));
  EXPECT_TRUE(evaluation.scores.empty());
  EXPECT_THAT(evaluation.best, ElementsAre(0));
}

TEST_F(EvaluatorTest, ANarrowedSearchSaysWhyTheOthersAreOut) {
  class OnlyOne final : public testing::Named, public framework::PreFilterPlugin, public framework::SignPlugin {
   public:
    using Named::Named;
    framework::PreFilterResult PreFilter(CycleState&, const PodInfo&) const override {
      framework::PreFilterResult result;
      result.node_names = std::set<std::string>{"n03", "gone"};
      return result;
    }
    bool Sign(const PodInfo&, framework::SignatureBuilder&) const override { return true; }
  };
  Add<OnlyOne>(registry_, "OnlyOne");
  Make(ProfileOf({"OnlyOne", "Room"}));
  EXPECT_THAT(NamesOf(Ask(*pod_).feasible), ElementsAre("n03"));
  Bind("full", "n03", "2");
  const Evaluation evaluation = Ask(*pod_);
  EXPECT_TRUE(evaluation.feasible.empty());
  EXPECT_EQ(framework::FitErrorMessage(evaluation.diagnosis, kNodes),
            "0/40 nodes are available: 1 no room, 39 node(s) didn't satisfy plugin(s) [OnlyOne].");
  EXPECT_THAT(evaluation.diagnosis.unschedulable_plugins, ElementsAre("OnlyOne", "Room"));
}

TEST_F(EvaluatorTest, ScoresAreWeighedAndAddedUp) {
  const auto by_number = [](int64_t factor) {
    return testing::ScoreFn(
        [factor](const NodeInfo& node) { return framework::ScoreResult(node.name() == "n01" ? factor : 0); });
  };
  Add<testing::Scorer>(registry_, "S", by_number(10));
  Add<testing::Scorer>(registry_, "T", by_number(100));
  Add<testing::PreScorer>(registry_, "Skips", Status::Skip(), by_number(50));
  config::Profile config = ProfileOf({"Skips"});
  config.plugins.multi_point.enabled.push_back({"S", 3});
  config.plugins.multi_point.enabled.push_back({"T", 2});
  Make(config);
  const Evaluation evaluation = Ask(*pod_);
  ASSERT_EQ(evaluation.scores.size(), 2u);
  EXPECT_EQ(evaluation.scores[0].raw[1], 10);
  EXPECT_EQ(evaluation.scores[0].weighted[1], 30);
  EXPECT_EQ(evaluation.totals[1], 230);
  EXPECT_THAT(evaluation.best, ElementsAre(1));
}

TEST_F(EvaluatorTest, ANewMaximumMovesEveryTotal) {
  class ByLabel final : public testing::Named, public framework::ScorePlugin, public framework::SignPlugin {
   public:
    using Named::Named;
    framework::ScoreResult Score(const CycleState&, const PodInfo&, const NodeInfo& node) const override {
      const Symbol* bad = node.labels().Find(Symbol("bad"));
      return bad ? std::stoll(std::string(bad->str())) : 0;
    }
    DependsOn score_depends_on() const override { return DependsOn::kNode; }
    framework::Normalization normalization() const override { return framework::Normalization::kByMaximumReversed; }
    bool Sign(const PodInfo&, framework::SignatureBuilder&) const override { return true; }
  };
  Add<ByLabel>(registry_, "ByLabel");
  config::Profile config = ProfileOf({"Room"});
  config.plugins.multi_point.enabled.push_back({"ByLabel", 3});
  Make(config);
  base::Random random(1);
  for (const char* bad : {"1", "2", "90", "7", "1"}) {
    world_.cluster.UpsertNode(MakeNode(Name(5)).Capacity("cpu", "2").Label("bad", bad).Shared());
    world_.cluster.UpsertNode(MakeNode(Name(6)).Capacity("cpu", "2").Label("bad", "1").Shared());
    const Evaluator::Decision decision = evaluator_->Decide(*pod_, random);
    ASSERT_EQ(decision.kind, Evaluator::Decision::Kind::kChosen);
    EXPECT_EQ(decision.choice.ties, 38u);
  }
}

// Rejections are kept as small numbers; more of them than there are numbers once overflowed.
TEST_F(EvaluatorTest, AFilterThatWordsEveryRejectionAnewIsNotKept) {
  Add<testing::Filterer>(registry_, "Wordy", testing::FilterFn([](const PodInfo&, const NodeInfo& node) {
                           return Status::Unschedulable("not on " + node.name());
                         }),
                         DependsOn::kNodeAndPods);
  Make(ProfileOf({"Wordy"}));
  EXPECT_EQ(Ask(*pod_).feasible.size(), 0u);
  EXPECT_EQ(decision_.kind, Evaluator::Decision::Kind::kNoFit);
  // Few enough changes to be replayed, each with its own wording.
  for (int i = kNodes; i < 70; ++i) world_.cluster.UpsertNode(MakeNode(Name(i)).Shared());
  Ask(*pod_);
  for (int i = 70; i < 400; ++i) {
    world_.cluster.UpsertNode(MakeNode(Name(i)).Shared());
    if (i % 50 == 0) Ask(*pod_);
  }
  Ask(*pod_);
  EXPECT_EQ(decision_.kind, Evaluator::Decision::Kind::kAskEvaluate);
}

TEST_F(EvaluatorTest, TroubleInScoringIsToldAsUpstreamDoes) {
  struct Case {
    const char* name;
    const char* error;
  };
  Add<testing::Scorer>(registry_, "Broken",
                       testing::ScoreFn([](const NodeInfo&) { return framework::ScoreResult(Status::Error("boom")); }));
  Add<testing::Scorer>(registry_, "TooHigh",
                       testing::ScoreFn([](const NodeInfo&) { return framework::ScoreResult(101); }));
  Add<testing::PreScorer>(registry_, "Pre", Status::Error("boom"), testing::ScoreFn([](const NodeInfo&) { return 0; }));
  for (const Case& c :
       {Case{"Broken", "running Score plugins: plugin \"Broken\" failed with: boom"},
        Case{"TooHigh",
             "applying score defaultWeights on Score plugins: plugin \"TooHigh\" returns an invalid score 101, it "
             "should in the range of [0, 100] after normalizing"},
        Case{"Pre", "running PreScore plugin \"Pre\": boom"}}) {
    Make(ProfileOf({c.name}));
    EXPECT_EQ(Ask(*pod_).error.Message(), c.error);
  }
}

TEST_F(EvaluatorTest, TroubleInAFilterEndsTheCycle) {
  Add<testing::Filterer>(registry_, "Broken", testing::FilterFn([](const PodInfo&, const NodeInfo& node) {
                           return node.name() == "n02" ? Status::Error("boom") : Status::Success();
                         }));
  Make(ProfileOf({"Broken"}));
  const Evaluation evaluation = Ask(*pod_);
  EXPECT_FALSE(evaluation.fits());
  EXPECT_EQ(evaluation.error.Message(), "running \"Broken\" filter plugin: boom");
}

// Declares that its PreScore reads no nodes, yet scores by how many there are.
class CountsInSecret final : public testing::Named,
                             public framework::PreScorePlugin,
                             public framework::ScorePlugin,
                             public framework::SignPlugin {
 public:
  using Named::Named;
  Status PreScore(CycleState&, const PodInfo&, std::span<const NodeInfo* const> feasible) const override {
    feasible_ = feasible.size();
    return {};
  }
  bool ReadsFeasibleNodes(const PodInfo&) const override { return false; }
  framework::ScoreResult Score(const CycleState&, const PodInfo&, const NodeInfo& node) const override {
    return node.name() == "n03" ? static_cast<int64_t>(feasible_) : 50;  // one of the nodes that are compared
  }
  DependsOn score_depends_on() const override { return DependsOn::kNode; }
  bool Sign(const PodInfo&, framework::SignatureBuilder&) const override { return true; }

 private:
  mutable size_t feasible_ = 0;
};

TEST_F(EvaluatorTest, APluginThatReadsFeasibleNodesInSecretIsNoticedWithoutVerification) {
  Add<CountsInSecret>(registry_, "Secret");
  Make(ProfileOf({"Room", "Secret"}), Evaluator::Options{});
  for (int i = 0; i < 2; ++i) {
    const Evaluator::Decision decision = evaluator_->Decide(*pod_, world_.random);
    EXPECT_EQ(decision.kind, Evaluator::Decision::Kind::kAskEvaluate);
    EXPECT_EQ(decision.why, LongWay::kUndeclared);
  }
  const Evaluator::Decision decision = evaluator_->Decide(*MakePod("b").Label("shape", "b").Info(), world_.random);
  EXPECT_EQ(decision.why, LongWay::kUndeclared) << "nor is it trusted with pods of other shapes";
}

TEST_F(EvaluatorTest, APluginThatClaimsTooLittleIsCaughtByVerification) {
  bool closed = false;
  Add<testing::Filterer>(registry_, "Liar", testing::FilterFn([&](const PodInfo&, const NodeInfo&) {
                           return closed ? Status::Unschedulable("closed") : Status::Success();
                         }),
                         DependsOn::kNode);
  Make(ProfileOf({"Liar"}));
  Ask(*pod_);
  EXPECT_DEATH(
      {
        closed = true;
        (void)evaluator_->Decide(*pod_, world_.random);
      },
      "differs from scratch: 40 feasible nodes against 0");
}

}  // namespace
}  // namespace berth::engine
