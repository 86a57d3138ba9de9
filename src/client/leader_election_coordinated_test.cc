// Leader election that the API server coordinates: the server decides who holds the lease; no candidate takes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "api/object.h"
#include "base/testing/fake_loop.h"
#include "client/leader_election.h"
#include "client/lease_candidacy.h"
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

// A standby checks every retry period, extended by up to 1.2 times that.
constexpr base::Duration kNextLook = 4400ms;

// One scheduler with its own connection to the server: an elector, and a candidacy if requested.
struct CoordinatedScheduler {
  CoordinatedScheduler(base::testing::FakeLoop& loop, const base::Clock& clock,
                       testing::FakeCoordinationServer& coordination, const std::string& identity, uint64_t seed = 1)
      : server(coordination),
        transport(loop, [this](const http::testing::FakeCallPtr& call) { on_call(call); }),
        client(transport, loop, clock, {.protobuf = false, .timeout = LeaseRequestTimeout(10s)}),
        candidacy(client, loop, clock, CandidacyOptions(identity, seed)),
        elector(client, loop, clock, ElectorOptions(identity, seed)) {
    elector.Start();
  }

  static LeaseCandidacyOptions CandidacyOptions(const std::string& identity, uint64_t seed) {
    return {.identity = identity,
            .name_space = "kube-system",
            .lease_name = "scheduler",
            .binary_version = "1.36.4",
            .emulation_version = "1.36.0",
            .seed = seed};
  }

  LeaderElectionOptions ElectorOptions(const std::string& identity, uint64_t seed) {
    LeaderElectionOptions options{.identity = identity, .name_space = "kube-system", .name = "scheduler"};
    options.coordinated = true;
    options.seed = seed;
    options.has_writes = [this] { return has_writes; };
    options.started_leading = [this] { log.push_back("started"); };
    options.stopped_leading = [this] {
      candidacy.Stop();
      log.push_back("stopped");
    };
    options.term_ended = [this](const std::string& preferred) { log.push_back("preferred " + preferred); };
    return options;
  }

  bool has_stopped() const { return !log.empty() && log.back() == "stopped"; }

  testing::FakeCoordinationServer& server;
  std::function<void(const http::testing::FakeCallPtr&)> on_call = [this](const http::testing::FakeCallPtr& call) {
    server.Handle(call);
  };
  http::testing::FakeTransport transport;
  ApiClient client;
  std::vector<std::string> log;
  bool has_writes = false;
  LeaseCandidacy candidacy;
  LeaderElector elector;
};

class CoordinatedElectionTest : public ::testing::Test {
 protected:
  std::unique_ptr<CoordinatedScheduler> Make(const std::string& identity) {
    return std::make_unique<CoordinatedScheduler>(loop_, clock_, server_, identity);
  }
  std::unique_ptr<CoordinatedScheduler> MakeLeader(const std::string& identity) {
    server_.Assign(identity);
    auto made = Make(identity);
    loop_.Advance(1s);
    EXPECT_TRUE(made->elector.is_leader());
    return made;
  }

  base::FakeClock clock_{base::Time(1'700'000'000s)};
  base::testing::FakeLoop loop_{&clock_};
  testing::FakeCoordinationServer server_{clock_};
};

TEST_F(CoordinatedElectionTest, NeverCreatesTheLease) {
  const auto a = Make("a");
  loop_.Advance(10min);
  EXPECT_FALSE(server_.lease.has_value());
  EXPECT_THAT(a->log, IsEmpty());
}

TEST_F(CoordinatedElectionTest, NeverTakesALeaseThatTheServerHasNotGivenToIt) {
  for (const char* holder : {"", "another"}) {
    server_.Assign(holder);
    const auto a = Make("a");
    loop_.Advance(10min);  // long after it has expired
    EXPECT_THAT(server_.lease_writes, IsEmpty());
    EXPECT_FALSE(a->elector.is_leader());
    EXPECT_EQ(a->elector.leader(), holder);
  }
}

TEST_F(CoordinatedElectionTest, LeadsOnceTheServerHasWrittenItsNameAndRenewsAfterReading) {
  const auto a = Make("a");
  loop_.Advance(10s);
  server_.Assign("a");
  EXPECT_FALSE(a->elector.is_leader());
  loop_.Advance(kNextLook);
  EXPECT_TRUE(a->elector.is_leader());
  EXPECT_THAT(a->log, ElementsAre("started"));
  EXPECT_THAT(server_.lease_writes[0],
              ::testing::MatchesRegex(R"(PUT .*"spec":."holderIdentity":"a","leaseDurationSeconds":15,)"
                                      R"("renewTime":"[^"]*","leaseTransitions":0,"strategy":)"
                                      R"("OldestEmulationVersion"..)"));
  // The server may have changed it since: no renewal is sent without reading it first.
  const size_t calls = a->transport.calls().size();
  loop_.Advance(60s);
  EXPECT_TRUE(a->elector.is_leader());
  EXPECT_EQ(a->transport.calls().size() - calls, 60u);
  for (size_t i = calls; i < a->transport.calls().size(); ++i) {
    EXPECT_EQ(a->transport.calls()[i]->request().method, (i - calls) % 2 == 0 ? "GET" : "PUT");
  }
  EXPECT_EQ(server_.lease->spec.strategy, "OldestEmulationVersion") << "the server's fields are kept";
}

TEST_F(CoordinatedElectionTest, IsNotTheLeaderBeforeItHasRenewedWhatItWasGiven) {
  server_.Assign("a");
  const auto a = Make("a");
  a->on_call = [&](const http::testing::FakeCallPtr& call) {
    if (call->request().method == "GET") server_.Handle(call);
  };
  loop_.Advance(60s);
  EXPECT_FALSE(a->elector.is_leader());
  EXPECT_THAT(a->log, IsEmpty());
}

// The server does not write the same name a second time: an elector that waits for that waits forever.
TEST_F(CoordinatedElectionTest, ALeaseThatRanOutBeforeItWasRenewedWasLedByNobody) {
  const auto a = Make("a");
  a->candidacy.Start();
  loop_.Run();
  bool refuses = true;
  a->on_call = [&](const http::testing::FakeCallPtr& call) {
    const bool is_renewal =
        call->request().method == "PUT" && call->request().path.find("/leases/") != std::string::npos;
    if (!refuses || !is_renewal) return server_.Handle(call);
    call->Answer(500, testing::StatusJson(500, "InternalError", "etcd is away"));
  };
  for (int second = 0; second < 60; ++second) {
    server_.Elect();
    loop_.Advance(1s);
  }
  ASSERT_EQ(server_.lease->spec.holder_identity, "a");
  EXPECT_FALSE(a->elector.is_leader());
  refuses = false;
  loop_.Advance(kNextLook);
  EXPECT_TRUE(a->elector.is_leader());
}

TEST_F(CoordinatedElectionTest, LosesAtOnceWhenTheServerHasWrittenAnotherName) {
  for (const char* holder : {"another", ""}) {
    const auto a = MakeLeader("a");
    server_.Assign(holder);
    const size_t writes = server_.lease_writes.size();
    loop_.Advance(2s);
    EXPECT_FALSE(a->elector.is_leader());
    EXPECT_THAT(a->log, ElementsAre("started", "stopped"));
    a->elector.Stop([] {});
    loop_.Advance(60s);
    EXPECT_EQ(server_.lease_writes.size(), writes) << "what is another's is not released";
    EXPECT_EQ(server_.lease->spec.holder_identity, holder);
  }
}

TEST_F(CoordinatedElectionTest, ALeaseThatWasDeletedIsNotCreatedAgain) {
  const auto a = MakeLeader("a");
  server_.lease.reset();
  loop_.Advance(14s);
  EXPECT_FALSE(a->elector.is_leader());
  EXPECT_TRUE(a->has_stopped());
  EXPECT_FALSE(server_.lease.has_value());
}

TEST_F(CoordinatedElectionTest, AtTheEndOfItsTermItStopsAtOnceAndGivesTheLeaseBackWhenItsWorkHasEnded) {
  const auto a = MakeLeader("a");
  server_.Prefer("b");
  const size_t writes = server_.lease_writes.size();
  a->has_writes = true;
  loop_.Advance(2s);
  EXPECT_FALSE(a->elector.is_leader());
  EXPECT_EQ(a->elector.deadline(), 0s) << "no write goes out";
  EXPECT_THAT(a->log, ElementsAre("started", "preferred b", "stopped"));
  EXPECT_EQ(server_.lease_writes.size(), writes) << "not renewed";
  bool done = false;
  a->elector.Stop([&] { done = true; });
  loop_.Advance(1s);
  EXPECT_EQ(server_.lease_writes.size(), writes) << "a write is on its way";
  a->has_writes = false;
  loop_.Advance(100ms);
  EXPECT_TRUE(done);
  EXPECT_EQ(server_.lease->spec.holder_identity, "");
  EXPECT_EQ(server_.lease->spec.lease_duration_seconds, 1);
  EXPECT_EQ(server_.lease->spec.preferred_holder, std::nullopt);
  EXPECT_EQ(server_.lease->spec.strategy, std::nullopt) << "as upstream releases it";
  EXPECT_THAT(a->log, SizeIs(3)) << "it says that it has stopped once";
}

TEST_F(CoordinatedElectionTest, AStandbyGivesBackALeaseWhoseTermEndedBeforeItLed) {
  server_.Assign("a");
  server_.Prefer("b");
  const auto a = Make("a");
  loop_.Advance(60s);
  EXPECT_THAT(server_.lease_writes, ElementsAre(HasSubstr(R"("holderIdentity":"")")));
  EXPECT_THAT(a->log, IsEmpty()) << "it has not led";
  // The preferred candidate never took over: the server elects again.
  server_.Assign("a");
  loop_.Advance(kNextLook);
  EXPECT_TRUE(a->elector.is_leader());
}

TEST_F(CoordinatedElectionTest, ARenewalDoesNotOverwriteWhatTheServerHasDecidedMeanwhile) {
  const auto a = MakeLeader("a");
  a->on_call = [&](const http::testing::FakeCallPtr& call) {
    const bool is_read = call->request().method == "GET";
    server_.Handle(call);
    if (is_read && !server_.lease->spec.preferred_holder) server_.Prefer("b");
  };
  loop_.Advance(5s);
  EXPECT_EQ(server_.lease->spec.preferred_holder, "b");
  EXPECT_FALSE(a->elector.is_leader());
}

TEST_F(CoordinatedElectionTest, AFreeLeaseGoesToTheCandidateThatAnswersAndOnToTheNext) {
  auto a = Make("a");
  a->candidacy.Start();
  loop_.Advance(1s);
  auto b = Make("b");
  b->candidacy.Start();
  const auto pass = [&](int seconds) {
    for (int second = 0; second < seconds; ++second) {
      server_.Elect();
      loop_.Advance(1s);
      EXPECT_FALSE(a && a->elector.is_leader() && b->elector.is_leader());
    }
  };
  pass(10);
  EXPECT_TRUE(a->elector.is_leader()) << "the older of two alike";
  pass(60);
  EXPECT_TRUE(a->elector.is_leader());
  a.reset();  // killed: it answers no ping, and its lease expires
  pass(35);
  EXPECT_TRUE(b->elector.is_leader());
  EXPECT_THAT(b->log, ElementsAre("started"));
}

// Whatever the connections do, no two electors ever believe at the same time that they may write; and one leads once
// everything works again.
TEST_F(CoordinatedElectionTest, NeverTwoLeadersAndOneInTheEnd) {
  int changes = 0, led = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    base::FakeClock clock(base::Time(1'700'000'000s));
    base::testing::FakeLoop loop(&clock);
    testing::FakeCoordinationServer server(clock);
    std::vector<std::unique_ptr<CoordinatedScheduler>> running;
    std::vector<std::unique_ptr<CoordinatedScheduler>> gone;  // with calls still in flight
    int born = 0;
    bool is_well = false;
    const auto harm = [&](CoordinatedScheduler& scheduler) {
      scheduler.on_call = [&](const http::testing::FakeCallPtr& call) {
        if (is_well) return server.Handle(call);
        const auto there = std::chrono::milliseconds(random.Below(random.Below(4) == 0 ? 7000 : 200));
        if (random.Below(6) == 0) return;  // the request is lost
        loop.RunAfter(there, [&, call] {
          // The answer may be lost although the server has processed the request.
          if (random.Below(8) == 0) call->End(Error::Unavailable("reset"));
          server.Handle(call);
        });
      };
    };
    const auto leaders = [&] {
      std::vector<std::string> found;
      for (const auto& scheduler : running) {
        if (scheduler->elector.is_leader()) found.push_back(scheduler->elector.leader());
      }
      return found;
    };
    const auto end = [&](std::unique_ptr<CoordinatedScheduler>& scheduler) {
      scheduler->candidacy.Stop();
      scheduler->elector.Stop([] {});
      gone.push_back(std::move(scheduler));
      ++changes;
    };
    const auto step = [&] {
      for (auto& scheduler : running) {
        if (scheduler && scheduler->has_stopped()) end(scheduler);
      }
      std::erase(running, nullptr);
      while (running.size() < 3) {
        ++born;
        running.push_back(
            std::make_unique<CoordinatedScheduler>(loop, clock, server, std::to_string(born), seed * 100 + born));
        harm(*running.back());
        running.back()->candidacy.Start();
      }
      server.Elect();
      loop.Advance(std::chrono::milliseconds(random.Below(1000)));
      ASSERT_LE(leaders().size(), 1u) << ::testing::PrintToString(leaders());
    };
    for (int i = 0; i < 600; ++i) {
      const size_t one = random.Below(3);
      if (i > 0 && random.Below(60) == 0) running[one]->on_call = [](const http::testing::FakeCallPtr&) {};
      if (i > 0 && random.Below(100) == 0) end(running[one]);
      if (random.Below(20) == 0) server.BreakWatches();
      if (server.lease && random.Below(40) == 0) server.Prefer(std::to_string(born));
      ASSERT_NO_FATAL_FAILURE(step());
      led += leaders().empty() ? 0 : 1;
    }
    is_well = true;
    for (auto& scheduler : running) harm(*scheduler);
    for (int i = 0; i < 240; ++i) ASSERT_NO_FATAL_FAILURE(step());
    EXPECT_THAT(leaders(), SizeIs(1)) << "in the end; the lease is " << api::EncodeJson(api::MakeObject(*server.lease));
  }
  EXPECT_GT(changes, 100) << "there must have been something to see";
  EXPECT_GT(led, 3000) << "and somebody who led";
}

}  // namespace
}  // namespace berth::client
