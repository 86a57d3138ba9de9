// How a profile is put together. Running it is in profile_run_test.cc.
#include "engine/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "testing/builders.h"

namespace berth::engine {
namespace {

using config::ExtensionPoint;
using testing::Add;
using ::testing::ElementsAre;
using testing::Filterer;
using testing::MinimalRegistry;
using testing::PluginsNamed;
using testing::ProfileOf;
using testing::Scorer;

class ProfileTest : public ::testing::Test {
 protected:
  ProfileTest() {
    for (const char* name : {"A", "B", "C", "D"}) {
      Add<Filterer>(registry_, name, testing::FilterFn([](const auto&, const auto&) { return Status::Success(); }));
    }
    for (const char* name : {"S", "T"}) Add<Scorer>(registry_, name, testing::ScoreFn([](const auto&) { return 1; }));
  }
  using Status = framework::Status;

  std::string ErrorOf(const config::Profile& config) {
    const auto profile = Profile::Create(config, registry_, world_.environment());
    return profile.ok() ? "none" : profile.error().message;
  }
  std::vector<std::string_view> Filters(const config::Profile& config) {
    profile_ = world_.MakeProfile(config, registry_);
    return profile_->PluginsAt(ExtensionPoint::kFilter);
  }

  testing::World world_;
  framework::Registry registry_ = MinimalRegistry();
  std::unique_ptr<Profile> profile_;
};

TEST_F(ProfileTest, MultiPointEnablesAPluginWhereverItServes) {
  config::Profile config = ProfileOf({"B", "S", "A"});
  EXPECT_THAT(Filters(config), ElementsAre("B", "A"));
  EXPECT_THAT(profile_->PluginsAt(ExtensionPoint::kScore), ElementsAre("S"));
  EXPECT_THAT(profile_->PluginsAt(ExtensionPoint::kBind), ElementsAre("Bind"));
  EXPECT_THAT(profile_->PluginsAt(ExtensionPoint::kReserve), ElementsAre());
  EXPECT_EQ(profile_->queue_sort_name(), "Sort");
}

TEST_F(ProfileTest, PluginsNamedTwiceComeFirstThenMultiPointThenTheRest) {
  config::Profile config = ProfileOf({"A", "B", "C"});
  config.plugins.at(ExtensionPoint::kFilter).enabled = PluginsNamed({"D", "C", "A"});
  EXPECT_THAT(Filters(config), ElementsAre("C", "A", "B", "D"));
}

TEST_F(ProfileTest, APointCanDisableWhatMultiPointEnables) {
  config::Profile config = ProfileOf({"A", "B"});
  config.plugins.at(ExtensionPoint::kFilter).disabled = PluginsNamed({"A"});
  EXPECT_THAT(Filters(config), ElementsAre("B"));
}

TEST_F(ProfileTest, AStarDisablesAllOfMultiPointButNothingOfThePoint) {
  config::Profile config = ProfileOf({"A", "B"});
  config.plugins.at(ExtensionPoint::kFilter).disabled = PluginsNamed({"*"});
  config.plugins.at(ExtensionPoint::kFilter).enabled = PluginsNamed({"D", "B"});
  EXPECT_THAT(Filters(config), ElementsAre("D", "B"));
}

TEST_F(ProfileTest, SaysWhatIsWrongAsUpstreamDoes) {
  struct Case {
    const char* error;
    std::function<void(config::Profile&)> change;
  };
  const std::vector<Case> cases = {
      {"FilterPlugin \"X\" does not exist",
       [](config::Profile& p) { p.plugins.at(ExtensionPoint::kFilter).enabled = PluginsNamed({"X"}); }},
      {"PreFilterPlugin \"X\" does not exist",
       [](config::Profile& p) {
         p.plugins.multi_point.enabled.push_back({"X", 0});
       }},
      {"plugin \"S\" does not extend FilterPlugin plugin",
       [](config::Profile& p) { p.plugins.at(ExtensionPoint::kFilter).enabled = PluginsNamed({"S"}); }},
      {"plugin \"A\" already registered as \"FilterPlugin\"",
       [](config::Profile& p) {
         p.plugins.at(ExtensionPoint::kFilter).enabled = PluginsNamed({"A", "A"});
       }},
      {"plugin \"A\" already registered as \"FilterPlugin\"",
       [](config::Profile& p) {
         p.plugins.multi_point.enabled.push_back({"A", 0});
         p.plugins.multi_point.enabled.push_back({"A", 0});
       }},
      {"only one queue sort plugin required for profile with scheduler name \"default-scheduler\", but got 0",
       [](config::Profile& p) { p.plugins.at(ExtensionPoint::kQueueSort).disabled = PluginsNamed({"*"}); }},
      {"at least one bind plugin is needed for profile with scheduler name \"default-scheduler\"",
       [](config::Profile& p) { p.plugins.at(ExtensionPoint::kBind).disabled = PluginsNamed({"Bind"}); }},
      {"repeated config for plugin A",
       [](config::Profile& p) {
         p.plugin_config.push_back({"A", {}});
         p.plugin_config.push_back({"A", {}});
       }},
  };
  for (const Case& c : cases) {
    config::Profile config = ProfileOf({});
    c.change(config);
    EXPECT_EQ(ErrorOf(config), c.error);
  }
}

TEST_F(ProfileTest, AFailingFactoryIsNamed) {
  CHECK(registry_
            .Register(
                "Broken",
                [](const config::PluginArgs&, framework::Handle&) -> Result<std::unique_ptr<framework::Plugin>> {
                  return Error::InvalidArgument("no such mode");
                },
                "a test")
            .ok());
  EXPECT_EQ(ErrorOf(ProfileOf({"Broken"})), "initializing plugin \"Broken\": no such mode");
}

TEST_F(ProfileTest, HoldsUpTo64Plugins) {
  std::vector<std::string> names;
  for (int i = 0; i < 63; ++i) {
    names.push_back("P" + std::to_string(i));
    Add<Filterer>(registry_, names.back(),
                  testing::FilterFn([](const auto&, const auto&) { return Status::Success(); }));
  }
  EXPECT_EQ(ErrorOf(ProfileOf(names)), "a profile may have at most 64 plugins, \"default-scheduler\" has 65");
  names.pop_back();
  EXPECT_EQ(ErrorOf(ProfileOf(names)), "none");
}

TEST_F(ProfileTest, TheScorePointsWeightWinsAndNoWeightIsOne) {
  config::Profile config = ProfileOf({});
  config.plugins.multi_point.enabled.push_back({"S", 7});
  config.plugins.multi_point.enabled.push_back({"T", 0});
  config.plugins.at(ExtensionPoint::kScore).enabled = {{"S", 3}};
  profile_ = world_.MakeProfile(config, registry_);
  ASSERT_EQ(profile_->scores().size(), 2u);
  EXPECT_EQ(profile_->scores()[0].name, "S");
  EXPECT_EQ(profile_->scores()[0].weight, 3);
  EXPECT_EQ(profile_->scores()[1].weight, 1);
}

TEST_F(ProfileTest, APluginThatNamesNoEventsIsWokenByAll) {
  profile_ = world_.MakeProfile(ProfileOf({"A"}), registry_);
  const auto events = profile_->EventsToRegister();
  ASSERT_EQ(events.at("A").size(), 1u);
  EXPECT_TRUE(events.at("A").front().event.Covers({framework::EventResource::kNode, framework::ActionType::kAdd}));
}

TEST_F(ProfileTest, PodsAreSignedOnlyWhenEveryPluginSigns) {
  const auto pod = berth::testing::MakePod("p").Label("shape", "round").Info();
  const auto other = berth::testing::MakePod("q").Label("shape", "square").Info();
  profile_ = world_.MakeProfile(ProfileOf({"A", "S"}), registry_);
  EXPECT_TRUE(profile_->Sign(*pod).has_value());
  EXPECT_NE(profile_->Sign(*pod), profile_->Sign(*other));
  Add<testing::PreFilterer>(registry_, "Mute",
                            std::function<framework::PreFilterResult()>([] { return framework::PreFilterResult(); }));
  profile_ = world_.MakeProfile(ProfileOf({"A", "Mute"}), registry_);
  EXPECT_EQ(profile_->Sign(*pod), std::nullopt);
}

}  // namespace
}  // namespace berth::engine
