// RequestMetrics: what the transport does, and how long its users hold requests back, as rest_client_* metrics.
#pragma once

#include "client/write_path.h"
#include "http/request_observer.h"
#include "metrics/component_metrics.h"

namespace berth::live {

class RequestMetrics final : public http::RequestObserver, public client::WriteObserver {
 public:
  RequestMetrics(metrics::Registry& registry, const std::string& host) : metrics_(registry), host_(host) {}

  void OnAnswer(std::string_view method, std::string_view host, int status, base::Duration took) override {
    const std::string code = status == 0 ? "<error>" : std::to_string(status);
    metrics_.requests.With(code, method, host).Add();
    metrics_.request_duration.With(method, host).Observe(Seconds(took));
  }
  void OnEnd(std::string_view method, std::string_view host, size_t sent, size_t received) override {
    metrics_.request_size.With(method, host).Observe(static_cast<double>(sent));
    metrics_.response_size.With(method, host).Observe(static_cast<double>(received));
  }
  void OnSent(client::WriteClass, std::string_view method, base::Duration waited) override {
    metrics_.rate_limiter_duration.With(method, host_).Observe(Seconds(waited));
  }
  void OnUnlimited(std::string_view method) override { metrics_.rate_limiter_duration.With(method, host_).Observe(0); }
  void OnRetry(std::string_view method, std::string_view host, int status) override {
    metrics_.request_retries.With(std::to_string(status), method, host).Add();
  }

 private:
  static double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

  metrics::RestClientMetrics metrics_;
  const std::string& host_;  // of the API server, as metrics name it
};

}  // namespace berth::live
