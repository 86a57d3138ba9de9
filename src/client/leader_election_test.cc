#include "client/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "base/testing/fake_loop.h"
#include "client/testing/fake_node_server.h"
#include "codec/json.h"
#include "http/testing/fake_transport.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr char kPath[] = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

// One lease, guarded by its version as in the API.
class LeaseServer {
 public:
  void Handle(const http::testing::FakeCallPtr& call) {
    const http::Request& request = call->request();
    if (request.method == "GET" && !lease) return call->Answer(404, testing::StatusJson(404, "NotFound", "no lease"));
    if (request.method == "GET") return Answer(call, 200);
    Result<codec::Document> document = codec::ParseJson(request.body, "lease");
    Result<api::DecodedObjects> decoded = api::DecodeObjects(*document, {});
    api::Lease sent = *decoded->objects.at(0).object.As<api::Lease>();
    if (request.method == "POST" && lease) {
      return call->Answer(409, testing::StatusJson(409, "AlreadyExists", "exists"));
    }
    if (request.method == "PUT" && sent.metadata.resource_version != lease->metadata.resource_version) {
      return call->Answer(409, testing::StatusJson(409, "Conflict", "the object has been modified"));
    }
    sent.metadata.resource_version = std::to_string(++version);
    lease = std::move(sent);
    bodies.push_back(request.body);
    Answer(call, request.method == "POST" ? 201 : 200);
  }

  std::optional<api::Lease> lease;
  int version = 0;
  std::vector<std::string> bodies;

 private:
  void Answer(const http::testing::FakeCallPtr& call, int status) {
    call->Answer(status, api::EncodeJson(api::MakeObject(*lease)));
  }
};

// One scheduler with its own connection to the server.
struct Candidate {
  Candidate(base::testing::FakeLoop& loop, base::FakeClock& clock, LeaseServer& lease_server, std::string identity,
            uint64_t seed = 1)
      : server(lease_server),
        transport(loop, [this](const http::testing::FakeCallPtr& call) { on_call(call); }),
        client(transport, loop, clock, {.protobuf = false, .timeout = LeaseRequestTimeout(10s)}),
        elector(client, loop, clock, Options(std::move(identity), seed)) {
    elector.Start();
  }

  LeaderElectionOptions Options(std::string identity, uint64_t seed) {
    LeaderElectionOptions options{.identity = std::move(identity), .name_space = "kube-system", .name = "scheduler"};
    options.seed = seed;
    options.has_writes = [this] { return has_writes; };
    options.started_leading = [this] { log.push_back("started"); };
    options.stopped_leading = [this] { log.push_back("stopped"); };
    options.new_leader = [this](const std::string& leader) { log.push_back("leader " + leader); };
    options.record_event = [this](const api::Lease& lease, const std::string& message) {
      log.push_back(lease.metadata.name + ": " + message);
    };
    return options;
  }

  LeaseServer& server;
  std::function<void(const http::testing::FakeCallPtr&)> on_call = [this](const http::testing::FakeCallPtr& call) {
    server.Handle(call);
  };
  http::testing::FakeTransport transport;
  ApiClient client;
  std::vector<std::string> log;
  bool has_writes = false;
  LeaderElector elector;
};

class LeaderElectionTest : public ::testing::Test {
 protected:
  base::FakeClock clock_{base::Time(1'700'000'000s)};
  base::testing::FakeLoop loop_{&clock_};
  LeaseServer server_;
};

TEST_F(LeaderElectionTest, TakesAFreeLeaseAndRenewsIt) {
  Candidate a(loop_, clock_, server_, "a");
  loop_.Run();
  EXPECT_TRUE(a.elector.is_leader());
  EXPECT_THAT(a.log, ElementsAre("leader a", "scheduler: a became leader", "started"));
  EXPECT_EQ(a.transport.calls()[0]->request().path, std::string(kPath) + "/scheduler");
  EXPECT_EQ(a.transport.calls()[1]->request().path, kPath);
  EXPECT_EQ(server_.bodies[0],
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"scheduler",)"
            R"("namespace":"kube-system"},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,)"
            R"("acquireTime":"2023-11-14T22:13:20.000000Z","renewTime":"2023-11-14T22:13:20.000000Z",)"
            R"("leaseTransitions":0}})");
  loop_.Advance(60s);
  EXPECT_TRUE(a.elector.is_leader());
  EXPECT_EQ(a.elector.deadline(), 72s) << "a retry period and the renew deadline from the last renewal";
  EXPECT_EQ(server_.bodies.size(), 32u) << "every two seconds, and twice at once";
  EXPECT_EQ(server_.lease->spec.acquire_time->time, base::Time(1'700'000'000s));
  EXPECT_EQ(server_.lease->spec.renew_time->time, base::Time(1'700'000'060s));
  EXPECT_TRUE(a.elector.Check(20s).ok());
}

TEST_F(LeaderElectionTest, WaitsUntilTheLeaseOfAnotherHasNotChangedForItsDuration) {
  Candidate a(loop_, clock_, server_, "a");
  loop_.Run();
  Candidate b(loop_, clock_, server_, "b");
  loop_.Advance(30s);
  EXPECT_THAT(b.log, ElementsAre("leader a"));
  a.on_call = [](const http::testing::FakeCallPtr&) {};  // cut off
  const base::Duration cut = loop_.Now();
  while (!b.elector.is_leader() && loop_.Now() < cut + 60s) {
    loop_.Advance(100ms);
    EXPECT_FALSE(a.elector.is_leader() && b.elector.is_leader());
  }
  EXPECT_GE(loop_.Now() - cut, 13s);
  EXPECT_LE(loop_.Now() - cut, 20s);
  EXPECT_EQ(a.log.back(), "stopped");
  EXPECT_EQ(server_.lease->spec.lease_transitions, 1);
  // Once lost, it stays lost.
  a.on_call = [&](const http::testing::FakeCallPtr& call) { server_.Handle(call); };
  loop_.Advance(60s);
  EXPECT_FALSE(a.elector.is_leader());
  EXPECT_TRUE(b.elector.is_leader());
}

TEST_F(LeaderElectionTest, FencesWritesWhenTheRenewDeadlinePasses) {
  Candidate a(loop_, clock_, server_, "a");
  loop_.Run();
  std::vector<std::string> written;
  http::testing::FakeTransport transport(loop_, [&](const http::testing::FakeCallPtr& call) {
    written.push_back(call->request().path);
    call->Answer(201, "{}");
  });
  ApiClient writer(transport, loop_, clock_, {.window = a.elector.window()});
  api::Pod pod;
  pod.metadata.name = "p";
  pod.metadata.namespace_ = Symbol("default");
  std::vector<bool> results;
  const auto bind = [&] { writer.Bind(pod, "n", [&](const Result<void>& result) { results.push_back(result.ok()); }); };
  a.on_call = [](const http::testing::FakeCallPtr&) {};
  loop_.Advance(10s - 1ns);
  bind();
  loop_.Run();
  loop_.Advance(4s);
  EXPECT_THAT(a.log, ::testing::Contains("stopped"));
  EXPECT_EQ(a.elector.deadline(), 0s);
  bind();
  loop_.Run();
  EXPECT_THAT(results, ElementsAre(true, false));
  EXPECT_EQ(written.size(), 1u);
  EXPECT_LE(transport.calls()[0]->request().timeout, 12s) << "a write must not outlive the lease";
}

TEST_F(LeaderElectionTest, WritersAskedAnElectorThatWasGone) {
  auto a = std::make_unique<Candidate>(loop_, clock_, server_, "a");
  loop_.Run();
  const std::shared_ptr<const WriteWindow> window = a->elector.window();
  EXPECT_GT(window->TimeLeft(loop_.Now()), 0s);
  a.reset();
  EXPECT_LE(window->TimeLeft(loop_.Now()), 0s) << "closed, and still there to be asked";
}

TEST_F(LeaderElectionTest, AWallClockThatIsSetBackChangesNothing) {
  Candidate a(loop_, clock_, server_, "a"), b(loop_, clock_, server_, "b");
  loop_.Advance(5s);
  for (const base::Duration step : std::vector<base::Duration>{-1h, 3h, -24h}) {
    clock_.Advance(step);
    loop_.Advance(20s);
    EXPECT_TRUE(a.elector.is_leader());
    EXPECT_FALSE(b.elector.is_leader());
  }
}

TEST_F(LeaderElectionTest, AnAnswerThatTookLongDoesNotStretchTheDeadline) {
  Candidate a(loop_, clock_, server_, "a");
  a.on_call = [&](const http::testing::FakeCallPtr& call) {
    loop_.RunAfter(4900ms, [&, call] { server_.Handle(call); });
  };
  loop_.Advance(4900ms * 2 + 1ms);
  ASSERT_TRUE(a.elector.is_leader());
  // The lease was written by a request sent at 4.9 s: 4.9 + 15 - 2.
  EXPECT_EQ(a.elector.deadline(), 17900ms);
}

TEST_F(LeaderElectionTest, ReleasesOnStop) {
  auto a = std::make_unique<Candidate>(loop_, clock_, server_, "a");
  loop_.Run();
  Candidate b(loop_, clock_, server_, "b");
  loop_.Advance(5s);
  bool done = false;
  a->elector.Stop([&] { done = true; });
  loop_.Run();
  EXPECT_TRUE(done);
  EXPECT_FALSE(a->elector.is_leader());
  EXPECT_EQ(server_.lease->spec.holder_identity, "");
  EXPECT_EQ(server_.lease->spec.lease_duration_seconds, 1);
  EXPECT_THAT(server_.bodies.back(), ::testing::HasSubstr(R"("holderIdentity":"","leaseDurationSeconds":1)"));
  EXPECT_EQ(a->log.back(), "stopped");
  loop_.Advance(4400ms);
  EXPECT_TRUE(b.elector.is_leader()) << "without waiting for the lease to run out";
  EXPECT_EQ(server_.lease->spec.lease_transitions, 1);
}

// Regression: a status patch that was in flight when the lease was released took effect beside the next leader's
// writes.
TEST_F(LeaderElectionTest, TheLeaseIsNotGivenBackBeforeWhatWasSentHasEnded) {
  for (const bool ends : {true, false}) {
    Candidate a(loop_, clock_, server_, ends ? "a" : "b");
    loop_.Advance(20s);
    ASSERT_TRUE(a.elector.is_leader());
    const base::Duration deadline = a.elector.deadline();
    a.has_writes = true;
    bool done = false;
    a.elector.Stop([&] { done = true; });
    loop_.Advance(3s);
    EXPECT_FALSE(done);
    EXPECT_FALSE(a.elector.is_leader()) << "nothing new is sent";
    EXPECT_NE(server_.lease->spec.holder_identity, "");
    a.has_writes = !ends;
    loop_.Advance(ends ? 100ms : deadline - loop_.Now() + 100ms);
    EXPECT_TRUE(done);
    // A write that has not ended by then may still take effect: the lease is left to expire.
    EXPECT_EQ(server_.lease->spec.holder_identity, ends ? "" : "b");
  }
}

TEST_F(LeaderElectionTest, LosesAtOnceWhenAnotherHasTheLease) {
  Candidate a(loop_, clock_, server_, "a");
  loop_.Run();
  server_.lease->spec.holder_identity = "thief";
  server_.lease->metadata.resource_version = std::to_string(++server_.version);
  loop_.Advance(2s);
  EXPECT_FALSE(a.elector.is_leader());
  EXPECT_EQ(a.log.back(), "stopped");
  EXPECT_EQ(a.elector.leader(), "thief");
}

TEST_F(LeaderElectionTest, OptionsAreChecked) {
  LeaderElectionOptions good{.identity = "a", .name_space = "n", .name = "l"};
  EXPECT_TRUE(Validate(good).ok());
  for (const auto& [change, message] : std::vector<std::pair<std::function<void(LeaderElectionOptions&)>, std::string>>{
           {[](auto& o) { o.lease_duration = 10s; }, "leaseDuration must be greater than renewDeadline"},
           {[](auto& o) { o.retry_period = 9s; }, "renewDeadline must be greater than retryPeriod*JitterFactor"},
           {[](auto& o) { o.retry_period = 0s; }, "retryPeriod must be greater than zero"},
           {[](auto& o) { o.identity = ""; }, "Lock identity is empty"},
       }) {
    LeaderElectionOptions bad = good;
    change(bad);
    ASSERT_FALSE(Validate(bad).ok()) << message;
    EXPECT_EQ(Validate(bad).error().message, message);
  }
  base::Random random(1);
  EXPECT_THAT(MakeIdentity("host", random), ::testing::MatchesRegex("host_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]"
                                                                    "[0-9a-f]{3}-[0-9a-f]{12}"));
}

// Whatever the connections do, no two candidates ever believe at the same time that they may write.
TEST_F(LeaderElectionTest, NeverTwoLeaders) {
  int changes = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    base::FakeClock clock(base::Time(1'700'000'000s));
    base::testing::FakeLoop loop(&clock);
    LeaseServer server;
    std::vector<std::unique_ptr<Candidate>> candidates;
    std::vector<std::unique_ptr<Candidate>> gone;  // with calls still in flight
    int born = 0;
    const auto harm = [&](Candidate& candidate) {
      candidate.on_call = [&](const http::testing::FakeCallPtr& call) {
        const auto there = std::chrono::milliseconds(random.Below(random.Below(4) == 0 ? 7000 : 200));
        if (random.Below(6) == 0) return;  // the request is lost
        loop.RunAfter(there, [&, call] {
          // The answer may be lost although the server has processed the request.
          if (random.Below(8) == 0) call->End(Error::Unavailable("reset"));
          server.Handle(call);
        });
      };
    };
    for (int step = 0; step < 600; ++step) {
      // Losers are replaced, as their pods would be.
      for (auto& candidate : candidates) {
        if (candidate->log.empty() || candidate->log.back() != "stopped") continue;
        gone.push_back(std::move(candidate));
        ++changes;
      }
      std::erase(candidates, nullptr);
      while (candidates.size() < 3) {
        const std::string name = std::to_string(born++);
        candidates.push_back(std::make_unique<Candidate>(loop, clock, server, name, seed * 100 + born));
        harm(*candidates.back());
      }
      if (random.Below(100) == 0) candidates[random.Below(3)]->elector.Stop([] {});
      if (random.Below(60) == 0) candidates[random.Below(3)]->on_call = [](const http::testing::FakeCallPtr&) {};
      loop.Advance(std::chrono::milliseconds(random.Below(1000)));
      std::vector<std::string> leaders;
      for (const auto& candidate : candidates) {
        if (candidate->elector.is_leader()) leaders.push_back(candidate->elector.leader());
      }
      ASSERT_LE(leaders.size(), 1u) << ::testing::PrintToString(leaders);
    }
  }
  EXPECT_GT(changes, 100) << "there must have been something to see";
}

// A maintenance page, say.
void AnswerComeBackLater(const FakeCallPtr& call, const char* seconds) {
  call->Answer(503, "<html>We will be back soon</html>", {{"content-type", "text/html"}, {"retry-after", seconds}});
}

TEST_F(LeaderElectionTest, AStandbyWasBlindForAnHourBecauseAProxyAskedForThat) {
  Candidate a(loop_, clock_, server_, "a");
  loop_.Run();
  Candidate b(loop_, clock_, server_, "b");
  loop_.Advance(10s);
  b.on_call = [](const FakeCallPtr& call) { AnswerComeBackLater(call, "3600"); };
  loop_.Advance(10s);
  b.on_call = [&](const FakeCallPtr& call) { server_.Handle(call); };
  a.on_call = [](const FakeCallPtr&) {};  // cut off
  loop_.Advance(25s);
  EXPECT_FALSE(a.elector.is_leader());
  EXPECT_TRUE(b.elector.is_leader());
}

TEST_F(LeaderElectionTest, ALeaderLostItsLeaseOverOneRequestToWait) {
  for (const char* seconds : {"1", "4", "11", "3600"}) {
    SCOPED_TRACE(seconds);
    server_.lease.reset();
    Candidate a(loop_, clock_, server_, "a");
    loop_.Advance(20s);
    const base::Duration end = loop_.Now() + 5s;
    a.on_call = [&](const FakeCallPtr& call) {
      loop_.Now() < end ? AnswerComeBackLater(call, seconds) : server_.Handle(call);
    };
    for (int i = 0; i < 60; ++i) {
      loop_.Advance(1s);
      EXPECT_TRUE(a.elector.is_leader()) << i;
    }
  }
}

}  // namespace
}  // namespace berth::client
