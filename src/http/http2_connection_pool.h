// Http2ConnectionPool: exchanges over HTTP/2, using nghttp2 and OpenSSL. One connection carries them all, unless the
// server allows fewer at a time than there are. When the client certificate changes, a new connection is opened and the
// old one is closed after its last exchange.
//
// A request that the server has not processed, because the server rejected it (GOAWAY, REFUSED_STREAM) or the
// connection broke before the request was written, is returned to be sent again. If the server may have processed it,
// the caller gets an error and decides.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "http/connection_pool.h"
#include "http/http2_connection.h"

namespace berth::http {

class Http2ConnectionPool final : public ConnectionPool {
 public:
  // All must outlive this.
  Http2ConnectionPool(const Server& server, const TransportOptions& options, ExchangeListener& listener)
      : server_(server), options_(options), listener_(listener), contexts_(server, Protocol::kHttp2) {}

  void Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) override;
  void Drop(Exchange& exchange) override;
  void Suspect(Exchange& exchange, SteadyTime now) override;
  void Consumed(Exchange& exchange, size_t bytes) override;
  void Perform() override;
  void Wait(SteadyTime until, int wake) override;
  bool is_unsuitable() const override { return unsuitable_; }

 private:
  // Assigns waiting streams to connections, and opens more connections if needed.
  void Assign();
  void Report(std::vector<Http2Connection::Ended> ended);
  // Fails the streams that waited for a connection that could not be opened.
  void FailWaiting(const Http2Connection& connection);
  void CloseUnused();

  const Server& server_;
  const TransportOptions& options_;
  ExchangeListener& listener_;
  TlsContexts contexts_;
  bool unsuitable_ = false;
  bool spoke_http2_ = false;  // on any connection so far
  std::vector<std::unique_ptr<Http2Connection>> connections_;
  std::deque<Http2Stream*> waiting_;
  CredentialsPtr newest_;  // used by any exchange
};

}  // namespace berth::http
