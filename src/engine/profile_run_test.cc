#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/evaluator.h"
#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "testing/builders.h"

namespace berth::engine {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PreFilterResult;
using framework::Status;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Add;
using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;
using testing::ProfileOf;
using PreFilterFn = std::function<PreFilterResult()>;
using StatusFn = std::function<Status()>;

PreFilterFn Only(std::set<std::string> names) {
  return [names] {
    PreFilterResult result;
    result.node_names = names;
    return result;
  };
}
PreFilterFn Says(Status status) {
  return [status] { return PreFilterResult(status); };
}

class ProfileRunTest : public ::testing::Test {
 protected:
  Profile& Make(const std::vector<std::string>& names) {
    profile_ = world_.MakeProfile(ProfileOf(names), registry_);
    state_ = profile_->NewCycleState();
    return *profile_;
  }

  testing::World world_;
  framework::Registry registry_ = testing::MinimalRegistry();
  std::unique_ptr<Profile> profile_;
  CycleState state_;
  framework::PodInfoPtr pod_ = MakePod("pod").Info();
  NodeInfo node_ = MakeNode("n1").Info();
  std::vector<std::string> log_;
};

TEST_F(ProfileRunTest, TheFirstGateThatIsShutIsNamed) {
  Add<testing::PreEnqueuer>(registry_, "Open", Status::Success());
  Add<testing::PreEnqueuer>(registry_, "Shut", Status::UnschedulableAndUnresolvable("wait"));
  EXPECT_EQ(Make({"Open", "Shut"}).RunPreEnqueue(*pod_).plugin(), "Shut");
  EXPECT_TRUE(Make({"Open"}).RunPreEnqueue(*pod_).ok());
}

TEST_F(ProfileRunTest, NarrowingPreFiltersIntersect) {
  Add<testing::PreFilterer>(registry_, "A", Only({"n1", "n2"}));
  Add<testing::PreFilterer>(registry_, "All", Says({}));
  Add<testing::PreFilterer>(registry_, "B", Only({"n2", "n3"}));
  Add<testing::PreFilterer>(registry_, "C", Only({"n9"}));
  Add<testing::PreFilterer>(registry_, "None", Only({}));

  PreFilterOutcome outcome = Make({"A", "All", "B"}).RunPreFilter(state_, *pod_);
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_THAT(outcome.node_names, Optional(ElementsAre("n2")));
  EXPECT_THAT(outcome.narrowed_by, ElementsAre("A", "B"));

  outcome = Make({"C", "A", "B"}).RunPreFilter(state_, *pod_);
  EXPECT_EQ(outcome.status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(outcome.status.Message(), "node(s) didn't satisfy plugin(s) [A C] simultaneously");

  EXPECT_EQ(Make({"None"}).RunPreFilter(state_, *pod_).status.Message(), "node(s) didn't satisfy plugin None");
}

TEST_F(ProfileRunTest, APreFilterRejectionIsAttributedAndMayLetTheOthersRun) {
  int ran = 0;
  const PreFilterFn count = [&ran] { return ++ran, PreFilterResult(); };
  Add<testing::PreFilterer>(registry_, "NotNow", Says(Status::Unschedulable("not now")));
  Add<testing::PreFilterer>(registry_, "Never", Says(Status::UnschedulableAndUnresolvable("never")));
  Add<testing::PreFilterer>(registry_, "Broken", Says(Status::Error("boom")));
  Add<testing::PreFilterer>(registry_, "Count", count);

  Status status = Make({"NotNow", "Count"}).RunPreFilter(state_, *pod_).status;
  EXPECT_EQ(status, Status::Unschedulable("not now").WithPlugin("NotNow"));
  EXPECT_EQ(ran, 1) << "preemption needs everybody's state";

  status = Make({"Never", "Count"}).RunPreFilter(state_, *pod_).status;
  EXPECT_EQ(status, Status::UnschedulableAndUnresolvable("never").WithPlugin("Never"));
  EXPECT_EQ(ran, 1);

  status = Make({"Broken"}).RunPreFilter(state_, *pod_).status;
  EXPECT_EQ(status, Status::Error("running PreFilter plugin \"Broken\": boom").WithPlugin("Broken"));
}

TEST_F(ProfileRunTest, APluginThatSkipsIsNotAskedAgain) {
  const testing::FilterFn reject = [](const PodInfo&, const NodeInfo&) { return Status::Unschedulable("no"); };
  Add<testing::PreFilterer>(registry_, "Skips", Says(Status::Skip()), reject);
  Add<testing::PreFilterer>(registry_, "Stays", Says({}), reject);
  Make({"Skips"}).RunPreFilter(state_, *pod_);
  EXPECT_TRUE(profile_->RunFilter(state_, *pod_, node_).ok());
  Make({"Skips", "Stays"}).RunPreFilter(state_, *pod_);
  EXPECT_EQ(profile_->RunFilter(state_, *pod_, node_).plugin(), "Stays");
}

TEST_F(ProfileRunTest, TheFirstFilterThatRejectsIsNamedAndTroubleIsWrapped) {
  const auto answer = [](Status status) {
    return testing::FilterFn([status](const auto&, const auto&) { return status; });
  };
  Add<testing::Filterer>(registry_, "Fine", answer({}));
  Add<testing::Filterer>(registry_, "No", answer(Status::Unschedulable("no")));
  Add<testing::Filterer>(registry_, "Never", answer(Status::UnschedulableAndUnresolvable("never")));
  Add<testing::Filterer>(registry_, "Broken", answer(Status::Error("boom")));
  EXPECT_EQ(Make({"Fine", "No", "Never"}).RunFilter(state_, *pod_, node_),
            Status::Unschedulable("no").WithPlugin("No"));
  EXPECT_EQ(Make({"Never", "No"}).RunFilter(state_, *pod_, node_).plugin(), "Never");
  EXPECT_EQ(Make({"Broken"}).RunFilter(state_, *pod_, node_),
            Status::Error("running \"Broken\" filter plugin: boom").WithPlugin("Broken"));
}

// The pod must fit with the pods nominated to the node, and without them.
TEST_F(ProfileRunTest, NominatedPodsAreCountedAndNotCounted) {
  std::vector<size_t> seen;
  size_t at_most = 9, at_least = 0;
  const testing::FilterFn filter = [&](const PodInfo&, const NodeInfo& node) {
    seen.push_back(node.pods().size());
    return node.pods().size() > at_most || node.pods().size() < at_least ? Status::Unschedulable("no")
                                                                         : Status::Success();
  };
  Add<testing::PreFilterer>(registry_, "Count", Says({}), filter);
  Make({"Count"});
  pod_ = MakePod("pod").Priority(5).Info();
  const auto run = [&] {
    seen.clear();
    state_ = profile_->NewCycleState();
    return profile_->RunFilterWithNominatedPods(state_, *pod_, node_).ok();
  };

  EXPECT_TRUE(run());
  EXPECT_THAT(seen, ElementsAre(0));
  world_.cluster.nominator().Nominate(MakePod("weaker").Priority(4).Info(), "n1");
  world_.cluster.nominator().Nominate(pod_, "n1");
  world_.cluster.nominator().Nominate(MakePod("elsewhere").Priority(9).Info(), "n2");
  EXPECT_TRUE(run());
  EXPECT_THAT(seen, ElementsAre(0)) << "neither the weaker nor the pod itself counts";

  world_.cluster.nominator().Nominate(MakePod("equal").Priority(5).Info(), "n1");
  world_.cluster.nominator().Nominate(MakePod("stronger").Priority(6).Info(), "n1");
  EXPECT_TRUE(run());
  EXPECT_THAT(seen, ElementsAre(2, 0));
  at_most = 1;
  EXPECT_FALSE(run());
  EXPECT_THAT(seen, ElementsAre(2)) << "they may take the room";
  at_most = 9;
  at_least = 1;
  EXPECT_FALSE(run());
  EXPECT_THAT(seen, ElementsAre(2, 0)) << "nothing may rest on them";
}

TEST_F(ProfileRunTest, PostFiltersAreAskedUntilOneDecides) {
  using framework::PostFilterResult;
  PostFilterResult nominates;
  nominates.nominated_node_name = "n1";
  Add<testing::PostFilterer>(registry_, "No", PostFilterResult(Status::Unschedulable("no room")));
  Add<testing::PostFilterer>(registry_, "Neither", PostFilterResult(Status::Unschedulable("nor here")));
  Add<testing::PostFilterer>(registry_, "Never", PostFilterResult(Status::UnschedulableAndUnresolvable("never")));
  Add<testing::PostFilterer>(registry_, "Broken", PostFilterResult(Status::Error("boom")));
  Add<testing::PostFilterer>(registry_, "Yes", nominates);

  EXPECT_EQ(Make({"No", "Neither"}).RunPostFilter(state_, *pod_, {}).status,
            Status(Code::kUnschedulable, {"no room", "nor here"}).WithPlugin("No"));
  EXPECT_EQ(Make({"No", "Yes", "Broken"}).RunPostFilter(state_, *pod_, {}).nominated_node_name, "n1");
  EXPECT_EQ(Make({"No", "Never", "Yes"}).RunPostFilter(state_, *pod_, {}).status,
            Status::UnschedulableAndUnresolvable("never").WithPlugin("Never"));
  EXPECT_EQ(Make({"Broken", "Yes"}).RunPostFilter(state_, *pod_, {}).status,
            Status::Error("boom").WithPlugin("Broken"));
}

TEST_F(ProfileRunTest, UnreserveRunsInReverseWhoeverFailed) {
  Add<testing::Reserver>(registry_, "A", &log_);
  Add<testing::Reserver>(registry_, "B", &log_, StatusFn([] { return Status::Unschedulable("taken"); }));
  Add<testing::Reserver>(registry_, "C", &log_, StatusFn([] { return Status::Error("boom"); }));
  EXPECT_EQ(Make({"A", "B", "C"}).RunReserve(state_, *pod_, "n1"), Status::Unschedulable("taken").WithPlugin("B"));
  profile_->RunUnreserve(state_, *pod_, "n1");
  EXPECT_THAT(log_, ElementsAre("reserve A", "reserve B", "unreserve C", "unreserve B", "unreserve A"));
  EXPECT_EQ(Make({"A", "C"}).RunReserve(state_, *pod_, "n1"), Status::Error("running Reserve plugin \"C\": boom"));
}

TEST_F(ProfileRunTest, PermitWaitsForEveryPluginThatAsksUnlessOneRejects) {
  using framework::PermitResult;
  Add<testing::Permitter>(registry_, "Go", PermitResult{Status::Success(), {}});
  Add<testing::Permitter>(registry_, "Short", PermitResult{Status::Wait(), seconds(5)});
  Add<testing::Permitter>(registry_, "Endless", PermitResult{Status::Wait(), std::chrono::hours(9)});
  Add<testing::Permitter>(registry_, "No", PermitResult{Status::Unschedulable("no"), {}});
  Add<testing::Permitter>(registry_, "Broken", PermitResult{Status::Error("boom"), {}});

  EXPECT_TRUE(Make({"Go"}).RunPermit(state_, *pod_, "n1").status.ok());
  PermitOutcome outcome = Make({"Short", "Go", "Endless"}).RunPermit(state_, *pod_, "n1");
  EXPECT_TRUE(outcome.status.IsWait());
  EXPECT_EQ(outcome.status.Message(), "one or more plugins asked to wait and no plugin rejected pod");
  EXPECT_THAT(outcome.waits, ElementsAre(Pair("Endless", minutes(15)), Pair("Short", seconds(5))));
  outcome = Make({"Short", "No"}).RunPermit(state_, *pod_, "n1");
  EXPECT_EQ(outcome.status, Status::Unschedulable("no").WithPlugin("No"));
  EXPECT_TRUE(outcome.waits.empty());
  EXPECT_EQ(Make({"Broken"}).RunPermit(state_, *pod_, "n1").status,
            Status::Error("running Permit plugin \"Broken\": boom").WithPlugin("Broken"));
}

TEST_F(ProfileRunTest, PreBindRunsAfterAllPreFlights) {
  Add<testing::PreBinder>(registry_, "A", &log_, Status::Success());
  Add<testing::PreBinder>(registry_, "Idle", &log_, Status::Skip());
  Add<testing::PreBinder>(registry_, "B", &log_, Status::Success(), Status::Error("boom"));
  EXPECT_EQ(Make({"A", "Idle", "B"}).RunPreBind(state_, *pod_, "n1"),
            Status::Error("running PreBind plugin \"B\": boom"));
  EXPECT_THAT(log_, ElementsAre("pre-flight A", "pre-flight Idle", "pre-flight B", "pre-bind A", "pre-bind B"));
}

TEST_F(ProfileRunTest, APreFlightMayOnlySucceedSkipOrFail) {
  Add<testing::PreBinder>(registry_, "Broken", &log_, Status::Error("boom"));
  Add<testing::PreBinder>(registry_, "Odd", &log_, Status::Unschedulable("no"));
  EXPECT_EQ(Make({"Broken"}).RunPreBind(state_, *pod_, "n1"),
            Status::Error("running PreBindPreFlight \"Broken\": boom"));
  EXPECT_EQ(
      Make({"Odd"}).RunPreBind(state_, *pod_, "n1"),
      Status::Error("PreBindPreFlight Odd returned \"Unschedulable\", which is unsupported. It is supposed to return "
                    "Success, Skip, or Error status"));
}

TEST_F(ProfileRunTest, BindGoesToTheFirstPluginThatTakesThePod) {
  Add<testing::Binder>(registry_, "Other", StatusFn([] { return Status::Skip(); }));
  Add<testing::Binder>(registry_, "Broken", StatusFn([] { return Status::Error("boom"); }));
  config::Profile config = ProfileOf({});
  const auto bind_with = [&](const std::vector<std::string>& names) {
    config.plugins.at(config::ExtensionPoint::kBind).disabled = testing::PluginsNamed({"*"});
    config.plugins.at(config::ExtensionPoint::kBind).enabled = testing::PluginsNamed(names);
    profile_ = world_.MakeProfile(config, registry_);
    return profile_->RunBind(state_, *pod_, "n1");
  };
  EXPECT_TRUE(bind_with({"Other", "Bind", "Broken"}).ok());
  EXPECT_EQ(bind_with({"Broken", "Bind"}), Status::Error("running Bind plugin \"Broken\": boom"));
  EXPECT_FALSE(bind_with({"Other"}).ok());
}

TEST_F(ProfileRunTest, TheObserverHearsOfEveryPlugin) {
  Add<testing::Filterer>(registry_, "No",
                         testing::FilterFn([](const auto&, const auto&) { return Status::Unschedulable("no"); }));
  struct Listener final : PluginObserver {
    bool times_plugins(Step) const override { return timing; }
    void OnPlugin(Step step, std::string_view plugin, Code code, base::Duration, uint64_t) override {
      heard.push_back(fmt::format("{} {} {}", NameOf(step), plugin, framework::NameOf(code)));
    }
    void OnStep(Step step, Code code, base::Duration) override {
      heard.push_back(fmt::format("{} {}", NameOf(step), framework::NameOf(code)));
    }
    void OnError(Step step, std::string_view plugin) override {
      heard.push_back(fmt::format("{} {} failed", NameOf(step), plugin));
    }
    bool timing = true;
    std::vector<std::string> heard;
  } listener;
  Make({"No"}).set_observer(&listener);
  (void)profile_->RunFilter(state_, *pod_, node_);
  (void)profile_->RunPreFilter(state_, *pod_);
  listener.timing = false;
  (void)profile_->RunFilter(state_, *pod_, node_);
  EXPECT_THAT(listener.heard, ElementsAre("Filter No Unschedulable", "PreFilter Success"));
}

}  // namespace
}  // namespace berth::engine
