#include "client/curl_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <optional>
#include <set>

#include "client/testing/http2_server.h"
#include "client/testing/http_server.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Hands out what it was given, one after the other; the last one for ever.
class ScriptedCredentials final : public CredentialSource {
 public:
  explicit ScriptedCredentials(std::vector<Credentials> script) : script_(std::move(script)) {}

  CredentialsPtr Current() override {
    const std::lock_guard lock(mutex_);
    return current_;
  }
  Result<CredentialsPtr> Fetch() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !blocked_; });
    if (fetches_ >= script_.size()) return Error::Unavailable("no more credentials");
    return current_ = std::make_shared<Credentials>(script_[fetches_++]);
  }
  bool Refuse(const CredentialsPtr& refused) override {
    const std::lock_guard lock(mutex_);
    if (current_ == refused) current_ = nullptr;
    return true;
  }
  void Interrupt() override { Block(false); }

  void Block(bool blocked) {
    const std::lock_guard lock(mutex_);
    blocked_ = blocked;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Credentials> script_;
  size_t fetches_ = 0;
  bool blocked_ = false;
  CredentialsPtr current_;
};

RestConfig ConfigFor(const HttpServer& server, std::vector<Credentials> credentials = {{}}) {
  RestConfig config;
  config.server = server.url();
  config.user_agent = "test-agent";
  config.credentials = std::make_shared<ScriptedCredentials>(std::move(credentials));
  return config;
}

Request Get(std::string path) { return {.path = std::move(path), .timeout = 30s}; }

// Gathers what a handler is told, and lets a test wait for it.
class Recorder {
 public:
  ResponseHandler handler() {
    return {.on_head = [this](const ResponseHead& head) { Note("head " + std::to_string(head.status)); },
            .on_data = [this](std::string_view bytes) { Note("data " + std::string(bytes)); },
            .on_done = [this](Result<void> ended) { Note("done", std::move(ended)); }};
  }
  void WaitFor(const std::string& event) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return std::find(events_.begin(), events_.end(), event) != events_.end(); });
  }
  Result<void> WaitForEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_.has_value(); });
    return *ended_;
  }
  std::vector<std::string> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  void Note(std::string event, std::optional<Result<void>> ended = {}) {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(ended_) << "after the end: " << event;
    events_.push_back(std::move(event));
    if (ended) ended_ = std::move(ended);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
  std::optional<Result<void>> ended_;
};

void SayWhatWasAsked(const ServedRequest& request, ServedReply& reply) {
  reply.Send(200, request.method + " " + request.path + " " + request.body, {{"X-Kind", "Echo"}});
}

TEST(CurlTransport, SendsARequestAndGathersTheAnswer) {
  HttpServer server(SayWhatWasAsked);
  CurlTransport transport(ConfigFor(server));
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    Request request = Get("/api/v1/pods?limit=1");
    request.method = method;
    if (request.method != "GET") request.body = "{}";
    const Result<Response> response = transport.SendAndWait(request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->head.status, 200);
    EXPECT_EQ(response->head.Find("x-kind"), "Echo");
    EXPECT_EQ(response->body, std::string(method) + " /api/v1/pods?limit=1 " + request.body);
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(CurlTransport, KeepsAPrefixOfTheServersPath) {
  HttpServer server(SayWhatWasAsked);
  RestConfig config = ConfigFor(server);
  config.server += "/k8s/clusters/one";
  CurlTransport transport(config);
  EXPECT_EQ(transport.SendAndWait(Get("/api"))->body, "GET /k8s/clusters/one/api ");
}

TEST(CurlTransport, AddsWhoIsAskingToEveryRequest) {
  std::multimap<std::string, std::string> seen;
  HttpServer server([&](const ServedRequest& request, ServedReply& reply) {
    seen = request.headers;
    reply.Send(200, "");
  });
  RestConfig config = ConfigFor(server, {{.authorization = "Bearer abc"}});
  config.impersonation = {{"Impersonate-User", "jane"}, {"Impersonate-Group", "a"}, {"Impersonate-Group", "b"}};
  CurlTransport transport(config);
  Request request = Get("/");
  request.headers = {{"Accept", "application/json"}};
  ASSERT_TRUE(transport.SendAndWait(request));
  EXPECT_THAT(seen, ::testing::IsSupersetOf(
                        std::vector<std::pair<const std::string, std::string>>{{"authorization", "Bearer abc"},
                                                                               {"user-agent", "test-agent"},
                                                                               {"accept", "application/json"},
                                                                               {"impersonate-user", "jane"},
                                                                               {"impersonate-group", "a"},
                                                                               {"impersonate-group", "b"}}));
  EXPECT_EQ(seen.count("accept-encoding"), 0u);
}

TEST(CurlTransport, TakesCompressedAnswersWhenAllowed) {
  HttpServer server([](const ServedRequest& request, ServedReply& reply) {
    // gzip of "compressed", with no name and no time.
    static constexpr unsigned char kBytes[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff,
                                               0x4b, 0xce, 0xcf, 0x2d, 0x28, 0x4a, 0x2d, 0x2e, 0x4e, 0x4d,
                                               0x01, 0x00, 0x1e, 0x4b, 0x56, 0x97, 0x0a, 0x00, 0x00, 0x00};
    EXPECT_EQ(request.Header("accept-encoding"), "gzip");
    reply.Send(200, {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)}, {{"Content-Encoding", "gzip"}});
  });
  RestConfig config = ConfigFor(server);
  config.disable_compression = false;
  CurlTransport transport(config);
  const Result<Response> response = transport.SendAndWait(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "compressed");
}

TEST(CurlTransport, RefusesAHeaderThatWouldBeTwo) {
  HttpServer server(SayWhatWasAsked);
  CurlTransport transport(ConfigFor(server, {{.authorization = "Bearer a\r\nX-Admin: yes"}}));
  const Result<Response> response = transport.SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_THAT(response.error().message, HasSubstr("invalid header field value for \"Authorization\""));
}

TEST(CurlTransport, HandsOnAStreamAsItComes) {
  std::promise<void> more;
  HttpServer server([&](const ServedRequest&, ServedReply& reply) {
    reply.Begin(200);
    reply.Piece("one");
    more.get_future().wait();
    reply.Piece("two");
    reply.End();
  });
  CurlTransport transport(ConfigFor(server));
  Recorder recorder;
  transport.Start({.path = "/watch"}, recorder.handler());
  recorder.WaitFor("data one");
  more.set_value();
  EXPECT_TRUE(recorder.WaitForEnd());
  EXPECT_THAT(recorder.events(), ElementsAre("head 200", "data one", "data two", "done"));
}

TEST(CurlTransport, EndsAStreamThatIsCanceled) {
  HttpServer server([](const ServedRequest&, ServedReply& reply) {
    reply.Begin(200);
    reply.Piece("one");
    reply.WaitForEnd();
    reply.Break();
  });
  CurlTransport transport(ConfigFor(server));
  Recorder recorder;
  const CallId call = transport.Start({.path = "/watch"}, recorder.handler());
  recorder.WaitFor("data one");
  transport.Cancel(call);
  transport.Cancel(call);
  const Result<void> ended = recorder.WaitForEnd();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(ended.error().message, AllOf(StartsWith("Get \"http://127.0.0.1:"), HasSubstr("/watch\": canceled")));
  transport.Cancel(call + 100);  // of nothing
}

struct SilenceCase {
  const char* name;
  base::Duration timeout, idle_timeout;
  bool begins;  // the server answers, then says no more
  const char* message;
};

class CurlTransportSilence : public ::testing::TestWithParam<SilenceCase> {};

TEST_P(CurlTransportSilence, IsNoticed) {
  const SilenceCase& test = GetParam();
  HttpServer server([&](const ServedRequest&, ServedReply& reply) {
    if (test.begins) reply.Begin(200);
    if (test.begins) reply.Piece("one");
    reply.WaitForEnd();
    reply.Break();
  });
  CurlTransport transport(ConfigFor(server));
  Recorder recorder;
  transport.Start({.path = "/", .timeout = test.timeout, .idle_timeout = test.idle_timeout}, recorder.handler());
  const Result<void> ended = recorder.WaitForEnd();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(ended.error().message, HasSubstr(test.message));
}

INSTANTIATE_TEST_SUITE_P(Cases, CurlTransportSilence,
                         ::testing::Values(SilenceCase{"IdleBeforeTheHead", 0s, 50ms, false, "nothing was heard"},
                                           SilenceCase{"IdleInTheBody", 0s, 50ms, true, "nothing was heard"},
                                           SilenceCase{"LateHead", 50ms, 0s, false, "did not end in time"},
                                           SilenceCase{"LateBody", 50ms, 0s, true, "did not end in time"}),
                         [](const auto& test) { return test.param.name; });

struct GoneCase {
  const char* name;
  bool begins;
};

class CurlTransportGone : public ::testing::TestWithParam<GoneCase> {};

TEST_P(CurlTransportGone, IsAnErrorOfTheConnection) {
  HttpServer server([](const ServedRequest&, ServedReply& reply) {
    if (GetParam().begins) reply.Begin(200);
    if (GetParam().begins) reply.Piece("one");
    reply.Break();
  });
  CurlTransport transport(ConfigFor(server));
  const Result<Response> response = transport.SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable) << response.error().message;
}

INSTANTIATE_TEST_SUITE_P(Cases, CurlTransportGone,
                         ::testing::Values(GoneCase{"BeforeTheHead", false}, GoneCase{"InTheBody", true}),
                         [](const auto& test) { return test.param.name; });

TEST(CurlTransport, SaysThatNobodyListens) {
  auto server = std::make_unique<HttpServer>(SayWhatWasAsked);
  CurlTransport transport(ConfigFor(*server));
  server = nullptr;
  const Result<Response> response = transport.SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("Failed to connect"));
}

TEST(CurlTransport, AsksAgainWithOtherCredentialsAfter401) {
  HttpServer server([](const ServedRequest& request, ServedReply& reply) {
    if (request.Header("authorization") != "Bearer new") return reply.Send(401, "who?");
    reply.Send(200, request.body);
  });
  CurlTransport transport(ConfigFor(server, {{.authorization = "Bearer old"}, {.authorization = "Bearer new"}}));
  Request request = Get("/");
  request.method = "POST";
  request.body = "body";
  const Result<Response> response = transport.SendAndWait(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->head.status, 200);
  EXPECT_EQ(response->body, "body");
}

TEST(CurlTransport, AsksOnlyOnceAgain) {
  std::atomic<int> asked = 0;
  HttpServer server([&](const ServedRequest&, ServedReply& reply) {
    ++asked;
    reply.Send(401, "never");
  });
  CurlTransport transport(ConfigFor(server, {{.authorization = "Bearer a"}, {.authorization = "Bearer b"}}));
  const Result<Response> response = transport.SendAndWait(Get("/"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->head.status, 401);
  EXPECT_EQ(response->body, "never");
  EXPECT_EQ(asked, 2);
}

TEST(CurlTransport, SaysWhyThereAreNoCredentials) {
  HttpServer server(SayWhatWasAsked);
  CurlTransport transport(ConfigFor(server, {}));
  const Result<Response> response = transport.SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("getting credentials: no more credentials"));
}

TEST(CurlTransport, DoesNotWaitForCredentialsBeyondATimeout) {
  HttpServer server(SayWhatWasAsked);
  RestConfig config = ConfigFor(server);
  static_cast<ScriptedCredentials&>(*config.credentials).Block(true);
  CurlTransport transport(config);
  Request request = Get("/");
  request.timeout = 50ms;
  const Result<Response> late = transport.SendAndWait(request);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
  static_cast<ScriptedCredentials&>(*config.credentials).Block(false);
  EXPECT_TRUE(transport.SendAndWait(Get("/")));
}

TEST(CurlTransport, CarriesManyRequestsButNotAllAtOnce) {
  std::atomic<int> now = 0, most = 0;
  HttpServer server([&](const ServedRequest& request, ServedReply& reply) {
    const int open = ++now;
    for (int seen = most; seen < open && !most.compare_exchange_weak(seen, open);) {
    }
    // Leaves before the answer does, since the next request may be here as soon as that is read.
    --now;
    reply.Send(200, request.path);
  });
  CurlTransport transport(ConfigFor(server), {.max_requests = 8});
  constexpr int kRequests = 200;
  std::latch left(kRequests);
  std::mutex mutex;
  std::set<std::string> answers;
  for (int i = 0; i < kRequests; ++i) {
    transport.Send(Get("/" + std::to_string(i)), [&](Result<Response> response) {
      {
        const std::lock_guard lock(mutex);
        if (response) answers.insert(response->body);
      }
      left.count_down();
    });
  }
  left.wait();
  EXPECT_EQ(answers.size(), static_cast<size_t>(kRequests));
  EXPECT_LE(most, 8);
  EXPECT_LE(server.connections(), 8);
}

void AnswerOrWatch(const ServedRequest& request, ServedReply& reply) {
  if (request.path != "/watch") return reply.Send(200, "written");
  reply.Begin(200);
  reply.Piece("one");
  reply.WaitForEnd();
  reply.Break();
}

void ExpectRequestsToPassWatches(const RestConfig& config) {
  std::vector<std::unique_ptr<Recorder>> watches;
  CurlTransport transport(config, {.max_requests = 1});
  for (int i = 0; i < 20; ++i) {
    watches.push_back(std::make_unique<Recorder>());
    transport.Start({.path = "/watch"}, watches.back()->handler());
  }
  for (const auto& watch : watches) watch->WaitFor("data one");
  EXPECT_EQ(transport.SendAndWait(Get("/write"))->body, "written");
}

TEST(CurlTransport, LetsRequestsPassWhileWatchesStay) {
  HttpServer server(AnswerOrWatch);
  ExpectRequestsToPassWatches(ConfigFor(server));
}

TEST(CurlTransport, EndsWhatIsPendingWhenItGoes) {
  HttpServer server([](const ServedRequest&, ServedReply& reply) {
    reply.Begin(200);
    reply.Piece("one");
    reply.WaitForEnd();
    reply.Break();
  });
  Recorder open, queued, held, late;
  {
    CurlTransport transport(ConfigFor(server), {.max_watches = 1});
    transport.Start({.path = "/"}, open.handler());
    transport.Start({.path = "/"}, queued.handler());
    transport.StartAfter(1h, Get("/"), held.handler());
    // A handler that starts another call on its way out gets an answer as well.
    ResponseHandler restarts;
    restarts.on_done = [&](const Result<void>&) { transport.Start(Get("/"), late.handler()); };
    transport.StartAfter(1h, Get("/"), std::move(restarts));
    open.WaitFor("data one");
  }
  for (Recorder* recorder : {&open, &queued, &held, &late}) {
    const Result<void> ended = recorder->WaitForEnd();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(ended.error().message, HasSubstr("shutting down"));
  }
}

TEST(CurlTransport, LeavesWhileCredentialsAreBeingFetched) {
  HttpServer server(SayWhatWasAsked);
  RestConfig config = ConfigFor(server);
  static_cast<ScriptedCredentials&>(*config.credentials).Block(true);
  Recorder recorder;
  {
    CurlTransport transport(config);
    transport.Start(Get("/"), recorder.handler());
  }
  EXPECT_FALSE(recorder.WaitForEnd());
}

class CurlTransportTls : public ::testing::Test {
 protected:
  RestConfig TlsConfig(const HttpServer& server, std::vector<Credentials> credentials = {{}}) const {
    RestConfig config = ConfigFor(server, std::move(credentials));
    config.ca = authority_.certificate();
    return config;
  }

  TestAuthority authority_;
  TlsIdentity server_identity_ = authority_.Issue("apiserver");
};

TEST_F(CurlTransportTls, ShowsAClientCertificate) {
  HttpServer server([](const ServedRequest& request, ServedReply& reply) { reply.Send(200, request.client_name); },
                    {.identity = &server_identity_, .client_authority = authority_.certificate()});
  const TlsIdentity client = authority_.Issue("system:kube-scheduler", "");
  CurlTransport transport(TlsConfig(server, {{.client_certificate = client.certificate, .client_key = client.key}}));
  const Result<Response> response = transport.SendAndWait(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "system:kube-scheduler");
}

TEST_F(CurlTransportTls, ConnectsAnewWithAnotherCertificateAfter401) {
  HttpServer server(
      [](const ServedRequest& request, ServedReply& reply) {
        reply.Send(request.client_name == "new" ? 200 : 401, request.client_name);
      },
      {.identity = &server_identity_, .client_authority = authority_.certificate()});
  std::vector<Credentials> script;
  for (const char* name : {"old", "new"}) {
    const TlsIdentity client = authority_.Issue(name, "");
    script.push_back({.client_certificate = client.certificate, .client_key = client.key});
  }
  CurlTransport transport(TlsConfig(server, script));
  EXPECT_EQ(transport.SendAndWait(Get("/"))->body, "new");
}

TEST_F(CurlTransportTls, LetsRequestsPassWhileWatchesStay) {
  HttpServer server(AnswerOrWatch, {.identity = &server_identity_});
  ExpectRequestsToPassWatches(TlsConfig(server));
}

TEST_F(CurlTransportTls, TrustsNobodyButItsAuthority) {
  HttpServer server(SayWhatWasAsked, {.identity = &server_identity_});
  RestConfig config = TlsConfig(server);
  config.ca = TestAuthority("another-ca").certificate();
  const Result<Response> response = CurlTransport(config).SendAndWait(Get("/api"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(response.error().message,
              AllOf(StartsWith("Get \"" + server.url() + "/api\": tls: failed to verify certificate: "),
                    HasSubstr("unable to get local issuer certificate")));

  config.ca.clear();
  config.insecure = true;
  EXPECT_TRUE(CurlTransport(config).SendAndWait(Get("/api")));
}

TEST_F(CurlTransportTls, ChecksTheNameOfTheServer) {
  const TlsIdentity elsewhere = authority_.Issue("apiserver", "DNS:kubernetes.default");
  HttpServer server([](const ServedRequest& request,
                       ServedReply& reply) { reply.Send(200, request.server_name + " " + request.Header("host")); },
                    {.identity = &elsewhere});
  RestConfig config = TlsConfig(server);
  const Result<Response> refused = CurlTransport(config).SendAndWait(Get("/"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("matches target host name '127.0.0.1'"));

  config.tls_server_name = "kubernetes.default";
  const Result<Response> response = CurlTransport(config).SendAndWait(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "kubernetes.default 127.0.0.1:" + std::to_string(server.port()));
}

TEST_F(CurlTransportTls, SharesOneHttp2ConnectionBetweenManyRequests) {
  // Answers only when all that may be on their way are: were they not sent side by side, none would ever come.
  constexpr int kAtOnce = 64, kRequests = 3 * kAtOnce;
  HttpServer server(SayWhatWasAsked, {.identity = &server_identity_, .http2 = [](ServedConnection& connection) {
                                        ServeHttp2(connection, {.answer_when_open = kAtOnce});
                                      }});
  CurlTransport transport(TlsConfig(server), {.max_requests = kAtOnce});
  std::latch left(kRequests);
  std::atomic<int> right = 0;
  for (int i = 0; i < kRequests; ++i) {
    Request request = Get("/" + std::to_string(i));
    if (i % 2 == 0) request.method = "POST";
    if (i % 2 == 0) request.body = "{}";
    transport.Send(std::move(request), [&](Result<Response> response) {
      if (response && response->head.status == 200 && response->body == kHttp2Body) ++right;
      left.count_down();
    });
  }
  left.wait();
  EXPECT_EQ(right, kRequests);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlTransportTls, TakesNoHalfAnswerForAWholeOne) {
  HttpServer server(SayWhatWasAsked, {.identity = &server_identity_, .http2 = [](ServedConnection& connection) {
                                        ServeHttp2(connection, {.break_off = true});
                                      }});
  const Result<Response> response = CurlTransport(TlsConfig(server)).SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable) << response.error().message;
}

TEST_F(CurlTransportTls, GivesUpAConnectionThatFellSilent) {
  std::atomic<bool> first = true;
  HttpServer server(SayWhatWasAsked, {.identity = &server_identity_, .http2 = [&](ServedConnection& connection) {
                                        ServeHttp2(connection, {.answer_at_most = first.exchange(false) ? 1 : 1000});
                                      }});
  CurlTransport transport(TlsConfig(server), {.silence = 10ms});
  ASSERT_TRUE(transport.SendAndWait(Get("/")));
  Recorder watch;
  transport.Start({.path = "/watch"}, watch.handler());
  Request request = Get("/");
  request.timeout = 50ms;
  const Result<Response> unanswered = transport.SendAndWait(request);
  ASSERT_FALSE(unanswered);
  EXPECT_EQ(unanswered.error().code, ErrorCode::kDeadlineExceeded);
  // The watch could have waited for ever. As not a byte of it had come, libcurl may repeat it on another connection.
  const Result<void> ended = watch.WaitForEnd();
  if (!ended) {
    EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable) << ended.error().message;
  }
  EXPECT_TRUE(transport.SendAndWait(Get("/")));
  EXPECT_EQ(server.connections(), 2);
}

TEST(CurlTransport, GoesThroughAProxy) {
  HttpServer proxy([](const ServedRequest& request, ServedReply& reply) { reply.Send(200, "via " + request.path); });
  RestConfig config = ConfigFor(proxy);
  config.server = "http://apiserver.invalid:80";
  config.proxy_url = proxy.url();
  const Result<Response> response = CurlTransport(config).SendAndWait(Get("/api"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "via http://apiserver.invalid/api");
}

class RecordingObserver final : public RequestObserver {
 public:
  void OnAnswer(std::string_view method, std::string_view host, int status, base::Duration took) override {
    EXPECT_GE(took, 0s);
    hosts.insert(std::string(host));
    Note(std::string(method) + " " + std::to_string(status));
  }
  void OnEnd(std::string_view, std::string_view, size_t sent, size_t received) override {
    Note("end " + std::to_string(sent) + " " + std::to_string(received));
  }
  void OnRateLimited(std::string_view, std::string_view, base::Duration delay) override {
    Note("limited " + std::to_string(delay.count()));
  }
  void OnRetry(std::string_view, std::string_view, int status) override { Note("retry " + std::to_string(status)); }

  std::set<std::string> hosts;
  std::mutex mutex;
  std::vector<std::string> events;

 private:
  void Note(std::string event) {
    const std::lock_guard lock(mutex);
    events.push_back(std::move(event));
  }
};

TEST(CurlTransport, TellsAnObserver) {
  HttpServer server([](const ServedRequest& request, ServedReply& reply) {
    reply.Send(request.Header("authorization") == "Bearer b" ? 201 : 401, "12345");
  });
  RecordingObserver observer;
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  {
    CurlTransport transport(ConfigFor(server, {{.authorization = "Bearer a"}, {.authorization = "Bearer b"}}), {},
                            &observer);
    const base::FakeClock clock;
    RateLimiter limiter(1000, 1, clock);
    LimitedTransport limited(transport, limiter);
    Request request = Get("/");
    request.method = "POST";
    request.body = "123";
    ASSERT_TRUE(limited.SendAndWait(request));
    ASSERT_TRUE(limited.SendAndWait(request));
  }
  EXPECT_THAT(observer.hosts, ElementsAre(host));
  EXPECT_THAT(observer.events, ElementsAre("limited 0", "POST 401", "retry 401", "POST 201", "end 3 5",
                                           "limited 1000000", "POST 201", "end 3 5"));
}

}  // namespace
}  // namespace berth::client
