// The whole server over real sockets and real TLS.
#include "serving/secure_serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "base/random.h"
#include "serving/testing/certificates.h"
#include "serving/testing/fake_reviewer.h"
#include "serving/testing/https_client.h"

namespace berth::serving {
namespace {

using std::chrono_literals::operator""ms;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Blocks waiting threads until it is opened.
class Gate {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void AwaitWaiters(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

class SecureServingTest : public testing::Test {
 protected:
  SecureServingTest() {
    std::signal(SIGPIPE, SIG_IGN);  // our own raw clients write to connections that the server has closed
    reviewer_.tokens["prom"] = {.name = "prometheus"};
    reviewer_.tokens["jane"] = {.name = "jane"};
    for (const char* path : {"/metrics", "/metrics/resources", "/metrics/slis", "/configz", "/flagz", "/statusz",
                             "/version", "/", "/healthz/ping"}) {
      reviewer_.allowed.insert({"prometheus", path});
    }
    options_.server.bind_address = "127.0.0.1";
    // RSA keys are slow to generate: one pair serves all tests that are not about generating one.
    static const PemPair kPair = *GenerateSelfSigned({}, KeyKind::kRsa, base::SystemClock().Now());
    options_.tls.cert_file = folder_.Write("served.crt", kPair.certificate);
    options_.tls.private_key_file = folder_.Write("served.key", kPair.private_key);
    attempts_ = &registry_.AddSingle<metrics::Counter>({.name = "attempts_total", .help = "Attempts."});
    pages_.metrics = &registry_;
    pages_.build = {.major = "1", .minor = "36", .git_version = "v1.36.4"};
    pages_.configuration = [] { return std::string("{\"parallelism\":16}"); };
    pages_.flags = [] { return std::map<std::string, std::string>{{"v", "2"}}; };
    pages_.pod_resources = [](PodResourceWriter& writer) {
      api::Pod pod;
      pod.metadata.name = "web";
      api::ResourceList requests;
      requests.Set(Symbol("cpu"), api::Quantity::FromInt(2));
      writer.Add(pod, requests, {});
    };
    pages_.is_leader = [this] { return leader_.load(); };
    pages_.readyz = {{"sched-handler-sync", [this]() -> std::optional<std::string> {
                        if (synced_) return std::nullopt;
                        return "handlers are not fully synchronized";
                      }}};
  }

  SecureServing& Start(bool with_reviewer = true) {
    Reviewer* reviewer = with_reviewer ? &reviewer_ : nullptr;
    auto started = SecureServing::Start(options_, pages_, reviewer, reviewer, clock_);
    EXPECT_TRUE(started.ok()) << started.error().message;
    serving_ = std::move(*started);
    return *serving_;
  }
  Fetched Get(const std::string& path, const char* method = "GET") {
    return TestClient(serving_->port()).Header("Authorization: Bearer prom").Get(path, method);
  }
  Fetched GetAnonymously(const std::string& path) { return TestClient(serving_->port()).Get(path); }

  base::SystemClock clock_;
  TestFolder folder_;
  FakeReviewer reviewer_;
  metrics::Registry registry_;
  metrics::Counter* attempts_;
  std::atomic<bool> leader_ = true;
  std::atomic<bool> synced_ = true;
  SecureServingOptions options_;
  Pages pages_;
  std::unique_ptr<SecureServing> serving_;
};

TEST_F(SecureServingTest, DebugPagesAreBehindTheSameReviewsAsMetrics) {
  pages_.debug = [](const HttpRequest& request) { return HttpResponse{.body = "debug " + request.path}; };
  reviewer_.allowed.insert({"prometheus", "/debug/berth/pods/shop/web/explain"});
  Start();
  const std::string page = "/debug/berth/pods/shop/web/explain";
  EXPECT_EQ(GetAnonymously(page).status, 403);
  EXPECT_EQ(TestClient(serving_->port()).Header("Authorization: Bearer jane").Get(page, "GET").status, 403);
  EXPECT_EQ(TestClient(serving_->port()).Header("Authorization: Bearer nonsense").Get(page, "GET").status, 401);
  EXPECT_EQ(Get(page).status, 200);
  EXPECT_EQ(Get(page).body, "debug " + page);
  EXPECT_EQ(Get("/debug/berth/queue").status, 403) << "a right to one page is none to another";
  EXPECT_EQ(Get("/debug/berth").status, 403);
}

// The API server's pod proxy removes the client's own credentials.
TEST_F(SecureServingTest, ATokenForThisProgramAloneCountsForDebugPagesAlone) {
  pages_.debug = [](const HttpRequest&) { return HttpResponse{.body = "debug"}; };
  reviewer_.tokens["berth-scheduler:short"] = {.name = "reader"};
  reviewer_.allowed.insert({"reader", "/debug/berth/queue"});
  reviewer_.allowed.insert({"reader", "/metrics"});
  reviewer_.allowed.insert({"prometheus", "/debug/berth/queue"});
  Start();
  const auto get = [&](const std::string& path, const std::string& header) {
    return TestClient(serving_->port()).Header(header).Get(path, "GET").status;
  };
  EXPECT_EQ(get("/debug/berth/queue", "X-Berth-Token: short"), 200);
  EXPECT_EQ(get("/debug/berth/nodes", "X-Berth-Token: short"), 403);
  EXPECT_EQ(get("/metrics", "X-Berth-Token: short"), 403) << "anonymous there";
  EXPECT_EQ(get("/debug/berth/queue", "X-Berth-Token: prom"), 401)
      << "a token for the API server is not accepted there";
  EXPECT_EQ(get("/debug/berth/queue", "Authorization: Bearer short"), 401) << "nor the other way round";
}

TEST_F(SecureServingTest, ShowsAnonymousClientsNothingButHealth) {
  Start();
  for (const char* path : {"/healthz", "/livez", "/readyz"}) {
    const Fetched fetched = GetAnonymously(path);
    EXPECT_EQ(fetched.status, 200) << path;
    EXPECT_EQ(fetched.body, "ok") << path;
  }
  for (const char* path : {"/metrics", "/metrics/resources", "/configz", "/healthz/ping", "/", "/nowhere"}) {
    const Fetched fetched = GetAnonymously(path);
    EXPECT_EQ(fetched.status, 403) << path;
    EXPECT_THAT(fetched.body, HasSubstr("forbidden: User \\\"system:anonymous\\\" cannot get path \\\"" +
                                        std::string(path) + "\\\""));
  }
}

TEST_F(SecureServingTest, ServesEveryPageToWhoMaySeeIt) {
  Start();
  attempts_->Add(3);
  struct Case {
    const char* path;
    const char* body;
    const char* type;
  };
  for (const Case& c :
       {Case{"/metrics", "# HELP attempts_total Attempts.\n# TYPE attempts_total counter\nattempts_total 3\n",
             "text/plain; version=0.0.4; charset=utf-8"},
        Case{"/metrics/resources", "resource=\"cpu\",scheduler=\"\",unit=\"cores\"} 2\n", "text/plain; version=0.0.4"},
        Case{"/configz", "{\"componentconfig\":{\"parallelism\":16}}", "application/json"},
        Case{"/flagz", "\nv=2\n", "text/plain; charset=utf-8"},
        Case{"/statusz", "Paths: /configz /flagz /healthz /livez /metrics /readyz /statusz /version\n", "text/plain"},
        Case{"/version", "\"gitVersion\": \"v1.36.4\"", "application/json"},
        Case{"/healthz/ping", "ok", "text/plain"}}) {
    const Fetched fetched = Get(c.path);
    EXPECT_EQ(fetched.status, 200) << c.path << fetched.body;
    EXPECT_THAT(fetched.body, HasSubstr(c.body)) << c.path;
    EXPECT_THAT(fetched.headers, HasSubstr("Content-Type: " + std::string(c.type))) << c.path;
    EXPECT_THAT(fetched.headers, HasSubstr("Cache-Control: no-cache, private")) << c.path;
  }
  const Fetched missing = Get("/");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.body, "404 page not found\n");
  EXPECT_EQ(Get("/metrics", "DELETE").body, "metrics reset\n");
  EXPECT_THAT(Get("/metrics").body, HasSubstr("attempts_total 0\n"));
  leader_ = false;
  EXPECT_EQ(Get("/metrics/resources").body, "");
  synced_ = false;
  const Fetched unready = GetAnonymously("/readyz");
  EXPECT_EQ(unready.status, 500);
  EXPECT_EQ(unready.body, "[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n");
  EXPECT_THAT(Get("/metrics/slis").body,
              HasSubstr("kubernetes_healthcheck{name=\"sched-handler-sync\",type=\"readyz\"} 0\n"));
}

TEST_F(SecureServingTest, TellsWrongCredentialsFromMissingRights) {
  Start();
  const auto with_token = [&](const std::string& token) {
    return TestClient(serving_->port()).Header("Authorization: Bearer " + token).Get("/metrics");
  };
  EXPECT_EQ(with_token("prom").status, 200);
  EXPECT_THAT(with_token("jane").body, HasSubstr("User \\\"jane\\\" cannot get path \\\"/metrics\\\""));
  EXPECT_EQ(with_token("jane").status, 403);
  EXPECT_EQ(with_token("stolen").status, 401);
  // A wrong token fails even if none is needed.
  EXPECT_EQ(TestClient(serving_->port()).Header("Authorization: Bearer stolen").Get("/healthz").status, 401);
  reviewer_.down = true;
  EXPECT_EQ(with_token("unknown").status, 401);
  reviewer_.allowed.clear();
  const Fetched unknown = GetAnonymously("/version");
  EXPECT_EQ(unknown.status, 500);
  EXPECT_EQ(unknown.body, "Internal Server Error: \"/version\": the API server is down\n");
}

TEST_F(SecureServingTest, TakesClientCertificates) {
  const TestAuthority authority("cluster-ca");
  options_.authentication.client_ca_file = folder_.Write("ca.crt", authority.pem());
  Start(/*with_reviewer=*/false);
  const auto as = [&](const PemPair& pair, const char* path) {
    return TestClient(serving_->port()).Certificate(pair).Get(path).status;
  };
  EXPECT_EQ(as(authority.Sign({"admin", {"system:masters"}}), "/metrics"), 200);
  EXPECT_EQ(as(authority.Sign({"jane"}), "/metrics"), 403);
  EXPECT_EQ(as(TestAuthority("cluster-ca").Sign({"admin", {"system:masters"}}), "/metrics"), 401);
  EXPECT_EQ(as(TestAuthority("cluster-ca").Sign({"admin", {"system:masters"}}), "/healthz"), 401);
}

TEST_F(SecureServingTest, KeepsConnectionsAndKnowsHead) {
  Start();
  TestClient client(serving_->port());
  EXPECT_EQ(client.Get("/healthz").connects, 1);
  const Fetched again = client.Get("/healthz?verbose");
  EXPECT_EQ(again.connects, 0);
  EXPECT_EQ(again.body, "[+]ping ok\nhealthz check passed\n");
  const Fetched head = client.Get("/healthz", "HEAD");
  EXPECT_EQ(head.connects, 0);
  EXPECT_EQ(head.body, "");
  EXPECT_THAT(head.headers, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_EQ(client.Get("/livez").connects, 0);
}

TEST_F(SecureServingTest, MakesUpACertificateForItself) {
  options_.tls = {};
  Start();
  const Fetched fetched = GetAnonymously("/healthz");
  ASSERT_THAT(fetched.server_certificate, HasSubstr("BEGIN CERTIFICATE"));
  // The certificate contains the name and the address that a client would verify.
  for (const char* host : {"localhost", "127.0.0.1"}) {
    const std::vector<CertificateHandle> own = ReadPemCertificates(fetched.server_certificate);
    const bool is_address = std::string_view(host) == "127.0.0.1";
    EXPECT_EQ(
        is_address ? X509_check_ip_asc(own[0].get(), host, 0) : X509_check_host(own[0].get(), host, 0, 0, nullptr), 1)
        << host;
  }
}

TEST_F(SecureServingTest, KeepsWhatItMadeUpInTheCertificateFolder) {
  options_.tls = {};
  options_.tls.cert_dir = folder_.path() + "/pki";
  Start();
  const std::string first = GetAnonymously("/healthz").server_certificate;
  struct stat info {};
  ASSERT_EQ(::stat((options_.tls.cert_dir + "/kube-scheduler.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  serving_.reset();
  Start();
  EXPECT_EQ(GetAnonymously("/healthz").server_certificate, first);
}

TEST_F(SecureServingTest, ReadsChangedCertificateFilesAgain) {
  const auto pair = [this] { return *GenerateSelfSigned({}, KeyKind::kEcdsa, clock_.Now()); };
  const PemPair first = pair();
  const PemPair second = pair();
  options_.tls.cert_file = folder_.Write("tls.crt", first.certificate);
  options_.tls.private_key_file = folder_.Write("tls.key", first.private_key);
  Start();
  const auto served = [this] { return DerOf(GetAnonymously("/healthz").server_certificate); };
  TestClient connected_before(serving_->port());
  connected_before.Get("/healthz");
  EXPECT_EQ(served(), DerOf(first.certificate));
  folder_.Write("tls.crt", second.certificate);  // not a pair yet
  EXPECT_EQ(served(), DerOf(first.certificate));
  folder_.Write("tls.key", second.private_key);
  EXPECT_EQ(served(), DerOf(second.certificate));
  EXPECT_EQ(connected_before.Get("/healthz").connects, 0);
}

TEST_F(SecureServingTest, RefusesWhatItCannotServe) {
  struct Case {
    std::function<void(SecureServingOptions&)> change;
    const char* error;
  };
  options_.tls = {};
  for (const Case& c : {
           Case{[](auto& o) { o.server.bind_address = "localhost"; }, "--bind-address: expected an IP address"},
           Case{[](auto& o) { o.server.bind_address = "192.0.2.1"; },
                "failed to create listener: listen tcp 192.0.2.1:0"},
           Case{[](auto& o) { o.tls.cert_file = "only.crt"; }, "belong together"},
           Case{[](auto& o) { o.tls.cert_file = "none.crt", o.tls.private_key_file = "none.key"; },
                "none.crt: cannot be read"},
           Case{[](auto& o) { o.tls.min_version = "VersionTLS14"; }, "--tls-min-version: expected"},
           Case{[](auto& o) { o.tls.cipher_suites = {"TLS_ROT13"}; },
                "Cipher suite TLS_ROT13 not supported or doesn't exist"},
           Case{[](auto& o) { o.authorization.always_allow_paths = {"/*a"}; }, "only trailing * allowed"},
       }) {
    SecureServingOptions options = options_;
    c.change(options);
    const auto started = SecureServing::Start(options, pages_, nullptr, nullptr, clock_);
    ASSERT_FALSE(started.ok()) << c.error;
    EXPECT_THAT(started.error().message, HasSubstr(c.error));
  }
}

TEST_F(SecureServingTest, HoldsToVersionsAndCiphers) {
  options_.tls.cipher_suites = {"TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"};
  Start();
  const auto with = [this](int version, const char* ciphers) {
    return TestClient(serving_->port()).Versions(version, version, ciphers).Get("/healthz").status == 200;
  };
  EXPECT_TRUE(with(TLS1_3_VERSION, "DEFAULT"));
  EXPECT_TRUE(with(TLS1_2_VERSION, "ECDHE-RSA-CHACHA20-POLY1305"));
  EXPECT_FALSE(with(TLS1_2_VERSION, "ECDHE-RSA-AES128-GCM-SHA256"));
  EXPECT_FALSE(with(TLS1_1_VERSION, "DEFAULT@SECLEVEL=0"));
  options_.tls.min_version = "VersionTLS13";
  Start();
  EXPECT_FALSE(with(TLS1_2_VERSION, "DEFAULT"));
  EXPECT_TRUE(with(TLS1_3_VERSION, "DEFAULT"));
}

TEST_F(SecureServingTest, AnswersBadRequestsAndEndsThem) {
  Start();
  struct Case {
    std::string bytes;
    const char* answer;
  };
  const std::string host = "Host: x\r\n";
  for (const Case& c : {
           Case{"rubbish\r\n\r\n", "HTTP/1.1 400 "},
           Case{"GET /healthz HTTP/9.9\r\n\r\n", "HTTP/1.1 400 "},
           Case{"GET %zz HTTP/1.1\r\n" + host + "\r\n", "HTTP/1.1 400 "},
           Case{"GET /%zz HTTP/1.1\r\n" + host + "\r\n", "HTTP/1.1 400 "},
           Case{"GET http://x/ HTTP/1.1\r\n" + host + "\r\n", "HTTP/1.1 400 "},
           Case{"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 400 "},
           Case{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400 "},
           Case{"GET / HTTP/1.1\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n", "HTTP/1.1 431 "},
           Case{"POST /healthz HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", "HTTP/1.1 413 "},
           Case{"GET /healthz HTTP/1.0\r\n\r\n", "HTTP/1.1 200 "},
           Case{"BREW /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 "},
       }) {
    RawClient client(serving_->port());
    ASSERT_TRUE(client.connected());
    client.Send(c.bytes);
    EXPECT_THAT(client.ReadAll(), StartsWith(c.answer)) << c.bytes.substr(0, 60);
  }
}

TEST_F(SecureServingTest, SurvivesRubbish) {
  options_.server.handshake_timeout = 2000ms;
  options_.server.request_timeout = 500ms;
  Start();
  base::Random random(7);
  for (int i = 0; i < 60; ++i) {
    std::string bytes;
    if (i % 3 == 1) bytes = "GET /metrics HTTP/1.1\r\nAuthorization: Bearer ";
    if (i % 3 == 2) bytes = "\x16\x03\x01";  // the beginning of a handshake
    const uint64_t size = random.Below(2000);
    for (uint64_t at = 0; at < size; ++at) bytes += static_cast<char>(random.Below(256));
    RawClient client(serving_->port(), /*with_tls=*/i % 2 == 0);
    client.Send(bytes);
    if (i % 5 == 0) client.ReadAll();
  }
  EXPECT_EQ(GetAnonymously("/healthz").body, "ok");
}

TEST_F(SecureServingTest, EndsConnectionsThatSayNothing) {
  options_.server.handshake_timeout = 2000ms;  // enough for one even on a busy machine
  options_.server.request_timeout = 50ms;
  Start();
  RawClient silent(serving_->port());
  ASSERT_TRUE(silent.connected());
  EXPECT_EQ(silent.ReadAll(), "");
  RawClient no_handshake(serving_->port(), /*with_tls=*/false);
  EXPECT_EQ(no_handshake.ReadAll(), "");
  RawClient half(serving_->port());
  half.Send("GET /healthz HTT");
  EXPECT_EQ(half.ReadAll(), "");
}

TEST_F(SecureServingTest, TheLongestIdleConnectionMakesRoom) {
  options_.server.max_connections = 3;
  Start();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<TestClient>(serving_->port()));
    EXPECT_EQ(clients.back()->Get("/healthz").status, 200);
  }
  EXPECT_EQ(clients[4]->Get("/healthz").connects, 0);
  EXPECT_EQ(clients[0]->Get("/healthz").connects, 1);
}

TEST_F(SecureServingTest, HealthIsAnsweredWhileEveryWorkerIsBusy) {
  Gate gate;
  pages_.configuration = [&] {
    gate.Wait();
    return std::string("{}");
  };
  options_.server.workers = 2;
  Start();
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back([this] { EXPECT_EQ(Get("/configz").status, 200); });
  gate.AwaitWaiters(2);
  EXPECT_EQ(GetAnonymously("/healthz").body, "ok");
  EXPECT_EQ(GetAnonymously("/readyz").body, "ok");
  gate.Open();
  for (std::thread& reader : readers) reader.join();
}

TEST_F(SecureServingTest, StoppingLetsARequestFinish) {
  Gate gate;
  pages_.configuration = [&] {
    gate.Wait();
    return std::string("{}");
  };
  Start();
  const uint16_t port = serving_->port();
  std::thread reader([this] {
    const Fetched fetched = Get("/configz");
    EXPECT_EQ(fetched.status, 200);
    EXPECT_EQ(fetched.body, "{\"componentconfig\":{}}");
    EXPECT_THAT(fetched.headers, HasSubstr("Connection: close"));
  });
  TestClient idle(port);
  idle.Get("/healthz");
  gate.AwaitWaiters(1);
  std::thread stopper([this] { serving_->Stop(); });
  // The port is closed before the request may finish.
  while (RawClient(port, /*with_tls=*/false).connected()) std::this_thread::yield();
  gate.Open();
  reader.join();
  stopper.join();
  EXPECT_EQ(TestClient(port).Get("/healthz").error, "cannot connect");
}

TEST_F(SecureServingTest, StoppingDoesNotWaitForeverForAClient) {
  options_.server.shutdown_timeout = 50ms;
  options_.server.write_timeout = std::chrono::hours(1);
  pages_.configuration = [] { return std::string(64 << 20, ' '); };  // more than any buffer on the way
  Start();
  RawClient client(serving_->port());
  client.Send("GET /configz HTTP/1.1\r\nAuthorization: Bearer prom\r\n\r\n");
  serving_.reset();  // the client never reads
}

}  // namespace
}  // namespace berth::serving
