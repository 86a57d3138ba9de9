// LiveCore: a scheduler on a real cluster, without its threads. Combines what talks to the API server (src/client) with
// what decides (SchedulingLoop), and follows leader election; it runs on the loops, transport and clocks it was given.
// LiveScheduler gives it threads and sockets; a storm (test/storm) virtual time and a model network.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/loop.h"
#include "client/api_client.h"
#include "client/event_recorder.h"
#include "client/leader_election.h"
#include "client/lease_candidacy.h"
#include "client/reflector.h"
#include "client/sync_report.h"
#include "client/token_bucket.h"
#include "client/write_window.h"
#include "config/types.h"
#include "framework/registry.h"
#include "http/rest_config.h"
#include "live/binding_runner.h"
#include "live/custom_watch.h"
#include "live/request_metrics.h"
#include "live/scheduling_loop.h"
#include "metrics/component_metrics.h"
#include "metrics/engine_metrics.h"
#include "metrics/registry.h"
#include "metrics/scheduler_metrics.h"

namespace berth::live {

struct LiveOptions {
  config::KubeSchedulerConfiguration configuration;
  config::FeatureGates gates;
  http::RestConfig rest;
  std::string hostname;
  SchedulingLoop::Options loop{};
  client::WriteBudgets budgets = client::kDefaultWriteBudgets;
  // It was told to stop, or has lost its lease. From any thread.
  std::function<void()> on_stop{};
};

// What a core runs on. All of it must outlive the core.
struct LiveEnvironment {
  http::Transport& transport;
  base::Loop& io;        // lists, watches, events
  base::Loop& writes;    // the write path
  base::Loop& election;  // so that no list, however long, delays a renewal
  BindingRunner& runner;
  const base::Clock& clock;      // the wall clock: for times written to the API
  const base::Clock& monotonic;  // for measuring and waiting
  RequestMetrics& request_metrics;
};

class LiveCore {
 public:
  // `registry` is needed only here; `metrics` must outlive the core.
  static Result<std::unique_ptr<LiveCore>> Create(const LiveOptions& options, const framework::Registry& registry,
                                                  metrics::Registry& metrics, LiveEnvironment environment);
  ~LiveCore();

  // Starts to follow the lease and to list; from now on loop() has to take its turns.
  void Start();
  // Thread-safe. Nothing new starts; once loop().ended(), Release has to be called.
  void Stop();
  // Releases the lease; `done` runs when that has succeeded or failed, possibly on another thread.
  void Release(std::function<void()> done);
  // There are no callbacks after this. Call it before the given loops end.
  void Detach();

  // Thread-safe.
  bool is_leader() const { return elector_ == nullptr || elector_->is_leader(); }
  // Stopped because the lease was lost.
  bool lost() const { return lost_; }
  Result<void> CheckLeadership() const;
  bool synced() const { return loop_->synced(); }
  // Null unless the API server coordinates leader election.
  const client::LeaseCandidacy* candidacy() const { return candidacy_.get(); }
  // Which kinds have never been listed, or not since it leads, for how long, and why; "" if all have.
  std::string MissingKinds() const { return sync_report_->Missing(); }

  SchedulingLoop& loop() { return *loop_; }
  const SchedulingLoop& loop() const { return *loop_; }
  // For other reads than its own.
  client::ApiClient& client() { return client_; }
  const client::EventRecorder& events() const { return events_; }
  // Records an event about the scheduler itself, with its lease as the object. Thread-safe.
  void Announce(const std::string& type, const std::string& reason, const std::string& note);
  const std::string& identity() const { return identity_; }

 private:
  LiveCore(const LiveOptions& options, metrics::Registry& metrics, LiveEnvironment environment);
  Result<void> Make(const framework::Registry& registry);
  void MakeElector();
  void MakeCandidacy(uint64_t seed);
  void MakeReflectors();
  // For the resources that plugins watch.
  void MakeCustomReflectors();
  // False if they had been started before.
  bool StartReflectors(client::Reflector::From from);
  // The first check of the lease is over: a scheduler that finds it free lists everything after that, and need not
  // catch up with another leader.
  void OnLooked();
  // On the election's loop.
  void OnStartedLeading();
  void OnStoppedLeading();
  void End();
  void CatchUpThenSchedule();
  client::ApiClientOptions ClientOptions();

  const LiveOptions options_;
  const LiveEnvironment environment_;
  metrics::SchedulerMetrics metrics_;
  metrics::EngineMetrics engine_metrics_;
  metrics::LeaderElectionMetrics election_metrics_;
  const std::shared_ptr<client::TokenBucket> bucket_;
  // Outlives everything that checks it, and the elector that moves it.
  const std::shared_ptr<client::WriteWindow> window_ = std::make_shared<client::WriteWindow>();
  client::ApiClient client_;
  client::ApiClient election_client_;
  client::EventRecorder events_;
  std::unique_ptr<SchedulingLoop> loop_;
  std::vector<std::unique_ptr<CustomWatch>> custom_watches_;
  std::vector<std::unique_ptr<client::Reflector>> reflectors_;
  std::unique_ptr<client::SyncReport> sync_report_;
  std::unique_ptr<client::LeaseCandidacy> candidacy_;  // null unless the API server coordinates leader election
  std::unique_ptr<client::LeaderElector> elector_;     // null without leader election
  std::string identity_;                               // in the lease
  base::TimerId first_look_ = 0;
  std::mutex reflecting_mutex_;
  bool reflecting_ = false;  // the reflectors have been started; guarded by reflecting_mutex_
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> lost_ = false;
};

}  // namespace berth::live
