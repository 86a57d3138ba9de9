#include "http/http1_connection_pool.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"

namespace berth::http {
namespace {

constexpr size_t kBufferSize = size_t{32} << 10;
// Servers eventually close idle connections; Go's servers and clients do so after this long.
constexpr std::chrono::seconds kIdleTimeout{90};

// Fields that only the pool may set.
bool IsOwnField(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOwn = {"Host", "Content-Length", "Transfer-Encoding", "Connection"};
  return std::any_of(kOwn.begin(), kOwn.end(),
                     [&](std::string_view own) { return base::EqualIgnoringCase(own, name); });
}

// As in URLs: without the scheme's default port.
std::string Authority(const Server& server) {
  const std::string implied = server.config().is_tls() ? ":443" : ":80";
  const std::string& host = server.host();
  return host.ends_with(implied) ? host.substr(0, host.size() - implied.size()) : host;
}

Http1Call& CallOf(Exchange& exchange) { return static_cast<Http1Call&>(*exchange.pool_state); }

}  // namespace

Http1ConnectionPool::Http1ConnectionPool(const Server& server, const TransportOptions& options,
                                         ExchangeListener& listener)
    : server_(server),
      options_(options),
      listener_(listener),
      contexts_(server, Protocol::kHttp1),
      buffer_(kBufferSize) {
  const std::string authority = Authority(server);
  target_prefix_ = server.prefix();
  fixed_fields_ = "Host: " + authority + "\r\n";
  if (server.config().is_tls() || !server.proxy() || !*server.proxy()) return;
  const Proxy& proxy = **server.proxy();
  if (proxy.kind == Proxy::Kind::kSocks5) return;
  target_prefix_ = "http://" + authority + server.prefix();
  if (const std::string who = proxy.authorization(); !who.empty())
    fixed_fields_ += "Proxy-Authorization: " + who + "\r\n";
}

std::string Http1ConnectionPool::HeadOf(const Request& request, const Headers& headers) const {
  std::string path = target_prefix_ + request.path;
  if (path.empty()) path = "/";
  std::string head = fmt::format("{} {} HTTP/1.1\r\n{}", request.method, path, fixed_fields_);
  for (const auto& [name, value] : headers) {
    if (!IsOwnField(name)) head += fmt::format("{}: {}\r\n", name, value);
  }
  const bool has_body = !request.body.empty() || request.method == "POST" || request.method == "PUT";
  if (has_body) head += fmt::format("Content-Length: {}\r\n", request.body.size());
  return head + "\r\n";
}

Http1Connection& Http1ConnectionPool::ConnectionFor(const Exchange& exchange, const CredentialsPtr& credentials) {
  // A request returned from a reused connection gets a new one.
  while (exchange.returned == 0) {
    Http1Connection* latest = nullptr;  // the most likely to be open still
    for (const auto& kept : connections_) {
      if (!kept->is_idle() || !ShowTheSameCertificate(*kept->credentials(), *credentials)) continue;
      if (latest == nullptr || kept->idle_since() > latest->idle_since()) latest = kept.get();
    }
    if (latest == nullptr) break;
    latest->Perform(buffer_);
    if (latest->is_idle()) return *latest;
  }
  connections_.push_back(std::make_unique<Http1Connection>(server_, options_, contexts_, credentials));
  return *connections_.back();
}

void Http1ConnectionPool::Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) {
  auto call = std::make_unique<Http1Call>(exchange);
  ConnectionFor(exchange, credentials).Begin(*call, HeadOf(exchange.request(), headers));
  newest_ = credentials;
  exchange.pool_state = std::move(call);
}

void Http1ConnectionPool::Drop(Exchange& exchange) {
  const Http1Connection* connection = CallOf(exchange).connection;
  std::erase_if(connections_, [&](const auto& other) { return other.get() == connection; });
  exchange.pool_state = nullptr;
}

void Http1ConnectionPool::Consumed(Exchange& exchange, size_t bytes) {
  if (Http1Connection* connection = CallOf(exchange).connection) connection->Consumed(bytes);
}

void Http1ConnectionPool::Perform() {
  std::vector<Http1Connection::Ended> ended;
  for (const auto& connection : connections_) {
    if (!connection->is_ready() && !connection->is_opening()) continue;
    connection->Perform(buffer_);
    if (std::optional<Http1Connection::Ended> one = connection->TakeEnded()) ended.push_back(std::move(*one));
  }
  CloseUnused();
  for (Http1Connection::Ended& one : ended) {
    Exchange& exchange = one.call->exchange;
    exchange.pool_state = nullptr;
    if (one.unseen) {
      listener_.OnReturned(exchange, one.how.error());
    } else {
      listener_.OnEnded(exchange, std::move(one.how));
    }
  }
}

void Http1ConnectionPool::CloseUnused() {
  const SteadyTime now = std::chrono::steady_clock::now();
  size_t idle = 0;
  std::erase_if(connections_, [&](const auto& connection) {
    if (!connection->is_idle()) return connection->is_dead();
    const bool too_old = now - connection->idle_since() > kIdleTimeout;
    return too_old || !ShowTheSameCertificate(*connection->credentials(), *newest_) ||
           ++idle > static_cast<size_t>(options_.max_requests);
  });
}

void Http1ConnectionPool::Wait(SteadyTime until, int wake) {
  std::vector<pollfd> watched = {{.fd = wake, .events = POLLIN, .revents = 0}};
  for (const auto& connection : connections_) {
    if (connection->is_ready()) return;
    until = std::min(until, connection->next_check());
    const short events = connection->wants_write() ? POLLIN | POLLOUT : POLLIN;
    watched.push_back({.fd = connection->fd(), .events = events, .revents = 0});
  }
  // Rounded up: waking a moment too early would only mean waiting again.
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  poll(watched.data(), watched.size(), static_cast<int>(std::max<int64_t>(0, wait.count())));
  for (size_t i = 0; i < connections_.size(); ++i) {
    if (watched[i + 1].revents != 0) connections_[i]->SetReady();
  }
}

}  // namespace berth::http
