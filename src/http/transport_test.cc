// What every transport guarantees, over every kind of connection.
#include "http/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <set>
#include <tuple>

#include "http/testing/transport_fixture.h"

namespace berth::http {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

INSTANTIATE_TEST_SUITE_P(Over, TransportTest, kWays, &NameOf);

TEST_P(TransportTest, SendsARequestAndGathersTheAnswer) {
  const auto server = Serve(SayWhatWasAsked);
  const auto transport = Make(ConfigFor(*server));
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    Request request = Get("/api/v1/pods?limit=1");
    request.method = method;
    if (request.method != "GET") request.body = "{}";
    const Result<Response> response = transport->SendAndWait(request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->head.status, 200);
    EXPECT_EQ(response->head.Find("x-kind"), "Echo");
    EXPECT_EQ(response->body, std::string(method) + " /api/v1/pods?limit=1 " + request.body);
  }
  EXPECT_EQ(server->connections(), 1 + probes());
}

TEST_P(TransportTest, KeepsAPrefixOfTheServersPath) {
  const auto server = Serve(SayWhatWasAsked);
  RestConfig config = ConfigFor(*server);
  config.server += "/k8s/clusters/one";
  const auto transport = Make(config);
  EXPECT_EQ(transport->SendAndWait(Get("/api"))->body, "GET /k8s/clusters/one/api ");
}

TEST_P(TransportTest, AddsWhoIsAskingToEveryRequest) {
  std::multimap<std::string, std::string> seen;
  const auto server = Serve([&](const ServedRequest& request, ServedReply& reply) {
    seen = request.headers;
    reply.Send(200, "");
  });
  RestConfig config = ConfigFor(*server, {{.authorization = "Bearer abc"}});
  config.impersonation = {{"Impersonate-User", "jane"}, {"Impersonate-Group", "a"}, {"Impersonate-Group", "b"}};
  const auto transport = Make(config);
  Request request = Get("/");
  request.headers = {{"Accept", "application/json"}};
  ASSERT_TRUE(transport->SendAndWait(request));
  EXPECT_THAT(seen, ::testing::IsSupersetOf(
                        std::vector<std::pair<const std::string, std::string>>{{"authorization", "Bearer abc"},
                                                                               {"user-agent", "test-agent"},
                                                                               {"accept", "application/json"},
                                                                               {"impersonate-user", "jane"},
                                                                               {"impersonate-group", "a"},
                                                                               {"impersonate-group", "b"}}));
  EXPECT_EQ(seen.count("accept-encoding"), 0u);
}

TEST_P(TransportTest, TakesCompressedAnswersWhenAllowed) {
  const auto server = Serve([](const ServedRequest& request, ServedReply& reply) {
    // gzip of "compressed", with no name and no time.
    static constexpr unsigned char kBytes[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff,
                                               0x4b, 0xce, 0xcf, 0x2d, 0x28, 0x4a, 0x2d, 0x2e, 0x4e, 0x4d,
                                               0x01, 0x00, 0x1e, 0x4b, 0x56, 0x97, 0x0a, 0x00, 0x00, 0x00};
    EXPECT_EQ(request.Header("accept-encoding"), "gzip");
    reply.Send(200, {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)}, {{"Content-Encoding", "gzip"}});
  });
  RestConfig config = ConfigFor(*server);
  config.disable_compression = false;
  const auto transport = Make(config);
  const Result<Response> response = transport->SendAndWait(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "compressed");
}

TEST_P(TransportTest, SaysThatACompressedAnswerIsBroken) {
  const auto server = Serve([](const ServedRequest& request, ServedReply& reply) {
    const std::string_view body(request.path == "/short" ? "\x1f\x8b\x08" : "not compressed");
    reply.Send(200, body, {{"Content-Encoding", "gzip"}});
  });
  RestConfig config = ConfigFor(*server);
  config.disable_compression = false;
  const auto transport = Make(config);
  for (const char* path : {"/short", "/wrong"}) {
    const Result<Response> response = transport->SendAndWait(Get(path));
    ASSERT_FALSE(response) << path;
    EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(response.error().message, HasSubstr("the compressed answer"));
  }
  // A caller that asks for gzip itself gets the body undecoded.
  Request request = Get("/wrong");
  request.headers = {{"Accept-Encoding", "gzip"}};
  EXPECT_EQ(transport->SendAndWait(request)->body, "not compressed");
}

TEST_P(TransportTest, RefusesToSendWhatWouldBeTwoRequests) {
  const auto server = Serve(SayWhatWasAsked);
  const auto transport = Make(ConfigFor(*server));
  Request bad_path = Get("/a HTTP/1.1\r\nX: y"), bad_name = Get("/"), bad_method = Get("/");
  bad_name.headers = {{"X\r\nY", "z"}};
  bad_method.method = "GET / HTTP/1.1\r\n";
  for (const Request& request : {bad_path, bad_name, bad_method}) {
    const Result<Response> response = transport->SendAndWait(request);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(response.error().message, HasSubstr("invalid "));
  }
  EXPECT_EQ(server->connections(), 0);
}

TEST_P(TransportTest, RefusesAHeaderThatWouldBeTwo) {
  const auto server = Serve(SayWhatWasAsked);
  const auto transport = Make(ConfigFor(*server, {{.authorization = "Bearer a\r\nX-Admin: yes"}}));
  const Result<Response> response = transport->SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_THAT(response.error().message, HasSubstr("invalid header field value for \"Authorization\""));
}

TEST_P(TransportTest, HandsOnAStreamAsItComes) {
  std::promise<void> more;
  const auto server = Serve([&](const ServedRequest&, ServedReply& reply) {
    reply.Begin(200);
    reply.Piece("one");
    more.get_future().wait();
    reply.Piece("two");
    reply.End();
  });
  const auto transport = Make(ConfigFor(*server));
  Recorder recorder;
  transport->Start({.path = "/watch"}, recorder.handler());
  recorder.WaitFor("data one");
  more.set_value();
  EXPECT_TRUE(recorder.WaitForEnd());
  EXPECT_THAT(recorder.events(), ElementsAre("head 200", "data one", "data two", "done"));
}

TEST_P(TransportTest, EndsAStreamThatIsCanceled) {
  const auto server = Serve([](const ServedRequest&, ServedReply& reply) {
    reply.Begin(200);
    reply.Piece("one");
    reply.WaitForEnd();
    reply.Break();
  });
  const auto transport = Make(ConfigFor(*server));
  Recorder recorder;
  const CallId call = transport->Start({.path = "/watch"}, recorder.handler());
  recorder.WaitFor("data one");
  transport->Cancel(call);
  transport->Cancel(call);
  const Result<void> ended = recorder.WaitForEnd();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(ended.error().message,
              AllOf(StartsWith("Get \"" + server->url() + "/"), HasSubstr("/watch\": canceled")));
  transport->Cancel(call + 100);  // no such call
}

struct SilenceCase {
  const char* name;
  base::Duration timeout, idle_timeout;
  bool begins;  // the server sends a head, then nothing more
  const char* message;
};

class TransportSilence : public TransportOver, public ::testing::WithParamInterface<std::tuple<Way, SilenceCase>> {
 protected:
  TransportSilence() : TransportOver(std::get<Way>(GetParam())) {}
};

TEST_P(TransportSilence, IsNoticed) {
  const SilenceCase& test = std::get<SilenceCase>(GetParam());
  const auto server = Serve([&](const ServedRequest&, ServedReply& reply) {
    if (test.begins) reply.Begin(200);
    if (test.begins) reply.Piece("one");
    reply.WaitForEnd();
    reply.Break();
  });
  const auto transport = Make(ConfigFor(*server));
  Recorder recorder;
  transport->Start({.path = "/", .timeout = test.timeout, .idle_timeout = test.idle_timeout}, recorder.handler());
  const Result<void> ended = recorder.WaitForEnd();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(ended.error().message, HasSubstr(test.message));
}

constexpr SilenceCase kSilences[] = {{"IdleBeforeTheHead", 0s, 50ms, false, "nothing was heard"},
                                     {"IdleInTheBody", 0s, 50ms, true, "nothing was heard"},
                                     {"LateHead", 50ms, 0s, false, "did not end in time"},
                                     {"LateBody", 50ms, 0s, true, "did not end in time"}};

INSTANTIATE_TEST_SUITE_P(Cases, TransportSilence, ::testing::Combine(kWays, ::testing::ValuesIn(kSilences)),
                         [](const auto& test) {
                           return std::string(std::get<Way>(test.param).name) + std::get<SilenceCase>(test.param).name;
                         });

TEST_P(TransportTest, SaysThatTheConnectionIsGone) {
  for (const bool begins : {false, true}) {
    const auto server = Serve([begins](const ServedRequest&, ServedReply& reply) {
      if (begins) reply.Begin(200);
      if (begins) reply.Piece("one");
      reply.Break();
    });
    const Result<Response> response = Make(ConfigFor(*server))->SendAndWait(Get("/"));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::kUnavailable) << response.error().message;
  }
}

TEST_P(TransportTest, SaysThatNobodyListens) {
  auto server = Serve(SayWhatWasAsked);
  const auto transport = Make(ConfigFor(*server));
  server = nullptr;
  const Result<Response> response = transport->SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("Failed to connect"));
}

TEST_P(TransportTest, AsksAgainWithOtherCredentialsAfter401) {
  const auto server = Serve([](const ServedRequest& request, ServedReply& reply) {
    if (request.Header("authorization") != "Bearer new") return reply.Send(401, "who?");
    reply.Send(200, request.body);
  });
  const auto transport = Make(ConfigFor(*server, {{.authorization = "Bearer old"}, {.authorization = "Bearer new"}}));
  Request request = Get("/");
  request.method = "POST";
  request.body = "body";
  const Result<Response> response = transport->SendAndWait(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->head.status, 200);
  EXPECT_EQ(response->body, "body");
}

TEST_P(TransportTest, AsksOnlyOnceAgain) {
  std::atomic<int> asked = 0;
  const auto server = Serve([&](const ServedRequest&, ServedReply& reply) {
    ++asked;
    reply.Send(401, "never");
  });
  const auto transport = Make(ConfigFor(*server, {{.authorization = "Bearer a"}, {.authorization = "Bearer b"}}));
  const Result<Response> response = transport->SendAndWait(Get("/"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->head.status, 401);
  EXPECT_EQ(response->body, "never");
  EXPECT_EQ(asked, 2);
}

TEST_P(TransportTest, SaysWhyThereAreNoCredentials) {
  const auto server = Serve(SayWhatWasAsked);
  const auto transport = Make(ConfigFor(*server, {}));
  const Result<Response> response = transport->SendAndWait(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("getting credentials: no more credentials"));
}

TEST_P(TransportTest, DoesNotWaitForCredentialsBeyondATimeout) {
  const auto server = Serve(SayWhatWasAsked);
  RestConfig config = ConfigFor(*server);
  static_cast<ScriptedCredentials&>(*config.credentials).Block(true);
  const auto transport = Make(config);
  Request request = Get("/");
  request.timeout = 50ms;
  const Result<Response> late = transport->SendAndWait(request);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
  static_cast<ScriptedCredentials&>(*config.credentials).Block(false);
  EXPECT_TRUE(transport->SendAndWait(Get("/")));
}

TEST_P(TransportTest, CarriesManyRequestsButNotAllAtOnce) {
  std::atomic<int> now = 0, most = 0;
  const auto server = Serve([&](const ServedRequest& request, ServedReply& reply) {
    const int open = ++now;
    for (int seen = most; seen < open && !most.compare_exchange_weak(seen, open);) {
    }
    // Decremented before the answer is sent, since the next request may arrive as soon as the client has read it.
    --now;
    reply.Send(200, request.path);
  });
  const auto transport = Make(ConfigFor(*server), {.max_requests = 8});
  constexpr int kRequests = 200;
  std::latch left(kRequests);
  std::mutex mutex;
  std::set<std::string> answers;
  for (int i = 0; i < kRequests; ++i) {
    transport->Send(Get("/" + std::to_string(i)), [&](Result<Response> response) {
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
  EXPECT_LE(server->connections(), 8 + probes());
}

void AnswerOrWatch(const ServedRequest& request, ServedReply& reply) {
  if (request.path != "/watch") return reply.Send(200, "written");
  reply.Begin(200);
  reply.Piece("one");
  reply.WaitForEnd();
  reply.Break();
}

TEST_P(TransportTest, LetsRequestsPassWhileWatchesStay) {
  const auto server = Serve(AnswerOrWatch);
  std::vector<std::unique_ptr<Recorder>> watches;
  const auto transport = Make(ConfigFor(*server), {.max_requests = 1});
  for (int i = 0; i < 20; ++i) {
    watches.push_back(std::make_unique<Recorder>());
    transport->Start({.path = "/watch"}, watches.back()->handler());
  }
  for (const auto& watch : watches) watch->WaitFor("data one");
  EXPECT_EQ(transport->SendAndWait(Get("/write"))->body, "written");
}

TEST_P(TransportTest, ALeaseWaitedBehindRequestsThatWereNotAnswered) {
  const auto server = Serve([](const ServedRequest& request, ServedReply& reply) {
    if (request.path == "/lease") return reply.Send(200, "renewed");
    reply.WaitForEnd();
    reply.Break();
  });
  std::vector<std::unique_ptr<Recorder>> unanswered;
  const auto transport = Make(ConfigFor(*server), {.max_requests = 2});
  for (int i = 0; i < 4; ++i) {
    unanswered.push_back(std::make_unique<Recorder>());
    transport->Start(Get("/hangs"), unanswered.back()->handler());
  }
  Request lease = Get("/lease");
  lease.urgent = true;
  EXPECT_EQ(transport->SendAndWait(lease)->body, "renewed");
}

TEST_P(TransportTest, HoldsBackAServerWhoseAnswerIsNotUsed) {
  constexpr size_t kAllBytes = 4 * kPacedBytes;
  const auto server = Serve([](const ServedRequest& request, ServedReply& reply) {
    reply.Send(200, request.path == "/list" ? std::string(kAllBytes, 'x') : "short");
  });
  const auto transport = Make(ConfigFor(*server));
  std::mutex mutex;
  std::condition_variable changed;
  size_t received = 0;
  bool done = false;
  const auto wait_for = [&](size_t bytes) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return received >= bytes; });
  };
  const CallId call = transport->Start({.path = "/list", .timeout = 30s, .paced = true},
                                       {.on_data =
                                            [&](std::string_view bytes) {
                                              const std::lock_guard lock(mutex);
                                              received += bytes.size();
                                              changed.notify_all();
                                            },
                                        .on_done =
                                            [&](const Result<void>& ended) {
                                              EXPECT_TRUE(ended) << ended.error().message;
                                              const std::lock_guard lock(mutex);
                                              done = true;
                                              changed.notify_all();
                                            }});
  wait_for(kPacedBytes);
  // Other requests are answered meanwhile, and no more of the paced answer arrives.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "short");
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(received, kPacedBytes);
  }
  for (size_t used = kPacedBytes; used < kAllBytes; used += kPacedBytes) {
    transport->Consumed(call, kPacedBytes);
    wait_for(used + kPacedBytes);
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done; });
  EXPECT_EQ(received, kAllBytes);
}

TEST_P(TransportTest, EndsWhatIsPendingWhenItGoes) {
  const auto server = Serve([](const ServedRequest&, ServedReply& reply) {
    reply.Begin(200);
    reply.Piece("one");
    reply.WaitForEnd();
    reply.Break();
  });
  Recorder open, queued, late;
  {
    const auto transport = Make(ConfigFor(*server), {.max_watches = 1});
    transport->Start({.path = "/"}, open.handler());
    transport->Start({.path = "/"}, queued.handler());
    // A handler that starts another call during shutdown gets an answer as well.
    ResponseHandler restarts;
    restarts.on_done = [&](const Result<void>&) { transport->Start(Get("/"), late.handler()); };
    transport->Start({.path = "/"}, std::move(restarts));
    open.WaitFor("data one");
  }
  for (Recorder* recorder : {&open, &queued, &late}) {
    const Result<void> ended = recorder->WaitForEnd();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(ended.error().message, HasSubstr("shutting down"));
  }
}

TEST_P(TransportTest, LeavesWhileCredentialsAreBeingFetched) {
  const auto server = Serve(SayWhatWasAsked);
  RestConfig config = ConfigFor(*server);
  static_cast<ScriptedCredentials&>(*config.credentials).Block(true);
  Recorder recorder;
  {
    const auto transport = Make(config);
    transport->Start(Get("/"), recorder.handler());
  }
  EXPECT_FALSE(recorder.WaitForEnd());
}

class TransportTlsTest : public TransportTest {};

INSTANTIATE_TEST_SUITE_P(Over, TransportTlsTest, kWaysWithTls, &NameOf);

TEST_P(TransportTlsTest, ShowsAClientCertificate) {
  const auto server =
      Serve([](const ServedRequest& request, ServedReply& reply) { reply.Send(200, request.client_name); },
            {.identity = &server_identity_, .client_authority = authority_.certificate()});
  const TlsIdentity client = authority_.Issue("system:kube-scheduler", "");
  const auto transport =
      Make(ConfigFor(*server, {{.client_certificate = client.certificate, .client_key = client.key}}));
  const Result<Response> response = transport->SendAndWait(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "system:kube-scheduler");
}

TEST_P(TransportTlsTest, ConnectsAnewWithAnotherCertificateAfter401) {
  const auto server =
      Serve([](const ServedRequest& request,
               ServedReply& reply) { reply.Send(request.client_name == "new" ? 200 : 401, request.client_name); },
            {.identity = &server_identity_, .client_authority = authority_.certificate()});
  std::vector<Credentials> script;
  for (const char* name : {"old", "new"}) {
    const TlsIdentity client = authority_.Issue(name, "");
    script.push_back({.client_certificate = client.certificate, .client_key = client.key});
  }
  const auto transport = Make(ConfigFor(*server, script));
  EXPECT_EQ(transport->SendAndWait(Get("/"))->body, "new");
}

TEST_P(TransportTlsTest, TrustsNobodyButItsAuthority) {
  const auto server = Serve(SayWhatWasAsked, {.identity = &server_identity_});
  RestConfig config = ConfigFor(*server);
  config.ca = TestAuthority("another-ca").certificate();
  const Result<Response> response = Make(config)->SendAndWait(Get("/api"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(response.error().message,
              AllOf(StartsWith("Get \"" + server->url() + "/api\": tls: failed to verify certificate: "),
                    HasSubstr("unable to get local issuer certificate")));

  config.ca.clear();
  config.insecure = true;
  EXPECT_TRUE(Make(config)->SendAndWait(Get("/api")));
}

TEST_P(TransportTlsTest, ChecksTheNameOfTheServer) {
  const TlsIdentity elsewhere = authority_.Issue("apiserver", "DNS:kubernetes.default");
  const auto server =
      Serve([](const ServedRequest& request,
               ServedReply& reply) { reply.Send(200, request.server_name + " " + request.Header("host")); },
            {.identity = &elsewhere});
  RestConfig config = ConfigFor(*server);
  const Result<Response> refused = Make(config)->SendAndWait(Get("/"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("matches target host name '127.0.0.1'"));

  config.tls_server_name = "kubernetes.default";
  const Result<Response> response = Make(config)->SendAndWait(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "kubernetes.default 127.0.0.1:" + std::to_string(server->port()));
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

TEST_P(TransportTest, TellsAnObserver) {
  const auto server = Serve([](const ServedRequest& request, ServedReply& reply) {
    reply.Send(request.Header("authorization") == "Bearer b" ? 201 : 401, "12345");
  });
  RecordingObserver observer;
  const std::string host = "127.0.0.1:" + std::to_string(server->port());
  {
    const auto transport =
        Make(ConfigFor(*server, {{.authorization = "Bearer a"}, {.authorization = "Bearer b"}}), {}, &observer);
    Request request = Get("/");
    request.method = "POST";
    request.body = "123";
    ASSERT_TRUE(transport->SendAndWait(request));
    ASSERT_TRUE(transport->SendAndWait(request));
  }
  EXPECT_THAT(observer.hosts, ElementsAre(host));
  EXPECT_THAT(observer.events, ElementsAre("POST 401", "retry 401", "POST 201", "end 3 5", "POST 201", "end 3 5"));
}

}  // namespace
}  // namespace berth::http
