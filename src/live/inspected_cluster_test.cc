// The console of a cluster that another scheduler runs: what the API shows of it, and berth's reasons.
#include "live/inspected_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "inspect/render.h"
#include "inspect/testing/json_schema.h"
#include "live/loopback_console.h"
#include "plugins/registry.h"
#include "serving/testing/https_client.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::live {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::PodBuilder;
using inspect::PodPlace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A driver that takes no steps, with a cluster that changes.
class InspectedClusterTest : public ::testing::Test, private scheduler::DriverObserver {
 protected:
  InspectedClusterTest() {
    auto made = scheduler::Driver::Create(config::DefaultConfiguration(gates_), plugins::InTreeRegistry(), gates_,
                                          clock_, api_, *this, {});
    CHECK(made.ok());
    driver_ = *std::move(made);
    for (const char* name : {"small", "large"}) {
      const bool is_large = std::string(name) == "large";
      Put(api::Object(MakeNode(name)
                          .Capacity("cpu", is_large ? "8" : "1")
                          .Capacity("memory", "8Gi")
                          .Capacity("pods", "110")
                          .Shared()));
    }
    cluster_ = std::make_unique<InspectedCluster>(Sources());
  }

  void Put(const api::Object& object, bool deleted = false) {
    history_.Note(*driver_, object, deleted, /*live=*/true, clock_.Now());
    deleted ? driver_->Remove(object) : driver_->Put(object);
    clock_.Advance(std::chrono::seconds(1));
  }
  void Put(const PodBuilder& pod) { Put(api::Object(pod.Shared())); }
  static api::Object TurnedDown(PodBuilder pod, const std::string& message,
                                const std::string& reason = "Unschedulable") {
    api::Pod changed = pod.Obj();
    changed.status.conditions.push_back({"PodScheduled", "False", reason, message});
    return api::MakeObject(std::move(changed));
  }
  InspectedCluster::Sources Sources() {
    return {.driver = *driver_,
            .history = history_,
            .clock = clock_,
            .post = [](const std::function<void()>& look) { look(); },
            .is_synced = [this] { return synced_; },
            .about = "a cluster"};
  }
  std::vector<std::string> Lane(PodPlace place) {
    std::vector<std::string> pods;
    for (const auto& lane : cluster_->Queue(10, "").lanes) {
      for (const auto& pod : lane.pods) {
        if (lane.place == place) pods.push_back(pod.pod);
      }
    }
    return pods;
  }

  config::FeatureGates gates_;
  base::FakeClock clock_{base::Time(std::chrono::hours(480'000))};
  berth::testing::FakeApi api_;
  std::unique_ptr<scheduler::Driver> driver_;
  ForeignHistory history_{1 << 20};
  bool synced_ = true;
  std::unique_ptr<InspectedCluster> cluster_;
};

TEST_F(InspectedClusterTest, LanesFollowFromWhatTheApiShows) {
  Put(MakePod("fresh"));
  Put(MakePod("of-another").SchedulerName("volcano").Priority(5));
  Put(TurnedDown(MakePod("big").Request("cpu", "64"), "0/2 nodes are available: 2 Insufficient cpu."));
  api::Pod gated = MakePod("gated").Obj();
  gated.spec.scheduling_gates.push_back({"hold"});
  Put(api::MakeObject(std::move(gated)));
  EXPECT_THAT(Lane(PodPlace::kActive), ElementsAre("default/of-another", "default/fresh"))
      << "pods of a scheduler that berth has no profile for are shown, too";
  EXPECT_THAT(Lane(PodPlace::kUnschedulable), ElementsAre("default/big"));
  EXPECT_THAT(Lane(PodPlace::kGated), ElementsAre("default/gated"));
  const inspect::EventsView events = cluster_->Events(0, 10);
  EXPECT_EQ(events.about, "a cluster");
  EXPECT_EQ(events.lanes[0].second, 2u);
  EXPECT_EQ(inspect::testing::SchemaProblem(inspect::ToJson(cluster_->Queue(10, ""))), "");
  Put(api::Object(MakePod("fresh").Shared()), /*deleted=*/true);
  EXPECT_THAT(Lane(PodPlace::kActive), ElementsAre("default/of-another"));
}

TEST_F(InspectedClusterTest, DecisionsAreThoseOfTheOtherSchedulerWithBerthsScores) {
  Put(MakePod("web").Request("cpu", "500m"));
  Put(MakePod("web").Request("cpu", "500m").Node("small"));
  const auto attempts = cluster_->journal()->OfPod("default", "web", 5);
  ASSERT_THAT(attempts, SizeIs(1));
  EXPECT_EQ(attempts[0].ending, scheduler::Ending::kBound);
  EXPECT_EQ(attempts[0].node, "small");
  EXPECT_EQ(attempts[0].feasible, 2u);
  EXPECT_TRUE(attempts[0].score.has_value());
  EXPECT_EQ(attempts[0].ties, 0u) << "the large node would have been better, so that this one is not among the best";
  Put(MakePod("web").Request("cpu", "500m").Node("small").Label("touched", "yes"));
  EXPECT_THAT(cluster_->journal()->OfPod("default", "web", 5), SizeIs(1)) << "it was bound once";
}

TEST_F(InspectedClusterTest, AReasonThatIsRepeatedIsToldOnceAndAnotherOneAgain) {
  const auto pod = [] { return MakePod("big").Request("cpu", "64"); };
  Put(pod());
  Put(TurnedDown(pod(), "first"));
  Put(TurnedDown(pod().Label("touched", "yes"), "first"));
  Put(TurnedDown(pod(), "second"));
  Put(TurnedDown(pod(), "broken", "SchedulerError"));
  const auto attempts = cluster_->journal()->OfPod("default", "big", 9);
  ASSERT_THAT(attempts, SizeIs(3));
  EXPECT_EQ(attempts[2].message, "first");
  EXPECT_EQ(attempts[1].message, "second");
  EXPECT_EQ(attempts[1].number, 2u);
  EXPECT_EQ(attempts[0].ending, scheduler::Ending::kError);
}

TEST_F(InspectedClusterTest, APodIsExplainedByBerthInTheWordsOfItsScheduler) {
  Put(TurnedDown(MakePod("big").SchedulerName("volcano").Request("cpu", "64"), "no room, says volcano"));
  const auto view = cluster_->Pod({.name_space = "default", .name = "big"});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->place, PodPlace::kUnschedulable);
  EXPECT_EQ(view->scheduler_name, "volcano");
  EXPECT_EQ(view->profile, "default-scheduler");
  EXPECT_EQ(view->now->message, "no room, says volcano");
  const std::string json = inspect::ToJson(*view);
  EXPECT_EQ(inspect::testing::SchemaProblem(json), "");
  EXPECT_THAT(json, HasSubstr("Insufficient cpu"));
  ASSERT_THAT(view->wake_ups, SizeIs(1));
  EXPECT_EQ(view->wake_ups[0].plugin, "NodeResourcesFit");
  EXPECT_THAT(view->wake_ups[0].events, Not(IsEmpty()));
  EXPECT_FALSE(cluster_->Pod({.name_space = "default", .name = "nobody"}).has_value());
}

// Over a socket, as a browser does.
class LoopbackConsoleTest : public InspectedClusterTest {
 protected:
  LoopbackConsoleTest() {
    auto started = LoopbackConsole::Start(std::make_unique<InspectedCluster>(Sources()), {});
    CHECK_WHY(started.ok(), started.ok() ? "" : started.error().message.c_str());
    console_ = *std::move(started);
    host_ = "127.0.0.1:" + std::to_string(console_->port());
  }
  std::string Get(const std::string& path, const std::string& host, const std::string& more = "") {
    serving::RawClient client(console_->port(), /*with_tls=*/false);
    client.Send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + more + "\r\n");
    return client.ReadAll();
  }
  std::string Own(const std::string& page) const { return "/" + console_->token() + "/" + page; }

  std::string host_;
  std::unique_ptr<LoopbackConsole> console_;
};

TEST_F(LoopbackConsoleTest, ServesThePageAndItsDataBehindTheToken) {
  EXPECT_EQ(console_->url(), "http://" + host_ + "/" + console_->token() + "/console");
  EXPECT_THAT(console_->token(), SizeIs(32));
  const std::string page = Get(Own("console"), host_);
  EXPECT_THAT(page, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(page, HasSubstr("berth console"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(Get(Own("nodes"), host_), HasSubstr("\"node\":\"large\""));
  EXPECT_THAT(Get(Own("nodes"), "localhost:" + std::to_string(console_->port())), HasSubstr("200 OK"));
  for (const std::string& path : {std::string("/"), std::string("/console"), std::string("/debug/berth/console"),
                                  std::string("/") + std::string(32, 'a') + "/console", Own("console").substr(0, 33),
                                  "//" + console_->token() + "/console"}) {
    const std::string refused = Get(path, host_);
    EXPECT_THAT(refused, HasSubstr("HTTP/1.1 403")) << path;
    EXPECT_THAT(refused, HasSubstr("open the address that berth has printed")) << path;
  }
}

TEST_F(LoopbackConsoleTest, AnotherHostOrOriginIsRefusedWhoeverKnowsTheToken) {
  EXPECT_THAT(Get(Own("nodes"), "rebound.example:" + std::to_string(console_->port())), HasSubstr("HTTP/1.1 403"));
  EXPECT_THAT(Get(Own("nodes"), "127.0.0.1"), HasSubstr("HTTP/1.1 403")) << "without the port";
  EXPECT_THAT(Get(Own("nodes"), host_, "Origin: https://evil.example\r\n"), HasSubstr("HTTP/1.1 403"));
  EXPECT_THAT(Get(Own("nodes"), host_, "Origin: https://" + host_ + "\r\n"), HasSubstr("HTTP/1.1 403"));
  EXPECT_THAT(Get(Own("nodes"), host_, "Sec-Fetch-Site: cross-site\r\n"), HasSubstr("HTTP/1.1 403"));
  EXPECT_THAT(Get(Own("nodes"), host_, "Origin: http://" + host_ + "\r\nSec-Fetch-Site: same-origin\r\n"),
              HasSubstr("HTTP/1.1 200"));
}

TEST_F(LoopbackConsoleTest, ItOnlyReads) {
  serving::RawClient client(console_->port(), /*with_tls=*/false);
  client.Send("POST " + Own("nodes") + " HTTP/1.1\r\nHost: " + host_ +
              "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadAll(), HasSubstr("HTTP/1.1 405"));
}

TEST_F(LoopbackConsoleTest, BeforeTheClusterIsReadThePageIsThereAndSaysSo) {
  synced_ = false;
  EXPECT_THAT(Get(Own("console"), host_), HasSubstr("HTTP/1.1 200"));
  const std::string early = Get(Own("nodes"), host_);
  EXPECT_THAT(early, HasSubstr("HTTP/1.1 503"));
  EXPECT_THAT(early, HasSubstr("the cluster is still being read"));
}

TEST_F(LoopbackConsoleTest, APortThatIsTakenIsASentence) {
  LoopbackConsole::Options options;
  options.port = console_->port();
  const auto second = LoopbackConsole::Start(std::make_unique<InspectedCluster>(Sources()), std::move(options));
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("Address already in use"));
}

TEST_F(LoopbackConsoleTest, EventsAreAStreamThatEndsWithTheConsole) {
  serving::RawClient client(console_->port(), /*with_tls=*/false);
  client.Send("GET " + Own("events") + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n");
  std::string read;
  while (read.find("\"about\":\"a cluster\"") == std::string::npos) {
    const std::string more = client.ReadSome();
    ASSERT_NE(more, "") << read;
    read += more;
  }
  console_->Stop();
  EXPECT_THAT(client.ReadAll(), ::testing::EndsWith("0\r\n\r\n"));
}

}  // namespace
}  // namespace berth::live
