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
  LoopMetrics(metrics::SchedulerMetrics& metrics, const base::Clock& clock);

  // Times the profile's plugins, in one cycle of ten on the scheduling thread, always in binding cycles.
  void Observe(engine::Profile& profile);
  void BeginCycle();
  void OnDecided(base::Duration took) { metrics_.scheduling_algorithm_duration.Observe(Seconds(took)); }
  void OnScheduled(const std::string& profile, base::Duration took, int attempts,
                   std::optional<base::Duration> since_first_attempt);
  void OnFailed(const std::string& profile, bool unschedulable, base::Duration took);
  void OnEvent(const framework::ClusterEvent& event, base::Duration took);
  void SetPending(const queue::SchedulingQueue::Counts& counts);
  void SetCache(const cluster::Cluster& cluster);

 private:
  struct OfProfile {
    metrics::AttemptMetrics scheduled, unschedulable, error;
  };

  static double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }
  OfProfile& Of(const std::string& profile);

  metrics::SchedulerMetrics& metrics_;
  std::map<std::string, OfProfile> profiles_;
  std::map<std::string, metrics::Histogram*> events_;  // by label
  metrics::Gauge& active_;
  metrics::Gauge& backoff_;
  metrics::Gauge& unschedulable_;
  metrics::Gauge& gated_;
  metrics::Gauge& cached_nodes_;
  metrics::Gauge& cached_pods_;
  uint64_t cycles_ = 0;
  bool sampling_ = false;
};

}  // namespace berth::live
