// LoopMetrics: what the scheduling thread counts, under upstream's names. Metrics are looked up once.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

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
  // The API calls of a preemption have ended.
  void OnEvicted(bool failed, base::Duration took);
  void OnIncoming(queue::PodState place, std::string_view cause);
  void OnEvent(const framework::ClusterEvent& event, base::Duration took);
  void SetPending(const queue::SchedulingQueue::Counts& counts);
  void SetCache(const cluster::Cluster& cluster, size_t binding);
  // Which plugins hold how many pods back. Walks the queue: not for every cycle.
  void SetRejections(const queue::SchedulingQueue& queue);

 private:
  // Durations of a profile's extension points, each looked up when it is first needed: a series that has no sample is
  // not shown. Binding threads fill in theirs.
  class PointHistograms {
   public:
    PointHistograms(metrics::Family<metrics::Histogram>& family, std::string profile)
        : family_(family), profile_(std::move(profile)) {}
    metrics::Histogram& At(config::ExtensionPoint point, framework::Code code);

   private:
    static constexpr int kCodes = static_cast<int>(framework::Code::kPending) + 1;

    metrics::Family<metrics::Histogram>& family_;
    const std::string profile_;
    std::atomic<metrics::Histogram*> known_[config::kExtensionPointCount][kCodes]{};
  };
  struct OfProfile {
    metrics::AttemptMetrics scheduled, unschedulable, error;
    std::unique_ptr<PointHistograms> points;
  };

  static double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }
  OfProfile& Of(const std::string& profile);

  metrics::SchedulerMetrics& metrics_;
  std::map<std::string, OfProfile> profiles_;
  // Of the points of scheduling cycles.
  std::map<std::tuple<std::string, config::ExtensionPoint, framework::Code>, metrics::Histogram*, std::less<>> plugins_;
  std::map<std::pair<framework::EventResource, framework::ActionType>, metrics::Histogram*> events_;
  std::map<std::pair<queue::PodState, std::string>, metrics::Counter*, std::less<>> incoming_;
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
