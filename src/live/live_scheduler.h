// LiveScheduler: a LiveCore with its threads and its connection.
//
// Threads: the caller of Run is the scheduling thread. The transport has one for HTTP; one loop decodes what watches
// return, another is the write path's, a third runs leader election, so that no list, however long, delays a bind or a
// renewal; binding cycles have their own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/loop.h"
#include "framework/registry.h"
#include "http/api_transport.h"
#include "live/binding_threads.h"
#include "live/http_extender.h"
#include "live/live_core.h"
#include "live/request_metrics.h"
#include "metrics/extender_metrics.h"
#include "metrics/registry.h"

namespace berth::live {

class LiveScheduler {
 public:
  // `registry` is needed only in this call; the others must outlive the scheduler.
  static Result<std::unique_ptr<LiveScheduler>> Create(LiveOptions options, const framework::Registry& registry,
                                                       metrics::Registry& metrics, const base::Clock& clock);
  ~LiveScheduler();

  // Runs until Stop, or until leadership is lost, which is an error. Releases the lease at the end.
  Result<void> Run();

  // Thread-safe.
  void Stop() { core_->Stop(); }
  void Announce(const std::string& type, const std::string& reason, const std::string& note) {
    core_->Announce(type, reason, note);
  }
  bool is_leader() const { return core_->is_leader(); }
  Result<void> CheckLeadership() const { return core_->CheckLeadership(); }
  // For /livez.
  Result<void> CheckProgress() const { return core_->loop().CheckProgress(); }
  bool synced() const { return core_->synced(); }
  const client::LeaseCandidacy* candidacy() const { return core_->candidacy(); }
  std::string MissingKinds() const { return core_->MissingKinds(); }
  SchedulingLoop& loop() { return core_->loop(); }
  // For other reads than its own.
  client::ApiClient& client() { return core_->client(); }
  base::Loop& io() { return io_; }

 private:
  LiveScheduler(LiveOptions options, metrics::Registry& metrics, const base::Clock& clock);
  void ObserveExtenders(metrics::Registry& metrics);

  LiveOptions options_;
  const base::Clock& clock_;
  const base::MonotonicClock monotonic_;
  RequestMetrics request_metrics_;
  std::unique_ptr<http::ApiTransport> transport_;
  const std::string host_;  // of the API server, as metrics name it
  base::ThreadLoop io_;
  base::ThreadLoop write_loop_;
  base::ThreadLoop election_loop_;
  std::unique_ptr<BindingThreads> threads_;
  std::unique_ptr<metrics::ExtenderMetrics> extender_metrics_;  // null without extenders
  std::vector<std::unique_ptr<HttpExtender>> extenders_;
  std::unique_ptr<LiveCore> core_;
};

}  // namespace berth::live
