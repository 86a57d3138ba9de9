#include "http/api_transport.h"

#include <cstdlib>
#include <utility>

#include "http/http1_connection_pool.h"
#include "http/http2_connection_pool.h"

namespace berth::http {
namespace {

bool MayBeHttp2(const Server& server) {
  // As in client-go.
  const char* disabled = std::getenv("DISABLE_HTTP2");
  return server.config().is_tls() && (disabled == nullptr || *disabled == '\0');
}

}  // namespace

ApiTransport::ApiTransport(RestConfig config, TransportOptions options, RequestObserver* observer)
    : server_(std::move(config)),
      options_(options),
      dispatcher_(
          server_, options_, observer,
          [this](ExchangeListener& listener) -> std::unique_ptr<ConnectionPool> {
            if (!MayBeHttp2(server_)) return std::make_unique<Http1ConnectionPool>(server_, options_, listener);
            return std::make_unique<Http2ConnectionPool>(server_, options_, listener);
          },
          [this](ExchangeListener& listener) {
            return std::make_unique<Http1ConnectionPool>(server_, options_, listener);
          }) {}

CallId ApiTransport::Start(Request request, ResponseHandler handler) {
  return dispatcher_.Start(std::move(request), std::move(handler));
}

}  // namespace berth::http
