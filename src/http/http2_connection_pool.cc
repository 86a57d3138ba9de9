#include "http/http2_connection_pool.h"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace berth::http {
namespace {

Http2Stream& StreamOf(Exchange& exchange) { return static_cast<Http2Stream&>(*exchange.pool_state); }

}  // namespace

void Http2ConnectionPool::Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) {
  auto stream = std::make_unique<Http2Stream>(exchange, headers, credentials);
  waiting_.push_back(stream.get());
  newest_ = credentials;
  exchange.pool_state = std::move(stream);
}

void Http2ConnectionPool::Drop(Exchange& exchange) {
  Http2Stream& stream = StreamOf(exchange);
  if (stream.connection != nullptr) {
    stream.connection->Forget(stream);
  } else {
    std::erase(waiting_, &stream);
  }
  exchange.pool_state = nullptr;
}

void Http2ConnectionPool::Suspect(Exchange& exchange, SteadyTime now) {
  Http2Connection* connection = StreamOf(exchange).connection;
  if (connection == nullptr || now - connection->heard() < options_.silence) return;
  connection->Fail(Error::Unavailable("the connection has gone silent"));
}

void Http2ConnectionPool::Consumed(Exchange& exchange, size_t bytes) {
  Http2Stream& stream = StreamOf(exchange);
  if (stream.connection != nullptr) stream.connection->Consumed(stream, bytes);
}

void Http2ConnectionPool::Assign() {
  // In order, but no stream waits for one that needs another certificate.
  std::deque<Http2Stream*> left;
  for (Http2Stream* stream : std::exchange(waiting_, {})) {
    bool is_opening = false;
    Http2Connection* found = nullptr;
    for (const auto& connection : connections_) {
      if (!ShowTheSameCertificate(*connection->credentials(), *stream->credentials)) continue;
      if (connection->HasRoom()) found = connection.get();
      is_opening = is_opening || connection->state() == Http2Connection::State::kOpening;
      if (found != nullptr) break;
    }
    if (found != nullptr) {
      found->Submit(*stream);
      continue;
    }
    left.push_back(stream);
    if (is_opening) continue;
    connections_.push_back(std::make_unique<Http2Connection>(server_, options_, contexts_, stream->credentials));
  }
  waiting_ = std::move(left);
}

void Http2ConnectionPool::Perform() {
  std::vector<Http2Connection::Ended> ended;
  // Streams that wait for a connection are assigned and sent as soon as it is ready, before polling again.
  for (bool again = true; again && !unsuitable_;) {
    again = false;
    if (!waiting_.empty()) Assign();
    for (size_t i = 0; i < connections_.size(); ++i) {
      Http2Connection& connection = *connections_[i];
      const bool was_ready = connection.HasRoom();
      connection.Perform(ended);
      spoke_http2_ = spoke_http2_ || connection.was_ready();
      // Of several servers behind one address, one may be older: only its connection fails, the pool stays with HTTP/2.
      unsuitable_ = unsuitable_ || (connection.is_unsuitable() && !spoke_http2_);
      again = again || (!waiting_.empty() && !was_ready && connection.HasRoom());
    }
  }
  for (const auto& connection : connections_) {
    if (connection->state() == Http2Connection::State::kDead && !unsuitable_) FailWaiting(*connection);
  }
  CloseUnused();
  Report(std::move(ended));
}

void Http2ConnectionPool::FailWaiting(const Http2Connection& connection) {
  // A connection that was ready has merely ended: the next attempt shows whether the server can be reached.
  if (connection.was_ready()) return;
  std::vector<Http2Stream*> failed;
  std::erase_if(waiting_, [&](Http2Stream* stream) {
    if (!ShowTheSameCertificate(*stream->credentials, *connection.credentials())) return false;
    failed.push_back(stream);
    return true;
  });
  for (Http2Stream* stream : failed) {
    Exchange& exchange = stream->exchange;
    exchange.pool_state = nullptr;
    listener_.OnEnded(exchange, connection.failure());
  }
}

void Http2ConnectionPool::Report(std::vector<Http2Connection::Ended> ended) {
  for (Http2Connection::Ended& one : ended) {
    Exchange& exchange = one.stream->exchange;
    exchange.pool_state = nullptr;
    if (one.unseen) {
      listener_.OnReturned(exchange, one.how ? Error::Unavailable("the server did not take it") : one.how.error());
    } else {
      listener_.OnEnded(exchange, std::move(one.how));
    }
  }
}

void Http2ConnectionPool::CloseUnused() {
  std::erase_if(connections_, [this](const std::unique_ptr<Http2Connection>& connection) {
    using State = Http2Connection::State;
    if (connection->state() == State::kDead) return true;
    if (connection->streams() > 0 || connection->state() == State::kOpening) return false;
    return connection->state() == State::kLeaving || !ShowTheSameCertificate(*connection->credentials(), *newest_);
  });
}

void Http2ConnectionPool::Wait(SteadyTime until, int wake) {
  std::vector<pollfd> watched = {{.fd = wake, .events = POLLIN, .revents = 0}};
  for (const auto& connection : connections_) {
    if (connection->has_more()) return;
    until = std::min(until, connection->next_check());
    const short events = connection->wants_write() ? POLLIN | POLLOUT : POLLIN;
    watched.push_back({.fd = connection->fd(), .events = events, .revents = 0});
  }
  // Rounded up: waking a moment too early would only mean waiting again.
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  poll(watched.data(), watched.size(), static_cast<int>(std::max<int64_t>(0, wait.count())));
}

}  // namespace berth::http
