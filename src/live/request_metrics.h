// RequestMetrics: what the transport does, and how long its users hold requests back, as rest_client_* metrics.
#pragma once

#include "http/request_observer.h"
#include "metrics/component_metrics.h"

namespace berth::live {

class RequestMetrics final : public http::RequestObserver {
 public:
  explicit RequestMetrics(metrics::Registry& registry) : metrics_(registry) {}

  void OnAnswer(std::string_view method, std::string_view host, int status, base::Duration took) override {
    const std::string code = status == 0 ? "<error>" : std::to_string(status);
    metrics_.requests.With(code, method, host).Add();
    metrics_.request_duration.With(method, host).Observe(Seconds(took));
  }
  void OnEnd(std::string_view method, std::string_view host, size_t sent, size_t received) override {
    metrics_.request_size.With(method, host).Observe(static_cast<double>(sent));
    metrics_.response_size.With(method, host).Observe(static_cast<double>(received));
  }
  // From any thread.
  void OnRateLimited(std::string_view method, std::string_view host, base::Duration delay) {
    metrics_.rate_limiter_duration.With(method, host).Observe(Seconds(delay));
  }
  void OnRetry(std::string_view method, std::string_view host, int status) override {
    metrics_.request_retries.With(std::to_string(status), method, host).Add();
  }

 private:
  static double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

  metrics::RestClientMetrics metrics_;
};

}  // namespace berth::live
