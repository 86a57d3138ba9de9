// ApiCallMetrics: asynchronous API calls of one type, as scheduler_async_api_call_*. Upstream makes such calls under
// the gate SchedulerAsyncAPICalls, which decides whether these metrics are exposed; here all of these calls are
// asynchronous. Thread-safe; must outlive its calls.
#pragma once

#include <chrono>

#include "base/clock.h"
#include "metrics/scheduler_metrics.h"

namespace berth::live {

class ApiCallMetrics {
 public:
  class Call {
   public:
    // Call once.
    void End(bool ok) const {
      owner_->pending_.Add(-1);
      const std::chrono::duration<double> took = owner_->clock_.Now() - start_;
      (ok ? owner_->done_ : owner_->failed_).Add();
      (ok ? owner_->done_duration_ : owner_->failed_duration_).Observe(took.count());
    }

   private:
    friend class ApiCallMetrics;
    explicit Call(ApiCallMetrics& owner) : owner_(&owner), start_(owner.clock_.Now()) {}

    ApiCallMetrics* owner_;
    base::Time start_;
  };

  ApiCallMetrics(metrics::SchedulerMetrics& metrics, const base::Clock& clock, std::string_view type)
      : clock_(clock),
        pending_(metrics.pending_async_api_calls.With(type)),
        done_(metrics.async_api_call_execution.With(type, "success")),
        failed_(metrics.async_api_call_execution.With(type, "error")),
        done_duration_(metrics.async_api_call_execution_duration.With(type, "success")),
        failed_duration_(metrics.async_api_call_execution_duration.With(type, "error")) {}

  Call Begin() {
    pending_.Add(1);
    return Call(*this);
  }

 private:
  const base::Clock& clock_;
  metrics::Gauge& pending_;
  metrics::Counter& done_;
  metrics::Counter& failed_;
  metrics::Histogram& done_duration_;
  metrics::Histogram& failed_duration_;
};

}  // namespace berth::live
