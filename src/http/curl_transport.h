// CurlTransport: the Transport over libcurl alone: for plain HTTP, for servers behind a proxy, and for those that are
// asked seldom. ApiTransport is the one for an API server.
#pragma once

#include "http/dispatcher.h"
#include "http/request_observer.h"
#include "http/rest_config.h"
#include "http/transport.h"
#include "http/transport_options.h"

namespace berth::http {

class CurlTransport final : public Transport {
 public:
  // `observer` may be null, and must outlive this.
  explicit CurlTransport(RestConfig config, TransportOptions options = {}, RequestObserver* observer = nullptr);

  CallId Start(Request request, ResponseHandler handler) override;
  void Cancel(CallId call) override { dispatcher_.Cancel(call); }
  void Consumed(CallId call, size_t bytes) override { dispatcher_.Consumed(call, bytes); }

  const RestConfig& config() const { return server_.config(); }

 private:
  const Server server_;
  const TransportOptions options_;
  Dispatcher dispatcher_;  // last: it uses the others
};

}  // namespace berth::http
