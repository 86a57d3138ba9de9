// How transports use HTTP/1.1 connections, seen from a server that writes raw bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <mutex>

#include "http/http1_parser.h"
#include "http/testing/transport_fixture.h"

namespace berth::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHere[] = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere";

Request Post(std::string path) {
  Request request = Get(std::move(path));
  request.method = "POST";
  request.body = "{}";
  return request;
}

class Http1ConnectionPoolTest : public TransportOver {
 protected:
  explicit Http1ConnectionPoolTest(const Way& way = kHttp1) : TransportOver(way) {}

  // `serve` gets the number of the connection, starting at 0.
  std::unique_ptr<HttpServer> ServeBytes(std::function<void(ServedConnection&, int)> serve) {
    return Serve(SayWhatWasAsked, {.raw = [this, serve = std::move(serve)](ServedConnection& connection) {
                   serve(connection, served_++);
                 }});
  }
  // A server that answers one request with these bytes, and closes.
  std::unique_ptr<HttpServer> ServeOnce(std::string answer) {
    return ServeBytes([answer = std::move(answer)](ServedConnection& connection, int) {
      ServedRequest request;
      if (connection.ReadRequest(request)) connection.Write(answer);
    });
  }

  std::atomic<int> served_ = 0;
};

class Http1ConnectionPoolTlsTest : public Http1ConnectionPoolTest {
 protected:
  Http1ConnectionPoolTlsTest() : Http1ConnectionPoolTest(kHttp1Tls) {}
};

TEST_F(Http1ConnectionPoolTest, ReadsAnAnswerThatComesByteByByte) {
  const auto server = ServeBytes([](ServedConnection& connection, int) {
    ServedRequest request;
    while (connection.ReadRequest(request)) {
      for (const char c : std::string_view("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                           "3;x=y\r\none\r\n3\r\ntwo\r\n0\r\nX: y\r\n\r\n")) {
        connection.Write({&c, 1});
      }
    }
  });
  const auto transport = Make(ConfigFor(*server));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "onetwo");
  EXPECT_EQ(server->connections(), 1);
}

TEST_F(Http1ConnectionPoolTest, SaysWhatIsWrongWithAnAnswer) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  struct Case {
    std::string bytes;
    const char* error;
  };
  for (const Case& c : {
           Case{"", "the server closed the connection"},
           Case{"HTTP/1.1 20", "the connection was closed before the answer"},
           Case{ok + "Content-Length: 5\r\n\r\nfour", "the answer is incomplete"},
           Case{ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n", "the answer is incomplete"},
           Case{ok + "X: " + std::string(Http1Parser::kMaxHeadBytes, 'x'), "the head is larger than"},
           Case{ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both a length and chunks"},
       }) {
    const auto server = ServeOnce(c.bytes);
    const Result<Response> response = Make(ConfigFor(*server))->SendAndWait(Get("/"));
    ASSERT_FALSE(response) << c.error;
    EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(response.error().message, HasSubstr(c.error));
    // There was no earlier answer on that connection, so the request must not be sent again.
    EXPECT_EQ(server->connections(), 1) << c.error;
  }
}

TEST_F(Http1ConnectionPoolTest, TakesTheEndOfAConnectionForTheEndOfABody) {
  const auto server = ServeOnce("HTTP/1.1 200 OK\r\n\r\nall of it");
  EXPECT_EQ(Make(ConfigFor(*server))->SendAndWait(Get("/"))->body, "all of it");
}

TEST_F(Http1ConnectionPoolTlsTest, TakesNoForgedEndOfAConnectionForTheEndOfABody) {
  std::atomic<bool> says_goodbye = true;
  const auto server = ServeBytes([&](ServedConnection& connection, int) {
    ServedRequest request;
    if (!connection.ReadRequest(request)) return;
    connection.Write("HTTP/1.1 200 OK\r\n\r\nall of it");
    if (says_goodbye) connection.CloseTls();
  });
  const auto transport = Make(ConfigFor(*server));
  EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "all of it");
  says_goodbye = false;
  const Result<Response> response = transport->SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_THAT(response.error().message, HasSubstr("tls: "));
}

TEST_F(Http1ConnectionPoolTest, SendsAgainWhatMetAConnectionThatWasBeingClosed) {
  // Closes when the second request has arrived: the client cannot distinguish this from a close while idle.
  const auto server = ServeBytes([](ServedConnection& connection, int number) {
    ServedRequest request;
    while (connection.ReadRequest(request)) {
      connection.Write(kHere);
      if (number % 2 == 0) return static_cast<void>(connection.ReadRequest(request));
    }
  });
  const auto transport = Make(ConfigFor(*server));
  EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "here");
  const Result<Response> again = transport->SendAndWait(Get("/"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->body, "here");
  EXPECT_EQ(server->connections(), 2);
}

TEST_F(Http1ConnectionPoolTest, DoesNotSendAgainWhatMayHaveBeenActedOn) {
  const auto server = ServeBytes([](ServedConnection& connection, int) {
    ServedRequest request;
    if (connection.ReadRequest(request)) connection.Write(kHere);
    connection.ReadRequest(request);
  });
  const auto transport = Make(ConfigFor(*server));
  EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "here");
  const Result<Response> response = transport->SendAndWait(Post("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(server->connections(), 1);
}

TEST_F(Http1ConnectionPoolTest, SeesThatAKeptConnectionWasClosedBeforeItIsUsed) {
  std::promise<void> closed;
  const auto server = ServeBytes([&](ServedConnection& connection, int number) {
    ServedRequest request;
    if (connection.ReadRequest(request)) connection.Write(kHere);
    if (number > 0) return;
    connection.Shutdown();  // on loopback the client sees the end of the connection when this returns
    closed.set_value();
  });
  const auto transport = Make(ConfigFor(*server));
  EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "here");
  closed.get_future().wait();
  EXPECT_EQ(transport->SendAndWait(Post("/"))->body, "here");
  EXPECT_EQ(server->connections(), 2);
}

TEST_F(Http1ConnectionPoolTest, LeavesAConnectionThatSaysMoreThanItWasAsked) {
  const auto server = ServeBytes([](ServedConnection& connection, int) {
    ServedRequest request;
    while (connection.ReadRequest(request)) connection.Write(std::string(kHere) + kHere);
  });
  const auto transport = Make(ConfigFor(*server));
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "here");
    EXPECT_EQ(server->connections(), i);
  }
}

TEST_F(Http1ConnectionPoolTest, DoesNotUseAgainWhatTheServerWillClose) {
  const auto server = Serve([](const ServedRequest&, ServedReply& reply) {
    reply.Send(200, "", {{"Connection", "close"}});
    reply.Break();
  });
  const auto transport = Make(ConfigFor(*server));
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(transport->SendAndWait(Post("/")));
    EXPECT_EQ(server->connections(), i);
  }
}

TEST_F(Http1ConnectionPoolTest, TakesAnAnswerThatComesBeforeTheBodyWasRead) {
  const auto server = ServeBytes([](ServedConnection& connection, int) {
    std::string line;
    while (connection.ReadLine(line) && !line.empty()) {
    }
    connection.Write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    for (char c = 0; connection.ReadExactly(&c, 1);) {
    }
  });
  Request request = Post("/");
  request.body = std::string(32 << 20, 'x');  // more than any buffer on the way
  const Result<Response> response = Make(ConfigFor(*server))->SendAndWait(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->head.status, 413);
}

TEST_F(Http1ConnectionPoolTest, SendsALargeBody) {
  const auto server = Serve(
      [](const ServedRequest& request, ServedReply& reply) { reply.Send(200, std::to_string(request.body.size())); });
  Request request = Post("/");
  request.body = std::string(5 << 20, 'x');
  EXPECT_EQ(Make(ConfigFor(*server))->SendAndWait(request)->body, std::to_string(5 << 20));
}

TEST_F(Http1ConnectionPoolTest, KeepsNoMoreConnectionsThanItMayHaveRequests) {
  constexpr int kWatches = 5, kKept = 2;
  std::mutex mutex;
  std::condition_variable changed;
  int open = 0, closed = 0;
  const auto wait_until = [&](auto condition) {
    std::unique_lock lock(mutex);
    changed.wait(lock, condition);
  };
  const auto count = [&](int& counter) {
    const std::lock_guard lock(mutex);
    ++counter;
    changed.notify_all();
  };
  const auto server = ServeBytes([&](ServedConnection& connection, int) {
    ServedRequest request;
    if (!connection.ReadRequest(request)) return;
    count(open);
    wait_until([&] { return open == kWatches; });
    connection.Write(kHere);
    while (connection.ReadRequest(request)) connection.Write(kHere);
    count(closed);
  });
  const auto transport = Make(ConfigFor(*server), {.max_requests = kKept});
  std::vector<Recorder> watches(kWatches);
  for (Recorder& watch : watches) transport->Start({.path = "/watch"}, watch.handler());
  for (Recorder& watch : watches) EXPECT_TRUE(watch.WaitForEnd());
  wait_until([&] { return closed == kWatches - kKept; });
  EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "here");
  EXPECT_EQ(server->connections(), kWatches);
}

TEST_F(Http1ConnectionPoolTest, SaysThatAConnectionTakesTooLong) {
  // Accepts connections, but never speaks TLS.
  const auto server = ServeBytes([](ServedConnection& connection, int) {
    for (char c = 0; connection.ReadExactly(&c, 1);) {
    }
  });
  RestConfig config = ConfigFor(*server);
  config.server.replace(0, 4, "https");
  ::setenv("DISABLE_HTTP2", "1", 1);
  const Result<Response> response =
      Make(config, {.connect_timeout = std::chrono::milliseconds(50)})->SendAndWait(Get("/"));
  ::unsetenv("DISABLE_HTTP2");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(response.error().message, HasSubstr("Connection timed out"));
}

TEST_F(Http1ConnectionPoolTlsTest, IsUsedWhereHttp2IsRuledOut) {
  std::atomic<bool> spoke_http2 = false;
  const auto server = Serve(SayWhatWasAsked, {.http2 = [&](ServedConnection&) { spoke_http2 = true; }});
  ::setenv("DISABLE_HTTP2", "1", 1);
  EXPECT_EQ(Make(ConfigFor(*server))->SendAndWait(Get("/"))->body, "GET / ");
  ::unsetenv("DISABLE_HTTP2");
  EXPECT_FALSE(spoke_http2);
}

struct ProxyCase {
  const char* name;
  Way way;
  bool tls_to_proxy;
  bool socks5;
};

class ProxyTest : public TransportOver, public ::testing::WithParamInterface<ProxyCase> {
 protected:
  ProxyTest() : TransportOver(GetParam().way) {}
};

TEST_P(ProxyTest, PassesRequestsOn) {
  const ProxyCase& test = GetParam();
  const TlsIdentity named = authority_.Issue("apiserver", "DNS:apiserver.invalid");
  const auto server = Serve(SayWhatWasAsked, {.identity = test.way.tls ? &named : nullptr});
  const ProxyServer proxy({.identity = test.tls_to_proxy ? &server_identity_ : nullptr, .socks5 = test.socks5});
  RestConfig config = ConfigFor(*server);
  config.server = fmt::format("{}://apiserver.invalid:{}", test.way.tls ? "https" : "http", server->port());
  config.proxy_url = proxy.url(test.socks5 ? "" : "u:p");
  const std::string host = "apiserver.invalid:" + std::to_string(server->port());
  const auto transport = Make(config);
  const Result<Response> response = transport->SendAndWait(Get("/api"));
  ASSERT_TRUE(response) << response.error().message;
  const bool is_tunnel = test.way.tls || test.socks5;
  EXPECT_EQ(response->body, is_tunnel ? "GET /api " : "via http://" + host + "/api for " + host);
  const std::string asked = test.socks5    ? "apiserver.invalid"
                            : test.way.tls ? "CONNECT " + host + " Basic dTpw"
                                           : "GET http://" + host + "/api Basic dTpw";
  EXPECT_THAT(proxy.requests(), ::testing::Each(asked));
  EXPECT_EQ(proxy.requests().size(), 1u + static_cast<size_t>(probes()));
  EXPECT_TRUE(transport->SendAndWait(Get("/api")));
}

INSTANTIATE_TEST_SUITE_P(
    Over, ProxyTest,
    ::testing::Values(ProxyCase{"Plain", kHttp1, false, false}, ProxyCase{"PlainOverTls", kHttp1, true, false},
                      ProxyCase{"PlainSocks5", kHttp1, false, true}, ProxyCase{"Connect", kHttp1Tls, false, false},
                      ProxyCase{"ConnectOverTls", kHttp1Tls, true, false}, ProxyCase{"Socks5", kHttp1Tls, false, true},
                      ProxyCase{"Http2Connect", kHttp2, false, false},
                      ProxyCase{"Http2ConnectOverTls", kHttp2, true, false},
                      ProxyCase{"Http2Socks5", kHttp2, false, true}),
    [](const auto& test) { return test.param.name; });

class ProxyRefusalTest : public Http1ConnectionPoolTlsTest {
 protected:
  // The error of a request through a proxy that answers like this.
  std::string ErrorThrough(const std::string& answer) {
    HttpServer proxy([](const ServedRequest&, ServedReply&) {}, {.raw = [&](ServedConnection& connection) {
                       ServedRequest request;
                       if (connection.ReadRequest(request)) connection.Write(answer);
                     }});
    const auto server = Serve(SayWhatWasAsked);
    RestConfig config = ConfigFor(*server);
    config.proxy_url = proxy.url();
    const Result<Response> response = Make(config)->SendAndWait(Get("/"));
    EXPECT_EQ(server->connections(), 0);
    return response ? "" : response.error().message;
  }
};

TEST_F(ProxyRefusalTest, IsReportedWithItsStatus) {
  EXPECT_THAT(ErrorThrough("HTTP/1.1 403 Forbidden by policy\r\nContent-Length: 0\r\n\r\n"),
              ::testing::MatchesRegex("Get \"https://.*\": proxy http://127.0.0.1:[0-9]+: CONNECT "
                                      "127.0.0.1:[0-9]+: 403 Forbidden by policy"));
  EXPECT_THAT(ErrorThrough("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
              HasSubstr("407 Proxy Authentication Required"));
  EXPECT_THAT(ErrorThrough(""), HasSubstr("the server closed the connection"));
}

TEST_F(Http1ConnectionPoolTest, SaysThatItsProxyCannotBeUsed) {
  RestConfig config;
  config.server = "http://apiserver.invalid";
  config.credentials = std::make_shared<ScriptedCredentials>(std::vector<Credentials>{{}});
  config.proxy_url = "http://127.0.0.1:x";
  const Result<Response> bad = Make(config)->SendAndWait(Get("/"));
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("invalid proxy address: expected a port"));

  auto gone = Serve(SayWhatWasAsked);
  config.proxy_url = gone->url();
  gone = nullptr;
  const Result<Response> refused = Make(config)->SendAndWait(Get("/"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("proxy " + config.proxy_url + ": Failed to connect"));
}

TEST_F(Http1ConnectionPoolTest, LeavesThePortOutThatTheSchemeImplies) {
  const ProxyServer proxy({});
  RestConfig config;
  config.server = "http://apiserver.invalid:80/prefix";
  config.credentials = std::make_shared<ScriptedCredentials>(std::vector<Credentials>{{}});
  config.proxy_url = proxy.url();
  EXPECT_EQ(Make(config)->SendAndWait(Get("/api"))->body,
            "via http://apiserver.invalid/prefix/api for apiserver.invalid");
  EXPECT_THAT(proxy.requests(), ElementsAre("GET http://apiserver.invalid/prefix/api"));
}

}  // namespace
}  // namespace berth::http
