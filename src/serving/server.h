// HttpsServer: TLS and HTTP/1.1 with keep-alive, with limits on everything that a client can use up. On loopback it can
// run without TLS.
//
// Threads: one of its own does all I/O; a few workers run what may block (a review by the API server, a large page). A
// request that the handler can answer at once is answered on the I/O thread, so that health probes are answered however
// busy the workers are. It never uses a thread of the scheduler.
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
  // On the I/O thread: must not block. Without an answer, Handle is called.
  virtual std::optional<HttpResponse> TryHandle(const HttpRequest& request) = 0;
  // On a worker; called concurrently.
  virtual HttpResponse Handle(const HttpRequest& request) = 0;
};

struct ServerOptions {
  std::string bind_address = "0.0.0.0";  // an address of this machine, or the unspecified one
  uint16_t port = 0;                     // 0: any free one
  bool share_port = false;               // --permit-port-sharing: other processes that set it may listen there too
  size_t workers = 4;
  // At the limit, a new connection replaces the one that has been idle longest.
  size_t max_connections = 256;
  // Responses that have no end of their own (ResponseStream); further clients are told to retry later.
  size_t max_streams = 16;
  uint32_t max_header_bytes = 64 * 1024;
  uint64_t max_body_bytes = 64 * 1024;
  base::Duration handshake_timeout = std::chrono::seconds(10);
  base::Duration request_timeout = std::chrono::seconds(32);  // for the whole request, until its last byte is read
  base::Duration idle_timeout = std::chrono::seconds(90);     // between the requests of a connection
  base::Duration write_timeout = std::chrono::seconds(30);
  base::Duration shutdown_timeout = std::chrono::seconds(5);  // for requests in progress when it stops
};

class HttpsServer {
 public:
  // `tls` and `handler` must outlive it.
  static Result<std::unique_ptr<HttpsServer>> Start(const ServerOptions& options, TlsContext& tls,
                                                    RequestHandler& handler);
  // Plain HTTP, for clients on this machine only: an error if the address is not a loopback one.
  static Result<std::unique_ptr<HttpsServer>> StartOnLoopback(const ServerOptions& options, RequestHandler& handler);
  ~HttpsServer();  // stops

  uint16_t port() const;
  // Stops listening, lets requests in progress finish within the timeout, then returns. May be called again.
  void Stop();

 private:
  class Impl;
  explicit HttpsServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::serving
