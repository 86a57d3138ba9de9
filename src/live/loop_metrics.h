// LoopMetrics: what the scheduling thread counts, under upstream's names. Metrics are looked up once.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cluster/cluster.h"
#include "engine/profile.h"
#include "metrics/scheduler_metrics.h"
#include "queue/scheduling_queue.h"

namespace berth::live {

class LoopMetrics {
 public:
  explicit LoopMetrics(metrics::SchedulerMetrics& metrics);

  // Times the profile's plugins: each by itself in one cycle of ten, added up by extension point in every one.
  void Observe(engine::Profile& profile);
  void BeginCycle();
  void EndCycle(const std::string& profile);
  void OnDecided(base::Duration took) { metrics_.scheduling_algorithm_duration.Observe(Seconds(took)); }
  void OnScheduled(const std::string& profile, base::Duration took, int attempts,
                   std::optional<base::Duration> since_first_attempt);
  void OnFailed(const std::string& profile, bool unschedulable, base::Duration took);
  void OnPreemption(const framework::PostFilterResult& result);
  void OnIncoming(queue::Place place, std::string_view cause);
  void OnEvent(const framework::ClusterEvent& event, base::Duration took);
  void SetPending(const queue::SchedulingQueue::Counts& counts);
  void SetCache(const cluster::Cluster& cluster, size_t binding);
  // Which plugins hold how many pods back. Walks the queue: not for every cycle.
  void SetRejections(const queue::SchedulingQueue& queue);

 private:
  struct OfProfile {
    metrics::AttemptMetrics scheduled, unschedulable, error;
  };

  static double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }
  OfProfile& Of(const std::string& profile);

  metrics::SchedulerMetrics& metrics_;
  std::map<std::string, OfProfile> profiles_;
  std::map<std::pair<framework::EventResource, framework::ActionType>, metrics::Histogram*> events_;
  std::map<std::pair<queue::Place, std::string>, metrics::Counter*, std::less<>> incoming_;
  std::map<std::pair<std::string, std::string>, metrics::Gauge*> rejections_;  // by plugin and profile
  metrics::Gauge& active_;
  metrics::Gauge& backoff_;
  metrics::Gauge& unschedulable_;
  metrics::Gauge& gated_;
  metrics::Gauge& cached_nodes_;
  metrics::Gauge& cached_pods_;
  metrics::Gauge& binding_;
  // Of the cycle under way, by extension point.
  struct PointTime {
    base::Duration took{};
    framework::Code code = framework::Code::kSuccess;  // the first that was no success
    bool ran = false;
  };
  PointTime points_[config::kExtensionPointCount];
  uint64_t cycles_ = 0;
  bool sampling_ = false;
};

}  // namespace berth::live
