#include "http/api_transport.h"

#include <utility>

#include "http/curl_wire.h"
#include "http/http2_wire.h"

namespace berth::http {
namespace {

bool MayBeHttp2(const Server& server) {
  return server.config().is_tls() && server.config().disable_compression && !server.may_use_proxy();
}

}  // namespace

ApiTransport::ApiTransport(RestConfig config, TransportOptions options, RequestObserver* observer)
    : server_(std::move(config)),
      options_(options),
      dispatcher_(
          server_, options_, observer,
          [this](WireOwner& owner) -> std::unique_ptr<Wire> {
            if (!MayBeHttp2(server_)) return std::make_unique<CurlWire>(server_, options_, owner);
            return std::make_unique<Http2Wire>(server_, options_, owner);
          },
          [this](WireOwner& owner) { return std::make_unique<CurlWire>(server_, options_, owner); }) {}

CallId ApiTransport::Start(Request request, ResponseHandler handler) {
  return dispatcher_.Start(std::move(request), std::move(handler));
}

}  // namespace berth::http
