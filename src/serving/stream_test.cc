// Responses without an end of their own, over real sockets: with readers that are slow, that disconnect, or that are
// too many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>

#include "serving/secure_serving.h"
#include "serving/server.h"
#include "serving/testing/certificates.h"
#include "serving/testing/fake_reviewer.h"
#include "serving/testing/https_client.h"

namespace berth::serving {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// "/stream" streams what `next` returns; every other page is a line of text that a worker writes.
class StreamHandler final : public RequestHandler {
 public:
  std::optional<HttpResponse> TryHandle(const HttpRequest&) override { return std::nullopt; }
  HttpResponse Handle(const HttpRequest& request) override {
    if (request.path != "/stream") return {.body = "a page"};
    HttpResponse response{.content_type = "text/event-stream"};
    response.stream = std::make_shared<ResponseStream>(source);
    return response;
  }

  ResponseStream source;
};

class StreamTest : public ::testing::Test {
 protected:
  StreamTest() {
    std::signal(SIGPIPE, SIG_IGN);
    options_.bind_address = "127.0.0.1";
    options_.workers = 1;
    options_.max_streams = 3;
    handler_.source.pause = 10ms;
    handler_.source.next = [this]() -> std::optional<std::string> {
      ++asked_;
      return "piece " + std::to_string(asked_) + "\n";
    };
  }

  void Start() {
    auto started = HttpsServer::StartOnLoopback(options_, handler_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_ = *std::move(started);
  }
  std::unique_ptr<RawClient> Ask(const std::string& path) {
    auto client = std::make_unique<RawClient>(server_->port(), /*with_tls=*/false);
    EXPECT_TRUE(client->connected());
    EXPECT_TRUE(client->Send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n"));
    return client;
  }
  // Reads until this text has arrived.
  static std::string ReadTo(RawClient& client, const std::string& wanted) {
    std::string read;
    while (read.find(wanted) == std::string::npos) {
      const std::string more = client.ReadSome();
      if (more.empty()) return read + "[closed]";
      read += more;
    }
    return read;
  }
  // Real sockets have no fake clock.
  static void LetPass(std::chrono::milliseconds time) {
    std::promise<void> nothing;
    (void)nothing.get_future().wait_for(time);
  }
  // Whether the condition becomes true within some time.
  template <class Condition>
  static bool Eventually(Condition condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      LetPass(5ms);
    }
    return false;
  }
  bool IsRoomForAnother() {
    const auto client = Ask("/stream");
    return client->ReadSome().starts_with("HTTP/1.1 200");
  }

  ServerOptions options_;
  StreamHandler handler_;
  std::atomic<int> asked_ = 0;
  std::unique_ptr<HttpsServer> server_;  // last: its threads use the others
};

TEST_F(StreamTest, PiecesComeOneByOneAndNoThreadIsKeptForThem) {
  Start();
  std::vector<std::unique_ptr<RawClient>> readers;
  for (int i = 0; i < 3; ++i) readers.push_back(Ask("/stream"));
  for (const auto& reader : readers) {
    const std::string head = ReadTo(*reader, "piece ");
    EXPECT_THAT(head, HasSubstr("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked\r\n"));
    EXPECT_THAT(head, HasSubstr("text/event-stream"));
  }
  // There is one worker, and three streams that never end.
  EXPECT_THAT(ReadTo(*Ask("/page"), "a page"), HasSubstr("200 OK"));
  for (const auto& reader : readers) (void)ReadTo(*reader, "piece ");
}

TEST_F(StreamTest, OneTooManyIsAskedToComeBackAndAPlaceThatIsLeftIsGivenAgain) {
  Start();
  std::vector<std::unique_ptr<RawClient>> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(Ask("/stream"));
    (void)ReadTo(*readers.back(), "piece ");
  }
  const std::string refused = ReadTo(*Ask("/stream"), "later");
  EXPECT_THAT(refused, HasSubstr("HTTP/1.1 503"));
  EXPECT_THAT(refused, HasSubstr("retry-after: 5"));
  EXPECT_THAT(refused, HasSubstr("as many are followed as there is room for (3); try again later"));
  readers.pop_back();
  EXPECT_TRUE(Eventually([&] { return IsRoomForAnother(); }));
}

TEST_F(StreamTest, AClientThatGoesAwayIsNoticedThoughThereIsNothingToSend) {
  handler_.source.next = [this]() -> std::optional<std::string> {
    ++asked_;
    return "";
  };
  options_.max_streams = 1;
  Start();
  auto reader = Ask("/stream");
  (void)ReadTo(*reader, "\r\n\r\n");
  EXPECT_FALSE(IsRoomForAnother());
  reader.reset();
  EXPECT_TRUE(Eventually([&] { return IsRoomForAnother(); }));
  // `next` is not called for a client that is gone.
  EXPECT_TRUE(Eventually([&] {
    const int before = asked_;
    LetPass(100ms);
    return asked_ == before;
  }));
}

// It reads the first bytes and then nothing, while more and more becomes available.
TEST_F(StreamTest, AReaderThatIsSlowIsAskedForNoMoreThanItTakesAndLetGoInTheEnd) {
  handler_.source.pause = 0ms;
  handler_.source.next = [this]() -> std::optional<std::string> {
    ++asked_;
    return std::string(256 * 1024, 'x');
  };
  options_.write_timeout = 1500ms;
  options_.max_streams = 1;
  Start();
  auto slow = Ask("/stream");
  (void)slow->ReadSome();
  // As much as the sockets of both sides can buffer, and then nothing more.
  int before = -1;
  EXPECT_TRUE(Eventually([&] {
    const int now = asked_;
    LetPass(100ms);
    return std::exchange(before, now) == now;
  }));
  EXPECT_LT(asked_, 200);
  EXPECT_THAT(ReadTo(*Ask("/page"), "a page"), HasSubstr("200 OK")) << "others do not wait for it";
  EXPECT_TRUE(Eventually([&] { return IsRoomForAnother(); })) << "the time-out of writing";
}

TEST_F(StreamTest, StoppingEndsStreamsAtOnce) {
  handler_.source.next = [this]() -> std::optional<std::string> {
    ++asked_;
    return asked_ == 1 ? "first" : "";
  };
  Start();
  auto reader = Ask("/stream");
  (void)ReadTo(*reader, "first");
  const auto begin = std::chrono::steady_clock::now();
  server_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
  EXPECT_THAT(reader->ReadAll(), EndsWith("0\r\n\r\n")) << "an end that a client can tell from a broken connection";
}

TEST_F(StreamTest, SilenceIsBrokenByAHeartbeatAndTheEndIsSaid) {
  handler_.source.next = [this]() -> std::optional<std::string> {
    ++asked_;
    return asked_ > 40 ? std::nullopt : std::optional<std::string>("");
  };
  handler_.source.heartbeat = ": beat\n\n";
  handler_.source.heartbeat_every = 100ms;
  Start();
  const auto reader = Ask("/stream");
  const std::string all = reader->ReadAll();
  EXPECT_THAT(all, HasSubstr(": beat\n\n"));
  EXPECT_THAT(all, EndsWith("0\r\n\r\n"));
}

TEST_F(StreamTest, AStreamEndsAfterItsLifetimeSoThatRightsAreLookedAtAgain) {
  handler_.source.lifetime = 100ms;
  Start();
  EXPECT_THAT(Ask("/stream")->ReadAll(), EndsWith("0\r\n\r\n"));
}

TEST_F(StreamTest, HeadGetsNoStream) {
  Start();
  RawClient client(server_->port(), /*with_tls=*/false);
  ASSERT_TRUE(client.Send("HEAD /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(client.ReadAll(), HasSubstr("200 OK"));
  EXPECT_EQ(asked_, 0);
}

TEST_F(StreamTest, OnlyLoopbackIsServedWithoutTls) {
  for (const char* address : {"0.0.0.0", "::", "10.1.2.3", "nonsense"}) {
    options_.bind_address = address;
    const auto started = HttpsServer::StartOnLoopback(options_, handler_);
    ASSERT_FALSE(started.ok()) << address;
    EXPECT_THAT(started.error().message, HasSubstr("expected an address of this machine alone"));
  }
}

TEST_F(StreamTest, APortThatIsTakenIsASentence) {
  Start();
  options_.port = server_->port();
  const auto second = HttpsServer::StartOnLoopback(options_, handler_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("Address already in use"));
}

// The same over TLS, with authentication, to its end.
TEST(SecureStreamTest, StreamsGoOverTlsToo) {
  std::signal(SIGPIPE, SIG_IGN);
  const base::SystemClock clock;
  FakeReviewer reviewer;
  reviewer.tokens["prom"] = {.name = "prometheus"};
  reviewer.allowed.insert({"prometheus", "/debug/berth/events"});
  metrics::Registry registry;
  Pages pages;
  pages.metrics = &registry;
  pages.debug = [](const HttpRequest&) {
    HttpResponse response{.content_type = "text/event-stream"};
    response.stream = std::make_shared<ResponseStream>();
    response.stream->pause = 1ms;
    response.stream->next = [count = 0]() mutable -> std::optional<std::string> {
      if (++count > 5) return std::nullopt;
      return "data: " + std::to_string(count) + "\n\n";
    };
    return response;
  };
  TestFolder folder;
  SecureServingOptions options;
  options.server.bind_address = "127.0.0.1";
  const PemPair pair = *GenerateSelfSigned({}, KeyKind::kEcdsa, clock.Now());
  options.tls.cert_file = folder.Write("served.crt", pair.certificate);
  options.tls.private_key_file = folder.Write("served.key", pair.private_key);
  auto serving = SecureServing::Start(options, pages, &reviewer, &reviewer, clock);
  ASSERT_TRUE(serving.ok()) << serving.error().message;
  const std::string page = "/debug/berth/events";
  EXPECT_EQ(TestClient((*serving)->port()).Get(page).status, 403);
  const Fetched fetched = TestClient((*serving)->port()).Header("Authorization: Bearer prom").Get(page);
  EXPECT_EQ(fetched.status, 200);
  EXPECT_EQ(fetched.body, "data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\ndata: 5\n\n");
}

}  // namespace
}  // namespace berth::serving
