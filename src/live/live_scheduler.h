// LiveScheduler: a scheduler on a real cluster. Puts together what talks to the API server (src/client) and what
// decides (SchedulingLoop), and follows leader election.
//
// Threads: the caller of Run is the scheduling thread. The transport has one for HTTP; one loop decodes what watches
// bring, another is the write path's, a third runs leader election, so that no list, however long, delays a bind or a
// renewal; binding cycles have their own.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/loop.h"
#include "client/api_client.h"
#include "client/event_recorder.h"
#include "client/leader_election.h"
#include "client/reflector.h"
#include "client/sync_report.h"
#include "client/token_bucket.h"
#include "client/write_window.h"
#include "config/types.h"
#include "framework/registry.h"
#include "http/api_transport.h"
#include "http/rest_config.h"
#include "live/binding_threads.h"
#include "live/http_extender.h"
#include "live/request_metrics.h"
#include "live/scheduling_loop.h"
#include "metrics/component_metrics.h"
#include "metrics/registry.h"
#include "metrics/scheduler_metrics.h"

namespace berth::live {

struct LiveOptions {
  config::KubeSchedulerConfiguration configuration;
  config::FeatureGates gates;
  http::RestConfig rest;
  std::string hostname;
  SchedulingLoop::Options loop{};
};

class LiveScheduler {
 public:
  // `registry` is needed only while it is made; the others must outlive it.
  static Result<std::unique_ptr<LiveScheduler>> Create(LiveOptions options, const framework::Registry& registry,
                                                       metrics::Registry& metrics, const base::Clock& clock);
  ~LiveScheduler();

  // Until Stop, or until leadership is lost, which is an error. Releases the lease at the end.
  Result<void> Run();

  // Thread-safe.
  void Stop();
  bool is_leader() const { return elector_ == nullptr || elector_->is_leader(); }
  Result<void> CheckLeadership() const;
  bool synced() const { return loop_->synced(); }
  // Which kinds have never been listed, for how long, and why; "" when all have.
  std::string MissingKinds() const { return sync_report_->Missing(); }
  SchedulingLoop& loop() { return *loop_; }
  // For reads besides its own.
  client::ApiClient& client() { return client_; }
  base::Loop& io() { return io_; }

 private:
  static constexpr size_t kBindingThreads = 64;

  LiveScheduler(LiveOptions options, metrics::Registry& metrics, const base::Clock& clock);
  Result<void> Make(const framework::Registry& registry);
  void MakeElector();
  void MakeReflectors();
  // False when that had been done before.
  bool StartReflectors();
  // On the election's loop.
  void OnStartedLeading();
  void MarkLooked() {
    std::call_once(looked_once_, [this] { looked_.set_value(); });
  }
  void OnStoppedLeading();
  void CatchUpThenSchedule();
  client::ApiClientOptions ClientOptions();

  const LiveOptions options_;
  const base::Clock& clock_;
  metrics::SchedulerMetrics metrics_;
  metrics::LeaderElectionMetrics election_metrics_;
  RequestMetrics request_metrics_;
  std::unique_ptr<http::ApiTransport> transport_;
  const std::string host_;  // of the API server, as metrics name it
  const std::shared_ptr<client::TokenBucket> bucket_;
  // Outlives whoever asks it, and the elector that moves it.
  const std::shared_ptr<client::WriteWindow> window_ = std::make_shared<client::WriteWindow>();
  base::ThreadLoop io_;
  base::ThreadLoop write_loop_;
  base::ThreadLoop election_loop_;
  client::ApiClient client_;
  client::ApiClient election_client_;
  client::EventRecorder events_;
  std::vector<std::unique_ptr<HttpExtender>> extenders_;
  std::unique_ptr<SchedulingLoop> loop_;
  std::unique_ptr<BindingThreads> threads_ = std::make_unique<BindingThreads>(kBindingThreads);  // use loop_
  std::vector<std::unique_ptr<client::Reflector>> reflectors_;
  std::unique_ptr<client::SyncReport> sync_report_;
  std::unique_ptr<client::LeaderElector> elector_;  // null without leader election
  std::promise<void> looked_;                       // at the lease, for the first time
  std::once_flag looked_once_;
  std::mutex reflecting_mutex_;
  bool reflecting_ = false;  // the reflectors have been started; guarded by reflecting_mutex_
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> lost_ = false;
};

}  // namespace berth::live
