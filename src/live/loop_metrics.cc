#include "live/loop_metrics.h"

#include <algorithm>

namespace berth::live {

namespace {

// One cycle in so many has its plugins timed, as upstream samples.
constexpr uint64_t kSampleEvery = 10;
// More attempts than this are not told apart.
constexpr int kMostAttempts = 15;

bool IsOfBindingCycle(config::ExtensionPoint point) {
  return point == config::ExtensionPoint::kPreBind || point == config::ExtensionPoint::kBind ||
         point == config::ExtensionPoint::kPostBind;
}

}  // namespace

LoopMetrics::LoopMetrics(metrics::SchedulerMetrics& metrics, const base::Clock&)
    : metrics_(metrics),
      active_(metrics.pending_pods.With("active")),
      backoff_(metrics.pending_pods.With("backoff")),
      unschedulable_(metrics.pending_pods.With("unschedulable")),
      gated_(metrics.pending_pods.With("gated")),
      cached_nodes_(metrics.cache_size.With("nodes")),
      cached_pods_(metrics.cache_size.With("pods")) {}

void LoopMetrics::Observe(engine::Profile& profile) {
  profile.set_observer([this](config::ExtensionPoint point, std::string_view plugin, framework::Code code,
                              base::Duration took) {
    if (!IsOfBindingCycle(point) && !sampling_) return;
    metrics_.plugin_execution_duration.With(plugin, config::NameOf(point), framework::NameOf(code)).Observe(Seconds(took));
  });
}

void LoopMetrics::BeginCycle() { sampling_ = cycles_++ % kSampleEvery == 0; }

LoopMetrics::OfProfile& LoopMetrics::Of(const std::string& profile) {
  const auto it = profiles_.find(profile);
  if (it != profiles_.end()) return it->second;
  return profiles_
      .emplace(profile, OfProfile{metrics::AttemptMetrics(metrics_, metrics::kScheduled, profile),
                                  metrics::AttemptMetrics(metrics_, metrics::kUnschedulable, profile),
                                  metrics::AttemptMetrics(metrics_, metrics::kSchedulingError, profile)})
      .first->second;
}

void LoopMetrics::OnScheduled(const std::string& profile, base::Duration took, int attempts,
                              std::optional<base::Duration> since_first_attempt) {
  Of(profile).scheduled.Record(Seconds(took));
  metrics_.pod_scheduling_attempts.Observe(attempts);
  if (!since_first_attempt) return;
  const std::string label = attempts > kMostAttempts ? std::to_string(kMostAttempts) + "+" : std::to_string(attempts);
  metrics_.pod_scheduling_sli_duration.With(label).Observe(Seconds(*since_first_attempt));
}

void LoopMetrics::OnFailed(const std::string& profile, bool unschedulable, base::Duration took) {
  OfProfile& of = Of(profile);
  (unschedulable ? of.unschedulable : of.error).Record(Seconds(took));
}

void LoopMetrics::OnEvent(const framework::ClusterEvent& event, base::Duration took) {
  const std::string label = event.Label();
  metrics::Histogram*& histogram = events_[label];
  if (!histogram) histogram = &metrics_.event_handling_duration.With(label);
  histogram->Observe(Seconds(took));
}

void LoopMetrics::SetPending(const queue::SchedulingQueue::Counts& counts) {
  active_.Set(static_cast<double>(counts.active));
  backoff_.Set(static_cast<double>(counts.backoff));
  unschedulable_.Set(static_cast<double>(counts.unschedulable));
  gated_.Set(static_cast<double>(counts.gated));
}

void LoopMetrics::SetCache(const cluster::Cluster& cluster) {
  cached_nodes_.Set(static_cast<double>(cluster.nodes().size()));
  cached_pods_.Set(static_cast<double>(cluster.pod_count()));
}

}  // namespace berth::live
