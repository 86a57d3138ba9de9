// ApiTransport: the Transport to an API server. It uses HTTP/2 if the server negotiates it on the first connection, and
// HTTP/1.1 otherwise and without TLS. DISABLE_HTTP2 in the environment rules HTTP/2 out.
#pragma once

#include "http/dispatcher.h"
#include "http/request_observer.h"
#include "http/rest_config.h"
#include "http/transport.h"
#include "http/transport_options.h"

namespace berth::http {

class ApiTransport final : public Transport {
 public:
  // `observer` may be null, and must outlive this.
  explicit ApiTransport(RestConfig config, TransportOptions options = {}, RequestObserver* observer = nullptr);

  CallId Start(Request request, ResponseHandler handler) override;
  void Cancel(CallId call) override { dispatcher_.Cancel(call); }
  void Consumed(CallId call, size_t bytes) override { dispatcher_.Consumed(call, bytes); }

  // "10.0.0.1:6443", as metrics name it.
  std::string_view host() const { return server_.host(); }

 private:
  const Server server_;
  const TransportOptions options_;
  Dispatcher dispatcher_;  // last: it uses the others
};

}  // namespace berth::http
