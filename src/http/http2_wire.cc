#include "http/http2_wire.h"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace berth::http {
namespace {

// Only the certificate belongs to the connection; tokens go with each request.
bool ShowTheSame(const Credentials& a, const Credentials& b) {
  return &a == &b || (a.client_certificate == b.client_certificate && a.client_key == b.client_key);
}

Http2Stream& StreamOf(Exchange& exchange) { return static_cast<Http2Stream&>(*exchange.wire_state); }

}  // namespace

void Http2Wire::Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) {
  auto stream = std::make_unique<Http2Stream>(exchange, headers, credentials);
  waiting_.push_back(stream.get());
  newest_ = credentials;
  exchange.wire_state = std::move(stream);
}

void Http2Wire::Drop(Exchange& exchange) {
  Http2Stream& stream = StreamOf(exchange);
  if (stream.connection != nullptr) {
    stream.connection->Forget(stream);
  } else {
    std::erase(waiting_, &stream);
  }
  exchange.wire_state = nullptr;
}

void Http2Wire::Suspect(Exchange& exchange, SteadyTime now) {
  Http2Connection* connection = StreamOf(exchange).connection;
  if (connection == nullptr || now - connection->heard() < options_.silence) return;
  connection->Fail(Error::Unavailable("the connection has gone silent"));
}

void Http2Wire::Consumed(Exchange& exchange, size_t bytes) {
  Http2Stream& stream = StreamOf(exchange);
  if (stream.connection != nullptr) stream.connection->Consumed(stream, bytes);
}

void Http2Wire::Assign() {
  // In order, but nobody waits for another's certificate.
  std::deque<Http2Stream*> left;
  for (Http2Stream* stream : std::exchange(waiting_, {})) {
    bool is_opening = false;
    Http2Connection* found = nullptr;
    for (const auto& connection : connections_) {
      if (!ShowTheSame(*connection->credentials(), *stream->credentials)) continue;
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
    connections_.push_back(std::make_unique<Http2Connection>(server_, options_, stream->credentials));
  }
  waiting_ = std::move(left);
}

void Http2Wire::Perform() {
  std::vector<Http2Connection::Ended> ended;
  // A connection that becomes ready takes those who wait for it, and sends them before anything is waited for.
  for (bool again = true; again && !unsuitable_;) {
    again = false;
    if (!waiting_.empty()) Assign();
    for (size_t i = 0; i < connections_.size(); ++i) {
      Http2Connection& connection = *connections_[i];
      const bool was_ready = connection.HasRoom();
      connection.Perform(ended);
      unsuitable_ = unsuitable_ || connection.is_unsuitable();
      again = again || (!waiting_.empty() && !was_ready && connection.HasRoom());
    }
  }
  for (const auto& connection : connections_) {
    if (connection->state() == Http2Connection::State::kDead && !connection->is_unsuitable()) FailWaiting(*connection);
  }
  CloseUnused();
  Report(std::move(ended));
}

void Http2Wire::FailWaiting(const Http2Connection& connection) {
  // One that was ready once has only ended: the next attempt shows whether the server is there.
  if (connection.was_ready()) return;
  std::vector<Http2Stream*> failed;
  std::erase_if(waiting_, [&](Http2Stream* stream) {
    if (!ShowTheSame(*stream->credentials, *connection.credentials())) return false;
    failed.push_back(stream);
    return true;
  });
  for (Http2Stream* stream : failed) {
    Exchange& exchange = stream->exchange;
    exchange.wire_state = nullptr;
    owner_.OnEnded(exchange, connection.failure());
  }
}

void Http2Wire::Report(std::vector<Http2Connection::Ended> ended) {
  for (Http2Connection::Ended& one : ended) {
    Exchange& exchange = one.stream->exchange;
    exchange.wire_state = nullptr;
    if (one.unseen) {
      owner_.OnReturned(exchange, one.how ? Error::Unavailable("the server did not take it") : one.how.error());
    } else {
      owner_.OnEnded(exchange, std::move(one.how));
    }
  }
}

void Http2Wire::CloseUnused() {
  std::erase_if(connections_, [this](const std::unique_ptr<Http2Connection>& connection) {
    using State = Http2Connection::State;
    if (connection->state() == State::kDead) return true;
    if (connection->streams() > 0 || connection->state() == State::kOpening) return false;
    return connection->state() == State::kLeaving || !ShowTheSame(*connection->credentials(), *newest_);
  });
}

void Http2Wire::Wait(SteadyTime until, int wake) {
  std::vector<pollfd> watched = {{.fd = wake, .events = POLLIN, .revents = 0}};
  for (const auto& connection : connections_) {
    if (connection->has_more()) return;
    until = std::min(until, connection->next_check());
    const short events = connection->wants_write() ? POLLIN | POLLOUT : POLLIN;
    watched.push_back({.fd = connection->fd(), .events = events, .revents = 0});
  }
  // Rounded up: waking a moment too early would only mean to wait again.
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  poll(watched.data(), watched.size(), static_cast<int>(std::max<int64_t>(0, wait.count())));
}

}  // namespace berth::http
