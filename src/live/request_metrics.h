// RequestMetrics: the transport's requests, and how long they were rate limited, as rest_client_* metrics.
#pragma once

#include "client/write_path.h"
#include "http/request_observer.h"
#include "metrics/component_metrics.h"

namespace berth::live {

class RequestMetrics final : public http::RequestObserver, public client::WriteObserver {
 public:
  RequestMetrics(metrics::Registry& registry, const std::string& host)
      : metrics_(registry),
        writes_waiting_(registry.Add<metrics::Gauge>(
            {.name = "berth_client_writes_waiting",
             .help = "Writes to the API server that wait in line, by class: bind, evict, status or events.",
             .stability = metrics::Stability::kAlpha,
             .labels = {"class"}})),
        writes_in_flight_(registry.Add<metrics::Gauge>(
            {.name = "berth_client_writes_in_flight",
             .help = "Writes to the API server that were sent and are not answered, by class.",
             .stability = metrics::Stability::kAlpha,
             .labels = {"class"}})),
        write_wait_(registry.Add<metrics::Histogram>(
            {.name = "berth_client_write_wait_seconds",
             .help = "How long writes waited in line before they were sent, by class.",
             .stability = metrics::Stability::kAlpha,
             .labels = {"class"},
             .buckets = {0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}})),
        writes_(registry.Add<metrics::Counter>(
            {.name = "berth_client_writes_total",
             .help = "What became of writes before they were answered, by class: sent, retried, collapsed into a newer "
                     "one of the same object, or rejected because the line was full.",
             .stability = metrics::Stability::kAlpha,
             .labels = {"class", "event"}})),
        events_dropped_(
            registry.Add<metrics::Counter>({.name = "berth_client_events_dropped_total",
                                            .help = "Events that were not written because too many were waiting.",
                                            .stability = metrics::Stability::kAlpha})),
        host_(host) {}

  void OnAnswer(std::string_view method, std::string_view host, int status, base::Duration took) override {
    const std::string code = status == 0 ? "<error>" : std::to_string(status);
    metrics_.requests.With(code, method, host).Add();
    metrics_.request_duration.With(method, host).Observe(Seconds(took));
  }
  void OnEnd(std::string_view method, std::string_view host, size_t sent, size_t received) override {
    metrics_.request_size.With(method, host).Observe(static_cast<double>(sent));
    metrics_.response_size.With(method, host).Observe(static_cast<double>(received));
  }
  void OnSent(client::WriteClass write_class, std::string_view method, base::Duration waited) override {
    metrics_.rate_limiter_duration.With(method, host_).Observe(Seconds(waited));
    write_wait_.With(NameOf(write_class)).Observe(Seconds(waited));
    Count(write_class, "sent");
  }
  void OnDepth(client::WriteClass write_class, size_t waiting, size_t in_flight) override {
    writes_waiting_.With(NameOf(write_class)).Set(static_cast<double>(waiting));
    writes_in_flight_.With(NameOf(write_class)).Set(static_cast<double>(in_flight));
  }
  void OnRetried(client::WriteClass write_class) override { Count(write_class, "retried"); }
  void OnRejected(client::WriteClass write_class) override { Count(write_class, "rejected"); }
  void OnCollapsed(client::WriteClass write_class) override { Count(write_class, "collapsed"); }
  void OnUnlimited(std::string_view method) override { metrics_.rate_limiter_duration.With(method, host_).Observe(0); }
  void OnRetry(std::string_view method, std::string_view host, int status) override {
    metrics_.request_retries.With(std::to_string(status), method, host).Add();
  }
  // Any thread.
  void CountDroppedEvents(uint64_t count) { events_dropped_.With().Add(count); }

 private:
  static double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

  void Count(client::WriteClass write_class, std::string_view event) { writes_.With(NameOf(write_class), event).Add(); }

  metrics::RestClientMetrics metrics_;
  metrics::Family<metrics::Gauge>& writes_waiting_;
  metrics::Family<metrics::Gauge>& writes_in_flight_;
  metrics::Family<metrics::Histogram>& write_wait_;
  metrics::Family<metrics::Counter>& writes_;
  metrics::Family<metrics::Counter>& events_dropped_;
  const std::string& host_;  // of the API server, as metrics name it
};

}  // namespace berth::live
