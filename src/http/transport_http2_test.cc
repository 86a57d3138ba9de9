// How transports use HTTP/2 connections, seen from a server that misbehaves in ways no library would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>

#include "http/testing/http2_server.h"
#include "http/testing/transport_fixture.h"

namespace berth::http {
namespace {

using namespace std::chrono_literals;

class TransportHttp2Test : public TransportOver, public ::testing::WithParamInterface<Way> {
 protected:
  TransportHttp2Test() : TransportOver(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Over, TransportHttp2Test, ::testing::Values(kHttp2, kHttp2Proxied), &NameOf);

TEST_P(TransportHttp2Test, SharesOneHttp2ConnectionBetweenManyRequests) {
  // Answers only when as many as may be in flight are waiting: if they were not sent concurrently, no answer would
  // come.
  constexpr int kAtOnce = 64, kRequests = 3 * kAtOnce;
  const auto server =
      Serve(SayWhatWasAsked,
            {.http2 = [](ServedConnection& connection) { ServeHttp2(connection, {.answer_when_open = kAtOnce}); }});
  const auto transport = Make(ConfigFor(*server), {.max_requests = kAtOnce});
  std::latch left(kRequests);
  std::atomic<int> right = 0;
  for (int i = 0; i < kRequests; ++i) {
    Request request = Get("/" + std::to_string(i));
    if (i % 2 == 0) request.method = "POST";
    if (i % 2 == 0) request.body = "{}";
    transport->Send(std::move(request), [&](Result<Response> response) {
      if (response && response->head.status == 200 && response->body == kHttp2Body) ++right;
      left.count_down();
    });
  }
  left.wait();
  EXPECT_EQ(right, kRequests);
  EXPECT_EQ(server->connections(), 1);
}

TEST_P(TransportHttp2Test, TakesNoHalfAnswerForAWholeOne) {
  const auto server = Serve(
      SayWhatWasAsked, {.http2 = [](ServedConnection& connection) { ServeHttp2(connection, {.break_off = true}); }});
  const Result<Response> response = Make(ConfigFor(*server))->SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable) << response.error().message;
}

TEST_P(TransportHttp2Test, GivesUpAConnectionThatFellSilent) {
  std::atomic<bool> first = true;
  const auto server = Serve(SayWhatWasAsked, {.http2 = [&](ServedConnection& connection) {
                              ServeHttp2(connection, {.answer_at_most = first.exchange(false) ? 1 : 1000});
                            }});
  const auto transport = Make(ConfigFor(*server), {.silence = 250ms});
  ASSERT_TRUE(transport->SendAndWait(Get("/")));
  Recorder watch;
  transport->Start({.path = "/watch"}, watch.handler());
  Request request = Get("/");
  request.timeout = 300ms;
  const Result<Response> unanswered = transport->SendAndWait(request);
  ASSERT_FALSE(unanswered);
  EXPECT_EQ(unanswered.error().code, ErrorCode::kDeadlineExceeded);
  // The watch has no timeout of its own.
  const Result<void> ended = watch.WaitForEnd();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable) << ended.error().message;
  EXPECT_TRUE(transport->SendAndWait(Get("/")));
  EXPECT_EQ(server->connections(), 2);
}

class Http2ConnectionPoolTest : public TransportOver {
 protected:
  Http2ConnectionPoolTest() : TransportOver(kHttp2) {}

  std::unique_ptr<HttpServer> ServeFrames(std::function<Http2Behaviour(int connection)> behave) {
    return Serve(SayWhatWasAsked, {.http2 = [this, behave = std::move(behave)](ServedConnection& connection) {
                   ServeHttp2(connection, behave(served_++));
                 }});
  }
  // Sends this many requests at once and returns how many were answered.
  static int AskAtOnce(Transport& transport, int requests) {
    std::latch left(requests);
    std::atomic<int> right = 0;
    for (int i = 0; i < requests; ++i) {
      transport.Send(Get("/" + std::to_string(i)), [&](Result<Response> response) {
        EXPECT_TRUE(response) << response.error().message;
        if (response && response->body == kHttp2Body) ++right;
        left.count_down();
      });
    }
    left.wait();
    return right;
  }

  std::atomic<int> served_ = 0;
};

TEST_F(Http2ConnectionPoolTest, SendsAgainWhatALeavingServerHasNotSeen) {
  const auto server =
      ServeFrames([](int connection) { return Http2Behaviour{.go_away_after = connection == 0 ? 5 : 0}; });
  const auto transport = Make(ConfigFor(*server));
  EXPECT_EQ(AskAtOnce(*transport, 40), 40);
  EXPECT_EQ(server->connections(), 2);
}

TEST_F(Http2ConnectionPoolTest, SendsAgainWhatWasRefused) {
  const auto server = ServeFrames([](int) { return Http2Behaviour{.refuse_first = true}; });
  const auto transport = Make(ConfigFor(*server));
  EXPECT_EQ(AskAtOnce(*transport, 3), 3);
  EXPECT_EQ(server->connections(), 1);
}

TEST_F(Http2ConnectionPoolTest, MakesAnotherConnectionWhenTheServerAllowsNoMoreStreams) {
  // Answers only when as many streams as it allows are open, so none of them may wait for another.
  const auto server = ServeFrames([](int) { return Http2Behaviour{.max_streams = 4, .answer_when_open = 4}; });
  const auto transport = Make(ConfigFor(*server), {.max_requests = 12});
  EXPECT_EQ(AskAtOnce(*transport, 12), 12);
  EXPECT_GE(server->connections(), 2);
}

TEST_F(Http2ConnectionPoolTest, CarriesHundredsAtATime) {
  const auto server = ServeFrames([](int) { return Http2Behaviour{.max_streams = 250, .answer_when_open = 200}; });
  const auto transport = Make(ConfigFor(*server), {.max_requests = 200});
  EXPECT_EQ(AskAtOnce(*transport, 600), 600);
  EXPECT_EQ(server->connections(), 1);
}

TEST_F(Http2ConnectionPoolTest, GivesUpAServerThatAnswersNoPing) {
  const auto server = ServeFrames([](int) { return Http2Behaviour{.answer_at_most = 1, .answers_pings = false}; });
  const auto transport = Make(ConfigFor(*server), {.silence = 20ms});
  ASSERT_TRUE(transport->SendAndWait(Get("/")));
  Recorder watch;
  transport->Start({.path = "/watch"}, watch.handler());
  const Result<void> ended = watch.WaitForEnd();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(ended.error().message, ::testing::HasSubstr("gone silent"));
}

TEST_F(Http2ConnectionPoolTest, KeepsAQuietConnectionThatAnswersPings) {
  const auto server = ServeFrames([](int) { return Http2Behaviour{.answer_at_most = 1}; });
  const auto transport = Make(ConfigFor(*server), {.silence = 250ms});
  ASSERT_TRUE(transport->SendAndWait(Get("/")));
  Recorder watch;
  transport->Start({.path = "/watch", .idle_timeout = 1s}, watch.handler());
  const Result<void> ended = watch.WaitForEnd();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kDeadlineExceeded) << ended.error().message;
}

TEST_F(Http2ConnectionPoolTest, ConnectsAgainAfterTheServerHasLeft) {
  const auto server = Serve([](const ServedRequest& request, ServedReply& reply) {
    if (request.path == "/break") return reply.Break();
    reply.Send(200, "here");
  });
  const auto transport = Make(ConfigFor(*server));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "here");
    EXPECT_FALSE(transport->SendAndWait(Get("/break")));
  }
}

TEST_F(Http2ConnectionPoolTest, MovesToAnotherConnectionWithAnotherCertificate) {
  const auto server =
      Serve([](const ServedRequest& request, ServedReply& reply) { reply.Send(200, request.client_name); },
            {.identity = &server_identity_, .client_authority = authority_.certificate()});
  std::vector<Credentials> script;
  for (const char* name : {"old", "new"}) {
    const TlsIdentity client = authority_.Issue(name, "");
    script.push_back({.client_certificate = client.certificate, .client_key = client.key});
  }
  const RestConfig config = ConfigFor(*server, script);
  const auto transport = Make(config);
  EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "old");
  // As when the file has been read again.
  config.credentials->Refuse(config.credentials->Current());
  EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "new");
  EXPECT_EQ(server->connections(), 2);
}

}  // namespace
}  // namespace berth::http
