#include "client/lease_candidacy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/testing/fake_loop.h"
#include "client/lease_candidate_json.h"
#include "client/testing/fake_coordination_server.h"
#include "client/testing/fake_node_server.h"
#include "http/testing/fake_transport.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

// The wall clock of another host.
struct ShiftedClock final : base::Clock {
  explicit ShiftedClock(const base::Clock& clock) : real(clock) {}
  base::Time Now() const override { return real.Now() + shift; }
  const base::Clock& real;
  base::Duration shift{};
};

class LeaseCandidacyTest : public ::testing::Test {
 protected:
  void Start() {
    LeaseCandidacyOptions options{.identity = "host_1",
                                  .name_space = "kube-system",
                                  .lease_name = "kube-scheduler",
                                  .binary_version = "1.36.4",
                                  .emulation_version = "1.36.0"};
    options.on_problem = [this](const Error& error) { problems_.push_back(error.message); };
    candidacy_ = std::make_unique<LeaseCandidacy>(client_, loop_, clock_, std::move(options));
    candidacy_->Start();
    loop_.Run();
    loop_.Advance(1s);  // so that a ping is later than the last write
  }
  const api::LeaseCandidateSpec& spec() { return server_.candidates.at("host_1").spec; }
  bool IsAnswered() { return spec().renew_time >= spec().ping_time; }

  base::FakeClock server_clock_{base::Time(1'700'000'000s)};
  ShiftedClock clock_{server_clock_};
  base::testing::FakeLoop loop_{&server_clock_};
  testing::FakeCoordinationServer server_{server_clock_};
  std::function<void(const http::testing::FakeCallPtr&)> on_call_ = [this](const http::testing::FakeCallPtr& call) {
    server_.Handle(call);
  };
  http::testing::FakeTransport transport_{loop_, [this](const http::testing::FakeCallPtr& call) { on_call_(call); }};
  ApiClient client_{transport_, loop_, clock_, {.protobuf = true, .timeout = 5s}};
  std::vector<std::string> problems_;
  std::unique_ptr<LeaseCandidacy> candidacy_;
};

TEST_F(LeaseCandidacyTest, CreatesACandidateAndRenewsItEveryFiveMinutes) {
  Start();
  EXPECT_TRUE(candidacy_->synced());
  EXPECT_THAT(transport_.calls()[0]->request().path,
              HasSubstr("/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates?watch=true"));
  EXPECT_THAT(transport_.calls()[0]->request().path, HasSubstr("fieldSelector=metadata.name%3Dhost_1"));
  ASSERT_THAT(server_.candidate_writes,
              ElementsAre(R"(POST {"apiVersion":"coordination.k8s.io/v1beta1","kind":"LeaseCandidate",)"
                          R"("metadata":{"name":"host_1","namespace":"kube-system"},"spec":{"leaseName":)"
                          R"("kube-scheduler","renewTime":"2023-11-14T22:13:20.000000Z","binaryVersion":"1.36.4",)"
                          R"("emulationVersion":"1.36.0","strategy":"OldestEmulationVersion"}})"));
  loop_.Advance(5min - 2s);
  EXPECT_THAT(server_.candidate_writes, SizeIs(1));
  loop_.Advance(2s);
  ASSERT_THAT(server_.candidate_writes, SizeIs(2));
  EXPECT_EQ(spec().renew_time->time, base::Time(1'700'000'300s));
  loop_.Advance(60min);
  EXPECT_EQ(server_.candidate_writes.size(), 14u);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(LeaseCandidacyTest, AnswersAPingAtOnce) {
  Start();
  for (int i = 0; i < 3; ++i) {
    loop_.Advance(10s);
    server_.Ping("host_1");
    EXPECT_FALSE(IsAnswered());
    loop_.Run();  // no time passes
    EXPECT_TRUE(IsAnswered());
    EXPECT_EQ(spec().ping_time->time, server_clock_.Now()) << "what the server wrote must not be lost";
  }
  EXPECT_THAT(server_.candidate_writes, SizeIs(4));
}

// With a clock that is behind, the answer would be older than the ping: the server ignores it, and the candidate sees
// an unanswered ping again and again.
TEST_F(LeaseCandidacyTest, TheAnswerToAPingIsNeverOlderThanThePing) {
  clock_.shift = -1min;
  Start();
  server_.Ping("host_1");
  EXPECT_FALSE(IsAnswered());
  loop_.Advance(10s);
  EXPECT_TRUE(IsAnswered());
  EXPECT_THAT(server_.candidate_writes, SizeIs(2));
}

TEST_F(LeaseCandidacyTest, APingThatCameDuringARenewalIsAnsweredAtOnce) {
  for (const bool watch_is_late : {false, true}) {
    server_.candidates.clear();
    on_call_ = [&](const http::testing::FakeCallPtr& call) { server_.Handle(call); };
    Start();
    http::testing::FakeCallPtr renewal;
    on_call_ = [&](const http::testing::FakeCallPtr& call) {
      if (call->request().method == "PUT" && renewal == nullptr) {
        renewal = call;
      } else {
        server_.Handle(call);
      }
    };
    loop_.Advance(5min);
    ASSERT_NE(renewal, nullptr);
    server_.Ping("host_1");
    if (!watch_is_late) loop_.Run();
    server_.Handle(renewal);  // rejected: it was based on the version before the ping
    loop_.Run();
    EXPECT_TRUE(IsAnswered()) << watch_is_late;
  }
}

TEST_F(LeaseCandidacyTest, ACandidateThatWasDeletedIsCreatedAgain) {
  Start();
  loop_.Advance(1s);
  server_.Delete("host_1");
  loop_.Run();
  ASSERT_TRUE(server_.candidates.contains("host_1"));
  EXPECT_EQ(spec().lease_name, "kube-scheduler");
  EXPECT_EQ(spec().renew_time->time, server_clock_.Now());
}

TEST_F(LeaseCandidacyTest, PingsAreSeenAfterAWatchHasBrokenOrFallenSilent) {
  Start();
  server_.BreakWatches();
  server_.Ping("host_1");
  EXPECT_FALSE(IsAnswered());
  loop_.Advance(3s);
  EXPECT_TRUE(IsAnswered());
  server_.MuteWatches();
  server_.Ping("host_1");
  EXPECT_FALSE(IsAnswered());
  loop_.Advance(31s);
  EXPECT_TRUE(IsAnswered());
}

TEST_F(LeaseCandidacyTest, AnAnswerThatFailedIsTriedAgainWithinSeconds) {
  Start();
  on_call_ = [&](const http::testing::FakeCallPtr& call) {
    if (call->request().method != "PUT") return server_.Handle(call);
    call->Answer(500, testing::StatusJson(500, "InternalError", "etcd is away"));
  };
  server_.Ping("host_1");
  loop_.Advance(60s);
  EXPECT_FALSE(IsAnswered());
  EXPECT_THAT(problems_, ::testing::Contains(HasSubstr("etcd is away")));
  on_call_ = [&](const http::testing::FakeCallPtr& call) { server_.Handle(call); };
  loop_.Advance(6s);
  EXPECT_TRUE(IsAnswered());
}

TEST_F(LeaseCandidacyTest, SaysWhatTheServerNeedsWhereItDoesNotServeCandidates) {
  server_.serves_candidates = false;
  Start();
  loop_.Advance(30s);
  EXPECT_FALSE(candidacy_->synced());
  EXPECT_THAT(problems_, ::testing::Contains(
                             "the API server does not serve leasecandidates.v1beta1.coordination.k8s.io: coordinated "
                             "leader election needs --feature-gates=CoordinatedLeaderElection=true and "
                             "--runtime-config=coordination.k8s.io/v1beta1=true there; nobody leads until then"));
  server_.serves_candidates = true;
  loop_.Advance(70s);
  EXPECT_TRUE(candidacy_->synced());
  EXPECT_THAT(server_.candidate_writes, SizeIs(1));
}

TEST_F(LeaseCandidacyTest, AnswersNothingOnceItWasStopped) {
  Start();
  candidacy_->Stop();
  server_.Ping("host_1");
  loop_.Advance(10min);
  EXPECT_FALSE(IsAnswered());
  EXPECT_THAT(server_.candidate_writes, SizeIs(1));
}

TEST_F(LeaseCandidacyTest, SaysWhenItsClockIsNotTheServers) {
  for (const auto& [shift, problem] :
       std::vector<std::pair<base::Duration, std::string>>{{0s, ""},
                                                           {-1s, ""},
                                                           {2s, ""},
                                                           {-7s, "the clock is 7 s behind that of"},
                                                           {90s, "is 90 s ahead of that of"}}) {
    problems_.clear();
    server_.candidates.clear();
    clock_.shift = shift;
    Start();
    if (problem.empty()) {
      EXPECT_THAT(problems_, IsEmpty()) << shift.count();
    } else {
      EXPECT_THAT(problems_, ElementsAre(HasSubstr(problem)));
    }
  }
}

}  // namespace
}  // namespace berth::client
