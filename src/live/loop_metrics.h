// LoopMetrics: the scheduling thread's metrics, under upstream's names. Metrics are looked up once.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/cluster.h"
#include "engine/profile.h"
#include "metrics/scheduler_metrics.h"
#include "queue/scheduling_queue.h"

namespace berth::live {

class LoopMetrics {
 public:
  explicit LoopMetrics(metrics::SchedulerMetrics& metrics);

  // Times the profile's plugins: each extension point as a whole in every cycle, each plugin in one cycle out of ten.
  void Observe(engine::Profile& profile);
  // The profile is being replaced; takes over its last counts.
  void Forget(engine::Profile& profile);
  void BeginCycle() { sampling_ = cycles_++ % kSampleEvery == 0; }
  void OnDecided(base::Duration took) { metrics_.scheduling_algorithm_duration.Observe(Seconds(took)); }
  void OnScheduled(const std::string& profile, base::Duration took, int attempts,
                   std::optional<base::Duration> since_first_attempt);
  void OnFailed(const std::string& profile, bool unschedulable, base::Duration took);
  void OnPreemption(const framework::PostFilterResult& result);
  // The API calls of a preemption have ended.
  void OnEvicted(bool failed, base::Duration took);
  void OnWaited(framework::Code code, base::Duration waited);
  void OnScheduledAfterFlush() { metrics_.pod_scheduled_after_flush.Add(); }
  void OnHint(const std::string& plugin, const framework::ClusterEvent& event, framework::QueueingHint hint,
              base::Duration took);
  void OnIncoming(queue::PodState place, std::string_view cause);
  void OnEvent(const framework::ClusterEvent& event, base::Duration took);
  void SetPending(const queue::SchedulingQueue::Counts& counts);
  void SetCache(const cluster::Cluster& cluster, size_t binding);
  void SetInFlight(const queue::SchedulingQueue& queue);
  // How many pods in the queue each plugin has rejected. Walks the queue: not for every cycle.
  void SetRejections(const queue::SchedulingQueue& queue);
  // Takes over the counts of the profile's plugins.
  void CountEvaluations(const engine::Profile& profile);

 private:
  // Plugins are timed in one cycle out of this many, as upstream samples.
  static constexpr uint64_t kSampleEvery = 10;

  // Observes the plugins of one profile. Series are looked up with their first sample: a series without one is not
  // shown. Steps of binding cycles are reported from binding threads.
  class OfProfile final : public engine::PluginObserver {
   public:
    OfProfile(LoopMetrics& owner, const std::string& profile);

    bool times_plugins(engine::Step step) const override;
    void OnPlugin(engine::Step step, std::string_view plugin, framework::Code code, base::Duration took,
                  uint64_t count) override;
    void OnStep(engine::Step step, framework::Code code, base::Duration took) override;
    void OnError(engine::Step step, std::string_view plugin) override;

    const metrics::AttemptMetrics scheduled, unschedulable, error;
    // In the profile's order, which does not change: how much of each count has been taken over.
    std::vector<std::pair<metrics::Counter*, uint64_t>> counted;

   private:
    static constexpr int kCodes = static_cast<int>(framework::Code::kPending) + 1;

    LoopMetrics& owner_;
    const std::string profile_;
    std::atomic<metrics::Histogram*> steps_[engine::kStepCount][kCodes]{};
    mutable uint64_t enqueued_ = 0;
  };

  static double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }
  OfProfile& Of(const std::string& profile);

  metrics::SchedulerMetrics& metrics_;
  std::map<std::string, std::unique_ptr<OfProfile>> profiles_;
  // For the steps of scheduling cycles.
  std::map<std::tuple<std::string, engine::Step, framework::Code>, metrics::Histogram*, std::less<>> plugins_;
  using HintKey = std::tuple<std::string, framework::EventResource, framework::ActionType, framework::QueueingHint>;
  std::map<HintKey, metrics::Histogram*> hints_;
  std::map<std::pair<framework::EventResource, framework::ActionType>, metrics::Gauge*> in_flight_;
  std::map<std::pair<framework::EventResource, framework::ActionType>, metrics::Histogram*> events_;
  std::map<std::pair<queue::PodState, std::string>, metrics::Counter*, std::less<>> incoming_;
  std::map<std::pair<std::string, std::string>, metrics::Gauge*> rejections_;  // by plugin and profile
  metrics::Gauge& active_;
  metrics::Gauge& backoff_;
  metrics::Gauge& unschedulable_;
  metrics::Gauge& gated_;
  metrics::Gauge& cached_nodes_;
  metrics::Gauge& cached_pods_;
  metrics::Gauge& assumed_pods_;
  metrics::Gauge& popped_;
  metrics::Gauge& binding_;
  uint64_t cycles_ = 0;
  bool sampling_ = false;
};

}  // namespace berth::live
