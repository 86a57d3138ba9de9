// HttpsServer: TLS and HTTP/1.1 with keep-alive, bounded in everything a client can use up. On loopback it can do
// without TLS.
//
// Threads: one of its own does all I/O, a few workers run what may block (a review by the API server, a large page).
// A request the handler can answer at once is answered on the I/O thread, so that health probes are answered however
// busy the workers are. No thread of the scheduler is ever used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "serving/http.h"
#include "serving/tls.h"

namespace berth::serving {

class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  // On the I/O thread: must not block. Nothing means: ask Handle.
  virtual std::optional<HttpResponse> TryHandle(const HttpRequest& request) = 0;
  // On a worker; several at a time.
  virtual HttpResponse Handle(const HttpRequest& request) = 0;
};

struct ServerOptions {
  std::string bind_address = "0.0.0.0";  // an address of this machine; unspecified for all of them
  uint16_t port = 0;                     // 0: any free one
  bool share_port = false;               // --permit-port-sharing: others that do the same may listen there too
  size_t workers = 4;
  // When there are as many, the connection that has been idle longest gives way to a new one.
  size_t max_connections = 256;
  // Responses that have no end of their own (ResponseStream); whoever comes then is asked to come back later.
  size_t max_streams = 16;
  uint32_t max_header_bytes = 64 * 1024;
  uint64_t max_body_bytes = 64 * 1024;
  base::Duration handshake_timeout = std::chrono::seconds(10);
  base::Duration request_timeout = std::chrono::seconds(32);  // from the first byte expected to the last one read
  base::Duration idle_timeout = std::chrono::seconds(90);     // between the requests of a connection
  base::Duration write_timeout = std::chrono::seconds(30);
  base::Duration shutdown_timeout = std::chrono::seconds(5);  // for requests under way when it stops
};

class HttpsServer {
 public:
  // `tls` and `handler` must outlive it.
  static Result<std::unique_ptr<HttpsServer>> Start(const ServerOptions& options, TlsContext& tls,
                                                    RequestHandler& handler);
  // Plain HTTP, for whoever is on this machine: an error when the address is not a loopback one.
  static Result<std::unique_ptr<HttpsServer>> StartOnLoopback(const ServerOptions& options, RequestHandler& handler);
  ~HttpsServer();  // stops

  uint16_t port() const;
  // Listens no more, lets requests under way finish within the time-out, then returns. May be called again.
  void Stop();

 private:
  class Impl;
  explicit HttpsServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::serving
