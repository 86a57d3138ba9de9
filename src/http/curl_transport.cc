#include "http/curl_transport.h"

#include <utility>

#include "base/check.h"
#include "http/curl_wire.h"

namespace berth::http {

CurlTransport::CurlTransport(RestConfig config, TransportOptions options, RequestObserver* observer)
    : server_(std::move(config)), options_(options), dispatcher_(server_, options_, observer, [this](WireOwner& owner) {
        return std::make_unique<CurlWire>(server_, options_, owner);
      }) {}

CallId CurlTransport::Start(Request request, ResponseHandler handler) {
  return dispatcher_.Start(std::move(request), std::move(handler));
}

}  // namespace berth::http
