// LoopMetrics: what the scheduling thread counts, under upstream's names. Metrics are looked up once.
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

  // Times the profile's plugins: all of an extension point together in every cycle, each by itself in one of ten.
  void Observe(engine::Profile& profile);
  // The profile goes, and what it counted last is taken over.
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
  // Which plugins hold how many pods back. Walks the queue: not for every cycle.
  void SetRejections(const queue::SchedulingQueue& queue);
  // Takes over what the profile's plugins have counted.
  void CountEvaluations(const engine::Profile& profile);

 private:
  // One cycle in so many has its plugins timed, as upstream samples.
  static constexpr uint64_t kSampleEvery = 10;

  // Hears the plugins of one profile. Series are looked up when they first have a sample: one without is not shown.
  // Steps of binding cycles come from binding threads.
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
  // Of the steps of scheduling cycles.
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
