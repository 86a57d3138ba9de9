#include "live/config_reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ConfigReloadTest : public testing::LoopFixture {
 protected:
  // Loads `yaml` as the file's new text, and waits for the result.
  void Reload(const std::string& yaml) {
    yaml_ = yaml;
    reload_.Reload();
    Settle();
  }
  void StartScheduling() {
    loop_->StartScheduling();
    TellNode("n1", "4");
  }

  static constexpr const char* kHead = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
  static constexpr const char* kWithoutFit =
      "profiles:\n- plugins:\n    multiPoint:\n      disabled: [{name: NodeResourcesFit}]\n";

  std::string yaml_;
  std::vector<std::string> events_announced_;
  metrics::Registry reload_metrics_;
  ConfigReload reload_{config::DefaultConfiguration(gates_),
                       *loop_,
                       reload_metrics_,
                       clock_,
                       {.load = [this]() -> Result<LoadedConfiguration> {
                          auto loaded = config::LoadText(yaml_, gates_, config::LoadOptions{});
                          if (!loaded) return loaded.error();
                          return LoadedConfiguration{*loaded, plugins::InTreeRegistry()};
                        },
                        .announce = [this](const std::string& type, const std::string& reason,
                                           const std::string&) { events_announced_.push_back(type + " " + reason); }}};
};

TEST_F(ConfigReloadTest, ASleepingPodIsAskedAgainByTheNewProfile) {
  StartScheduling();
  Tell(MakePod("big").SchedulerName("default-scheduler").Request("cpu", "100"));
  EXPECT_THAT(server_.Await({"PATCH", "pods/big/status"}), HasSubstr("Insufficient cpu"));
  Reload(std::string(kHead) + kWithoutFit);
  EXPECT_NE(server_.Await({"POST", "pods/big/binding"}), "") << "nothing rejects it any more";
  EXPECT_EQ(reload_.problem(), "");
  EXPECT_THAT(events_announced_, ElementsAre("Normal ConfigurationReloaded"));
  EXPECT_THAT(reload_metrics_.Expose(), AllOf(HasSubstr("berth_config_reloads_total{result=\"success\"} 1\n"),
                                              HasSubstr("berth_config_last_reload_successful 1\n")));
  EXPECT_THAT(reload_.RunningJson(), HasSubstr("NodeResourcesFit"));
}

TEST_F(ConfigReloadTest, ABadFileChangesNothingAndShows) {
  StartScheduling();
  Reload(std::string(kHead) + "profiles:\n- plugins:\n    multiPoint:\n      enabled: [{name: NoSuchPlugin}]\n");
  EXPECT_THAT(reload_.problem(), HasSubstr("NoSuchPlugin"));
  Reload("profiles: [");
  EXPECT_THAT(reload_.problem(), Not(HasSubstr("NoSuchPlugin")));
  EXPECT_NE(reload_.problem(), "");
  EXPECT_THAT(events_announced_, ElementsAre("Warning ConfigurationRefused", "Warning ConfigurationRefused"));
  EXPECT_THAT(reload_metrics_.Expose(), AllOf(HasSubstr("berth_config_reloads_total{result=\"error\"} 2\n"),
                                              HasSubstr("berth_config_last_reload_successful 0\n")));
  Tell(MakePod("web").SchedulerName("default-scheduler"));
  EXPECT_NE(server_.Await({"POST", "pods/web/binding"}), "") << "it schedules as before";
  Reload(kHead);
  EXPECT_EQ(reload_.problem(), "") << "a good file clears it";
}

TEST_F(ConfigReloadTest, WhatCountsOnlyAtStartIsRefusedByName) {
  StartScheduling();
  const std::pair<std::string, std::string> refused[] = {
      {"leaderElection:\n  leaderElect: false\n", "leaderElection: cannot be changed while running"},
      {"clientConnection:\n  qps: 7\n", "clientConnection: cannot be changed while running"},
      {"parallelism: 3\n", "parallelism: cannot be changed while running"},
      {"extenders:\n- urlPrefix: http://127.0.0.1:1\n  filterVerb: f\n", "extenders: cannot be changed while running"},
      {"profiles:\n- schedulerName: other\n", "expected [default-scheduler], found [other]"},
  };
  for (const auto& [yaml, message] : refused) {
    Reload(kHead + yaml);
    EXPECT_THAT(reload_.problem(), HasSubstr(message)) << yaml;
  }
}

TEST_F(ConfigReloadTest, APodThatIsBeingBoundEndsUnderTheOldProfile) {
  const std::string binding = "POST /api/v1/namespaces/default/pods/web/binding";
  server_.Hold(binding);
  StartScheduling();
  Tell(MakePod("web").SchedulerName("default-scheduler"));
  EXPECT_NE(server_.Await({binding}), "");
  Reload(std::string(kHead) + kWithoutFit);
  EXPECT_EQ(reload_.problem(), "");
  server_.Release(binding);
  EXPECT_NE(server_.Await({"Successfully assigned default/web to n1"}), "");
  Tell(MakePod("next").SchedulerName("default-scheduler").Request("cpu", "100"));
  EXPECT_NE(server_.Await({"Successfully assigned default/next to n1"}), "");
}

}  // namespace
}  // namespace berth::live
