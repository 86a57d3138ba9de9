#include "live/loop_metrics.h"

#include <cctype>

namespace berth::live {

namespace {

// One cycle in so many has its plugins timed, as upstream samples.
constexpr uint64_t kSampleEvery = 10;
// More attempts than this are not told apart.
constexpr int kMostAttempts = 15;

// "PreFilter", as metrics spell what the configuration calls preFilter.
std::string MetricName(config::ExtensionPoint point) {
  std::string name(config::NameOf(point));
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

// Upstream's words for how a goroutine ended.
std::string_view ResultName(bool failed) { return failed ? "error" : "success"; }

bool IsOfBindingCycle(config::ExtensionPoint point) {
  return point == config::ExtensionPoint::kPreBind || point == config::ExtensionPoint::kBind ||
         point == config::ExtensionPoint::kPostBind;
}

}  // namespace

LoopMetrics::LoopMetrics(metrics::SchedulerMetrics& metrics)
    : metrics_(metrics),
      active_(metrics.pending_pods.With("active")),
      backoff_(metrics.pending_pods.With("backoff")),
      unschedulable_(metrics.pending_pods.With("unschedulable")),
      gated_(metrics.pending_pods.With("gated")),
      cached_nodes_(metrics.cache_size.With("nodes")),
      cached_pods_(metrics.cache_size.With("pods")),
      binding_(metrics.goroutines.With("binding")) {}

metrics::Histogram& LoopMetrics::PointHistograms::At(config::ExtensionPoint point, framework::Code code) {
  std::atomic<metrics::Histogram*>& known = known_[static_cast<int>(point)][static_cast<int>(code)];
  metrics::Histogram* histogram = known.load(std::memory_order_acquire);
  if (!histogram) {
    histogram = &family_.With(MetricName(point), framework::NameOf(code), profile_);
    known.store(histogram, std::memory_order_release);
  }
  return *histogram;
}

void LoopMetrics::Observe(engine::Profile& profile) {
  PointHistograms& points = *Of(profile.scheduler_name()).points;
  profile.set_observer([this, &points](config::ExtensionPoint point, std::string_view plugin, framework::Code code,
                                       base::Duration took) {
    const auto of_plugin = [&]() -> metrics::Histogram& {
      return metrics_.plugin_execution_duration.With(plugin, MetricName(point), framework::NameOf(code));
    };
    // Binding cycles run on threads of their own, one plugin after the other: each is timed by itself.
    if (IsOfBindingCycle(point)) {
      of_plugin().Observe(Seconds(took));
      points.At(point, code).Observe(Seconds(took));
      return;
    }
    if (point == config::ExtensionPoint::kPreEnqueue) return;  // belongs to no cycle
    if (sampling_) {
      const std::tuple<std::string_view, config::ExtensionPoint, framework::Code> key(plugin, point, code);
      auto it = plugins_.find(key);
      if (it == plugins_.end()) it = plugins_.emplace(key, &of_plugin()).first;
      it->second->Observe(Seconds(took));
    }
    PointTime& sum = points_[static_cast<int>(point)];
    sum.took += took;
    sum.ran = true;
    if (sum.code == framework::Code::kSuccess && code != framework::Code::kSkip) sum.code = code;
  });
}

void LoopMetrics::BeginCycle() {
  sampling_ = cycles_++ % kSampleEvery == 0;
  for (PointTime& point : points_) point = {};
}

void LoopMetrics::EndCycle(const std::string& profile) {
  PointHistograms& points = *Of(profile).points;
  for (int i = 0; i < config::kExtensionPointCount; ++i) {
    const PointTime& point = points_[i];
    if (!point.ran) continue;
    points.At(static_cast<config::ExtensionPoint>(i), point.code).Observe(Seconds(point.took));
  }
}

LoopMetrics::OfProfile& LoopMetrics::Of(const std::string& profile) {
  const auto it = profiles_.find(profile);
  if (it != profiles_.end()) return it->second;
  return profiles_
      .emplace(profile,
               OfProfile{metrics::AttemptMetrics(metrics_, metrics::kScheduled, profile),
                         metrics::AttemptMetrics(metrics_, metrics::kUnschedulable, profile),
                         metrics::AttemptMetrics(metrics_, metrics::kSchedulingError, profile),
                         std::make_unique<PointHistograms>(metrics_.framework_extension_point_duration, profile)})
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

void LoopMetrics::OnPreemption(const framework::PostFilterResult& result) {
  metrics_.preemption_attempts.Add();
  if (!result.victims.pods.empty())
    metrics_.preemption_victims.Observe(static_cast<double>(result.victims.pods.size()));
}

void LoopMetrics::OnEvicted(bool failed, base::Duration took) {
  metrics_.preemption_goroutines_execution.With(ResultName(failed)).Add();
  metrics_.preemption_goroutines_duration.With(ResultName(failed)).Observe(Seconds(took));
}

void LoopMetrics::OnIncoming(queue::PodState place, std::string_view cause) {
  metrics::Counter*& counter = incoming_[{place, std::string(cause)}];
  if (!counter) {
    const char* name = place == queue::PodState::kActive          ? "active"
                       : place == queue::PodState::kUnschedulable ? "unschedulable"
                                                                  : "backoff";
    counter = &metrics_.queue_incoming_pods.With(name, cause);
  }
  counter->Add();
}

void LoopMetrics::OnEvent(const framework::ClusterEvent& event, base::Duration took) {
  metrics::Histogram*& histogram = events_[{event.resource, event.action}];
  if (!histogram) histogram = &metrics_.event_handling_duration.With(event.Label());
  histogram->Observe(Seconds(took));
}

void LoopMetrics::SetPending(const queue::SchedulingQueue::Counts& counts) {
  active_.Set(static_cast<double>(counts.active));
  backoff_.Set(static_cast<double>(counts.backoff));
  unschedulable_.Set(static_cast<double>(counts.unschedulable));
  gated_.Set(static_cast<double>(counts.gated));
}

void LoopMetrics::SetRejections(const queue::SchedulingQueue& queue) {
  std::map<std::pair<std::string, std::string>, size_t> counts;
  queue.ForEach([&](const queue::QueuedPod& pod, queue::PodState place) {
    if (place == queue::PodState::kActive || place == queue::PodState::kInFlight || place == queue::PodState::kBinding)
      return;
    for (const auto* plugins : {&pod.unschedulable_plugins, &pod.pending_plugins}) {
      for (const std::string& plugin : *plugins) ++counts[{plugin, pod.pod->pod().spec.scheduler_name}];
    }
  });
  for (const auto& [key, count] : counts) {
    metrics::Gauge*& gauge = rejections_[key];
    if (!gauge) gauge = &metrics_.unschedulable_pods.With(key.first, key.second);
  }
  for (auto& [key, gauge] : rejections_) {
    const auto it = counts.find(key);
    gauge->Set(it == counts.end() ? 0 : static_cast<double>(it->second));
  }
}

void LoopMetrics::SetCache(const cluster::Cluster& cluster, size_t binding) {
  binding_.Set(static_cast<double>(binding));
  cached_nodes_.Set(static_cast<double>(cluster.nodes().size()));
  cached_pods_.Set(static_cast<double>(cluster.pod_count()));
}

}  // namespace berth::live
