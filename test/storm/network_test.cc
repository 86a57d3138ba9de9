#include "storm/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::storm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

Faults::Rates Always(std::vector<Fault> faults) {
  Faults::Rates rates{};
  for (const Fault fault : faults) rates[static_cast<size_t>(fault)] = 10'000;
  return rates;
}

// A world with a server that keeps its requests and answers when told to.
struct World {
  explicit World(const Faults::Rates& rates = {}) : faults(rates, 5) {
    network.set_server([this](const ExchangePtr& exchange) { served.push_back(exchange); });
  }
  void Start(http::Request request) {
    call = transport.Start(
        std::move(request),
        {.on_head = [this](const http::ResponseHead& head) { log.push_back(fmt::format("head {}", head.status)); },
         .on_data = [this](std::string_view bytes) { log.emplace_back(bytes); },
         .on_done = [this](const Result<void>& ended) { log.push_back(ended ? "end" : ended.error().message); }});
  }
  void Run(base::Duration how_long) { timeline.RunUntil(timeline.Now() + how_long); }

  Timeline timeline;
  Trace trace{timeline, Trace::Keep::kNothing};
  Faults faults;
  Network network{timeline, faults, trace, 3};
  Process process{timeline, "p", 1};
  ProcessTransport transport{network, process};
  std::vector<ExchangePtr> served;
  std::vector<std::string> log;
  http::CallId call = 0;
};

TEST(Network, AnExchangeGoesThroughInOrder) {
  World world;
  world.Start({.path = "/x"});
  world.Run(10ms);
  ASSERT_EQ(world.served.size(), 1U);
  world.served[0]->Answer(200, "body", {});
  world.Run(10ms);
  EXPECT_THAT(world.log, ElementsAre("head 200", "body", "end"));
  EXPECT_EQ(world.transport.open_calls(), 0U);
}

TEST(Network, ADeliveryIsToldBeforeItsLastBytes) {
  World world(Always({Fault::kTornFrame}));
  world.transport.set_on_delivery(
      [&](const Delivery& delivery) { world.log.push_back(fmt::format("delivery until {}", delivery.revision)); });
  world.transport.set_on_answer([&](const http::Request& request, int status) {
    world.log.push_back(fmt::format("{} {}", request.path, status));
  });
  world.Start({.path = "/x"});
  world.Run(10ms);
  world.served[0]->Head(200, {});
  world.served[0]->Data("ab", Delivery{api::Kind::kPod, 7});
  world.served[0]->End();
  world.Run(20ms);
  EXPECT_THAT(world.log, ElementsAre("head 200", "a", "delivery until 7", "b", "/x 200", "end"));
}

TEST(Network, AnAnswerIsLostAfterItsRequestWasServed) {
  World world(Always({Fault::kAnswerLost}));
  world.Start({.path = "/x", .timeout = 5s});
  world.Run(10ms);
  ASSERT_EQ(world.served.size(), 1U);
  world.served[0]->Answer(200, "body", {});
  world.Run(10s);
  ASSERT_EQ(world.log.size(), 1U);
  EXPECT_NE(world.log[0], "end");
}

TEST(Network, ARequestThatIsLostEndsInAnErrorOrATimeout) {
  World world(Always({Fault::kRequestLost}));
  for (int i = 0; i < 20; ++i) world.Start({.path = "/x", .timeout = 5s});
  world.Run(6s);
  EXPECT_THAT(world.served, IsEmpty());
  EXPECT_EQ(world.log.size(), 20U);
  EXPECT_THAT(world.log, ::testing::Contains("connection refused"));
  EXPECT_THAT(world.log, ::testing::Contains("no answer in time"));
}

TEST(Network, FramesAreTornButNothingIsMissing) {
  World world(Always({Fault::kTornFrame}));
  world.Start({.path = "/x?watch=true"});
  world.Run(10ms);
  world.served[0]->Head(200, {});
  world.served[0]->Data("abcdefgh");
  world.Run(10ms);
  ASSERT_EQ(world.log.size(), 3U);
  EXPECT_EQ(world.log[1] + world.log[2], "abcdefgh");
}

TEST(Network, ASilentWatchEndsByItsIdleTimeOut) {
  World world(Always({Fault::kSilentStream}));
  world.Start({.path = "/x?watch=true", .idle_timeout = 2min});
  world.Run(10ms);
  world.served[0]->Head(200, {});
  world.served[0]->Data("never seen");
  world.Run(1min);
  EXPECT_THAT(world.log, ElementsAre("head 200"));
  world.Run(2min);
  EXPECT_THAT(world.log, ElementsAre("head 200", "the connection is silent"));
}

TEST(Network, WhatIsSentDuringAPartitionComesAfterItOrNever) {
  World world;
  world.network.Partition("p", 10s);
  world.Start({.path = "/short", .timeout = 2s});
  world.Start({.path = "/long", .timeout = 30s});
  world.Run(9s);
  EXPECT_THAT(world.served, IsEmpty());
  world.Run(2s);
  ASSERT_EQ(world.served.size(), 1U);
  EXPECT_EQ(world.served[0]->request().path, "/long");
}

TEST(Network, TheServerIsHeldBackWhileThePacedBytesAreNotConsumed) {
  World world;
  world.Start({.path = "/x?watch=true", .paced = true});
  world.Run(10ms);
  world.served[0]->Head(200, {});
  world.served[0]->Data(std::string(http::kPacedBytes, 'a'));
  world.served[0]->Data("b");
  world.Run(1s);
  EXPECT_EQ(world.log.size(), 2U);
  world.transport.Consumed(world.call, 1000);
  world.Run(1s);
  ASSERT_EQ(world.log.size(), 3U);
  EXPECT_EQ(world.log[2], "b");
}

TEST(Network, APausedProcessHearsOfItsTimeOutWhenItGoesOn) {
  World world;
  world.Start({.path = "/x", .timeout = 1s});
  world.process.Pause();
  world.Run(5s);
  EXPECT_THAT(world.log, IsEmpty());
  world.process.Resume();
  world.Run(1ms);
  EXPECT_THAT(world.log, ElementsAre("no answer in time"));
}

TEST(Network, ACrashedProcessHearsNothing) {
  Timeline timeline;
  Trace trace(timeline, Trace::Keep::kNothing);
  Faults faults({}, 1);
  Network network(timeline, faults, trace, 1);
  std::vector<ExchangePtr> served;
  network.set_server([&](const ExchangePtr& exchange) { served.push_back(exchange); });
  Process process(timeline, "p", 1);
  bool heard = false;
  {
    ProcessTransport transport(network, process);
    transport.Start({.path = "/x"}, {.on_done = [&](const Result<void>&) { heard = true; }});
  }
  timeline.RunUntil(500ms);
  ASSERT_EQ(served.size(), 1U) << "what was sent just before may still take effect";
  served[0]->Answer(200, "", {});
  timeline.RunUntil(10s);
  EXPECT_FALSE(heard);
}

}  // namespace
}  // namespace berth::storm
