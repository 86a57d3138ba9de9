// Http1ConnectionPool: exchanges over HTTP/1.1, each on its own connection: for plain HTTP, and for servers that do not
// speak HTTP/2. Connections are kept for reuse, at most as many as there may be requests at a time.
//
// If a reused connection turns out to be closed before any byte of the answer arrived, the request is returned to be
// sent again over a new one, provided that it only reads or that none of it was written. Otherwise the server may have
// acted on it, and the exchange ends with an error.
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
  // A connection carries only this exchange and is closed with it.
  void Suspect(Exchange&, SteadyTime) override {}
  void Consumed(Exchange& exchange, size_t bytes) override;
  void Perform() override;
  void Wait(SteadyTime until, int wake) override;

 private:
  // An idle connection that is still open, or a new one.
  Http1Connection& ConnectionFor(const Exchange& exchange, const CredentialsPtr& credentials);
  std::string HeadOf(const Request& request, const Headers& headers) const;
  void CloseUnused();

  const Server& server_;
  const TransportOptions& options_;
  ExchangeListener& listener_;
  TlsContexts contexts_;
  // Precedes the path of a request; names the server if the request goes to a proxy.
  std::string target_prefix_;
  std::string fixed_fields_;  // of every request
  std::vector<char> buffer_;
  std::vector<std::unique_ptr<Http1Connection>> connections_;
  CredentialsPtr newest_;  // used by any exchange
};

}  // namespace berth::http
