// What tests of transports share: a server and a transport of each kind, scripted credentials, and a record of a
// handler's calls.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/api_transport.h"
#include "http/testing/http_server.h"
#include "http/testing/proxy_server.h"

namespace berth::http {

// Returns the given credentials one after the other, the last one forever.
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

// The kind of server that a transport connects to, and how it gets there.
struct Way {
  const char* name;
  bool tls;
  bool server_speaks_http2;
  bool proxied = false;  // by CONNECT
};

inline constexpr Way kHttp1 = {"Http1", false, false};
inline constexpr Way kHttp1Tls = {"Http1Tls", true, false};
inline constexpr Way kHttp2 = {"Http2", true, true};
inline constexpr Way kHttp1Proxied = {"Http1Proxied", true, false, true};
inline constexpr Way kHttp2Proxied = {"Http2Proxied", true, true, true};

class TransportOver : public ::testing::Test {
 protected:
  explicit TransportOver(const Way& way) : way_(way) {
    if (way.proxied) proxy_.emplace(ProxyServer::Options{});
  }

  std::unique_ptr<HttpServer> Serve(HttpServer::Handler handler, HttpServer::Options options = {}) const {
    if (way_.tls && options.identity == nullptr) options.identity = &server_identity_;
    options.speaks_http2 = way_.server_speaks_http2;
    return std::make_unique<HttpServer>(std::move(handler), std::move(options));
  }
  RestConfig ConfigFor(const HttpServer& server, std::vector<Credentials> credentials = {{}}) const {
    RestConfig config;
    config.server = server.url();
    config.user_agent = "test-agent";
    config.ca = authority_.certificate();
    if (proxy_) config.proxy_url = proxy_->url();
    config.credentials = std::make_shared<ScriptedCredentials>(std::move(credentials));
    return config;
  }
  std::unique_ptr<Transport> Make(RestConfig config, TransportOptions options = {},
                                  RequestObserver* observer = nullptr) const {
    return std::make_unique<ApiTransport>(std::move(config), options, observer);
  }
  // Connections made to find out that the server does not speak HTTP/2.
  int probes() const { return way_.tls && !way_.server_speaks_http2 ? 1 : 0; }

  const Way way_;
  std::optional<ProxyServer> proxy_;
  TestAuthority authority_;
  TlsIdentity server_identity_ = authority_.Issue("apiserver");
};

class TransportTest : public TransportOver, public ::testing::WithParamInterface<Way> {
 protected:
  TransportTest() : TransportOver(GetParam()) {}
};

inline const auto kWays = ::testing::Values(kHttp1, kHttp1Tls, kHttp2, kHttp1Proxied, kHttp2Proxied);
inline const auto kWaysWithTls = ::testing::Values(kHttp1Tls, kHttp2, kHttp1Proxied, kHttp2Proxied);
inline std::string NameOf(const ::testing::TestParamInfo<Way>& way) { return way.param.name; }

inline Request Get(std::string path) { return {.path = std::move(path), .timeout = std::chrono::seconds(30)}; }

// Records a handler's calls, and lets a test wait for them.
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

inline void SayWhatWasAsked(const ServedRequest& request, ServedReply& reply) {
  reply.Send(200, request.method + " " + request.path + " " + request.body, {{"X-Kind", "Echo"}});
}

}  // namespace berth::http
