// SchedulingLoop: the scheduling thread. It owns the cache of the cluster and the queue; everything else talks to it by
// messages, which it reads between cycles.
//
//   watches  --changes-->  mailbox  -->  cache, queue
//   queue    --pod------>  scheduling cycle  -->  binding cycle on another thread  --outcome-->  mailbox
//
// It schedules once every kind has been listed and StartScheduling, which leader election triggers, was called.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/object_change.h"
#include "config/types.h"
#include "framework/registry.h"
#include "inspect/simulator_annotations.h"
#include "live/binding_runner.h"
#include "live/change_backlog.h"
#include "live/lane_metrics.h"
#include "live/live_api.h"
#include "live/loop_metrics.h"
#include "live/mailbox.h"
#include "scheduler/attempt_journal.h"
#include "scheduler/driver.h"

namespace berth::live {

class SchedulingLoop final : public client::ChangeSink, private scheduler::DriverObserver {
 public:
  struct Options {
    uint64_t seed = 1;
    bool verify_incremental = false;
    base::Duration max_unschedulable = std::chrono::minutes(5);  // after that, a pod is tried again in any case
    // No more pods are scheduled while this many are being bound: decisions made long before they take effect are
    // outdated. Up to max_waiting of them that wait for a volume or a device, possibly for minutes, do not count; each
    // has a thread.
    size_t max_binding = 512;
    size_t max_waiting = 2048;
    size_t backlog = ChangeBacklog::kFew;  // unread changes of a kind, above which obsolete ones are dropped
    // The kinds whose first list is required.
    std::set<api::Kind> kinds{};
    std::vector<engine::Extender*> extenders{};        // must outlive it
    metrics::EngineMetrics* engine_metrics = nullptr;  // must outlive it; null: not counted
    size_t journal_bytes = 0;                          // for the last attempts; 0: none are kept
    // Pods are annotated with every plugin's result for every node. Slow: nothing is reused from pod to pod.
    bool annotate_results = false;
    scheduler::Tap* tap = nullptr;  // must outlive it; may be null
  };

  static Result<std::unique_ptr<SchedulingLoop>> Create(const config::KubeSchedulerConfiguration& configuration,
                                                        const framework::Registry& registry,
                                                        const config::FeatureGates& gates, const base::Clock& clock,
                                                        BindingRunner& runner, client::ApiClient& client,
                                                        client::EventRecorder& events,
                                                        metrics::SchedulerMetrics& metrics, Options options);
  ~SchedulingLoop() override;

  // On the calling thread, until Stop. Waits for binding cycles in progress.
  void Run();
  // One turn of Run: reads the mail, then schedules a bounded number of pods. Returns the latest time for the next
  // turn; mail makes it due at once.
  base::Time Turn();
  // After Stop: nothing is in progress any more.
  bool ended() const { return stopping_ && driver_->binding() == 0; }
  // Any thread: called when mail arrives and no turn is due for it yet. Set it before the loop is used.
  void set_on_mail(std::function<void()> on_mail) { mailbox_.set_on_first(std::move(on_mail)); }
  // Any thread: for how long there have been pods to schedule and none was scheduled. Zero before the first turn.
  base::Duration StuckFor() const;
  // Any thread, for /livez: an error if that is a minute or more, which a healthy scheduler never comes near.
  Result<void> CheckProgress() const;
  // Any thread from here on.
  void Stop();
  void StartScheduling();
  // Whether every kind has been listed.
  bool synced() const { return synced_; }
  // Uses other profiles from the next cycle on: Driver::Reconfigure. On the scheduling thread.
  Result<void> Reconfigure(const config::KubeSchedulerConfiguration& configuration,
                           const framework::Registry& registry);
  // On a binding thread: as ApiClient::ConfirmBound.
  Result<void> ConfirmBound(const framework::PodInfo& pod, const std::string& node_name, const Error& refusal) {
    return api_.ConfirmBound(pod, node_name, refusal);
  }
  // Runs on the scheduling thread, between cycles.
  void Post(Mailbox::Message message) { mailbox_.Post(std::move(message)); }

  // On the scheduling thread: changes to a resource that plugins watch.
  void ApplyCustom(framework::EventResource resource, const ChangeBacklog::Unread& unread);

  // client::ChangeSink
  void OnListing(api::Kind kind, std::vector<client::ObjectChange> changes) override;
  void OnChanges(api::Kind kind, std::vector<client::ObjectChange> changes) override;
  void OnNotServed(api::Kind kind) override;

  // For messages: what may be inspected.
  size_t waiting() const { return api_.waiting(); }  // binding cycles that wait for volumes or devices
  const scheduler::Driver& driver() const { return *driver_; }
  const scheduler::AttemptJournal* journal() const { return journal_.get(); }  // null if none is kept
  base::Time Now() const { return clock_.Now(); }
  const LiveApi& api() const { return api_; }
  // Pods that will be tried again when their backoff is over.
  size_t retries() const { return retries_.size(); }

 private:
  SchedulingLoop(const config::FeatureGates& gates, const base::Clock& clock, BindingRunner& runner,
                 client::ApiClient& client, client::EventRecorder& events, metrics::SchedulerMetrics& metrics,
                 Options options);
  Result<void> MakeDriver(const config::KubeSchedulerConfiguration& configuration, const framework::Registry& registry);

  struct Retry {
    base::Time requeued;  // as long as the pod has this timestamp, it has not been tried again
    base::Time due;
  };

  void ObserveProfiles();
  bool ready() const { return scheduling_ && synced_; }
  // Whether too many pods are being bound.
  bool full() const {
    return driver_->binding() >= options_.max_binding + std::min(api_.waiting(), options_.max_waiting);
  }
  void TakeBinding(std::unique_ptr<scheduler::BindingCycle> cycle);

  // scheduler::DriverObserver
  void OnCycleBegin(const framework::PodInfoPtr& pod) override;
  void OnCycleEnd(const scheduler::Attempt& attempt) override;
  void OnWaited(const scheduler::Attempt& attempt) override;
  void OnBound(const scheduler::Attempt& attempt) override;
  void OnFailed(const scheduler::Attempt& attempt, const framework::PodInfo& newest) override;
  void OnStale(const scheduler::Attempt& attempt) override;
  void OnSkipped(const framework::PodInfo& pod) override;

  void Add(api::Kind kind, std::vector<client::ObjectChange> changes, bool is_whole);
  void Apply(api::Kind kind, const ChangeBacklog::Unread& unread);
  void MarkListed(api::Kind kind);
  void CheckSynced();
  void WriteDown(const scheduler::Attempt& attempt, scheduler::Ending ending);
  void UpdateGauges();
  bool Step();
  void NoteProgress(bool scheduled);
  void OnEvicted(const Evictions::Ended& ended);
  // No event will requeue the pod with this UID: it is tried again when its backoff is over.
  void RetryAfterBackoff(const std::string& uid);
  void RetryDue();
  // How long nothing will happen without mail.
  base::Duration IdleTime();

  const config::FeatureGates gates_;
  const base::Clock& clock_;
  const Options options_;
  Mailbox mailbox_;
  ChangeBacklog backlog_;  // one message per kind with unread changes is in the mailbox
  BindingRunner& runner_;
  LiveApi api_;
  LoopMetrics metrics_;
  LaneMetrics lane_metrics_;
  std::unique_ptr<scheduler::AttemptJournal> journal_;
  // By UID: results of attempts in progress, until their outcome is known.
  std::map<std::string, inspect::AnnotationTexts> results_;
  std::map<std::string, Retry> retries_;  // by UID
  std::unique_ptr<scheduler::Driver> driver_;
  std::set<api::Kind> unlisted_;
  std::set<framework::EventResource> unlisted_custom_;
  base::Time rejections_counted_{};
  uint64_t steps_ = 0;
  // When it last made progress or had nothing to do, in the clock's nanoseconds; 0 before the first turn. Read by other
  // threads.
  std::atomic<int64_t> progress_at_ = 0;
  bool scheduling_ = false;
  bool stopping_ = false;
  std::atomic<bool> synced_ = false;
};

}  // namespace berth::live
