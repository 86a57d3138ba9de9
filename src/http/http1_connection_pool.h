// Http1ConnectionPool: exchanges over HTTP/1.1, each on a connection of its own: for plain HTTP, and for servers that
// do not speak HTTP/2. Connections are kept for the next exchange, up to as many as there may be requests at a time.
//
// A request that found its kept connection closed, without a byte of answer, is given back to be sent again over a new
// one if it only reads or if nothing of it was written. Otherwise the server may have acted on it: an error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "http/connection_pool.h"
#include "http/http1_connection.h"

namespace berth::http {

class Http1ConnectionPool final : public ConnectionPool {
 public:
  // All must outlive this.
  Http1ConnectionPool(const Server& server, const TransportOptions& options, ExchangeListener& listener);

  void Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) override;
  void Drop(Exchange& exchange) override;
  // A connection has no exchange but this one, and goes with it.
  void Suspect(Exchange&, SteadyTime) override {}
  void Consumed(Exchange& exchange, size_t bytes) override;
  void Perform() override;
  void Wait(SteadyTime until, int wake) override;

 private:
  // One that is kept and still there, or a new one.
  Http1Connection& ConnectionFor(const Exchange& exchange, const CredentialsPtr& credentials);
  std::string HeadOf(const Request& request, const Headers& headers) const;
  void CloseUnused();

  const Server& server_;
  const TransportOptions& options_;
  ExchangeListener& listener_;
  TlsContexts contexts_;
  // Before the path of a request; names the server where a proxy is asked for it.
  std::string target_prefix_;
  std::string fixed_fields_;  // of every request
  std::vector<char> buffer_;
  std::vector<std::unique_ptr<Http1Connection>> connections_;
  CredentialsPtr newest_;  // used by any exchange
};

}  // namespace berth::http
