#include "live/loop_metrics.h"

#include <utility>

namespace berth::live {

namespace {

// More attempts than this share one label value.
constexpr int kMostAttempts = 15;

// Upstream's labels for the outcome of a goroutine.
std::string_view ResultName(bool failed) { return failed ? "error" : "success"; }

// Volume binding's stages, by the step that fails.
std::string_view VolumeStage(engine::Step step) {
  switch (step) {
    case engine::Step::kFilter:
      return "predicate";
    case engine::Step::kReserve:
      return "assume";
    case engine::Step::kPreBind:
      return "bind";
    default:
      return "";
  }
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
      assumed_pods_(metrics.cache_size.With("assumed_pods")),
      popped_(metrics.inflight_events.With("PodPopped")),
      binding_(metrics.goroutines.With("binding")) {}

LoopMetrics::OfProfile::OfProfile(LoopMetrics& owner, const std::string& profile)
    : scheduled(owner.metrics_, metrics::kScheduled, profile),
      unschedulable(owner.metrics_, metrics::kUnschedulable, profile),
      error(owner.metrics_, metrics::kSchedulingError, profile),
      owner_(owner),
      profile_(profile) {}

// Binding cycles talk to the API server: compared with that, reading the clock costs nothing.
bool LoopMetrics::OfProfile::times_plugins(engine::Step step) const {
  if (engine::IsOfBindingCycle(step)) return true;
  if (step == engine::Step::kPreEnqueue) return enqueued_++ % kSampleEvery == 0;  // belongs to no cycle
  return owner_.sampling_;
}

void LoopMetrics::OfProfile::OnPlugin(engine::Step step, std::string_view plugin, framework::Code code,
                                      base::Duration took, uint64_t count) {
  const auto find = [&]() -> metrics::Histogram& {
    return owner_.metrics_.plugin_execution_duration.With(plugin, NameOf(step), framework::NameOf(code));
  };
  if (engine::IsOfBindingCycle(step)) return find().ObserveMany(Seconds(took), count);
  const std::tuple<std::string_view, engine::Step, framework::Code> key(plugin, step, code);
  auto it = owner_.plugins_.find(key);
  if (it == owner_.plugins_.end()) it = owner_.plugins_.emplace(key, &find()).first;
  it->second->ObserveMany(Seconds(took), count);
}

void LoopMetrics::OfProfile::OnStep(engine::Step step, framework::Code code, base::Duration took) {
  // Upstream does not distinguish failures here.
  if (step == engine::Step::kPreEnqueue) code = framework::Code::kSuccess;
  std::atomic<metrics::Histogram*>& known = steps_[static_cast<int>(step)][static_cast<int>(code)];
  metrics::Histogram* histogram = known.load(std::memory_order_acquire);
  if (!histogram) {
    histogram =
        &owner_.metrics_.framework_extension_point_duration.With(NameOf(step), framework::NameOf(code), profile_);
    known.store(histogram, std::memory_order_release);
  }
  histogram->Observe(Seconds(took));
}

void LoopMetrics::OfProfile::OnError(engine::Step step, std::string_view plugin) {
  if (plugin != "VolumeBinding" || VolumeStage(step).empty()) return;
  owner_.metrics_.volume_scheduling_stage_error.With(VolumeStage(step)).Add();
}

void LoopMetrics::Observe(engine::Profile& profile) { profile.set_observer(&Of(profile.scheduler_name())); }

void LoopMetrics::Forget(engine::Profile& profile) {
  CountEvaluations(profile);
  Of(profile.scheduler_name()).counted.clear();
}

void LoopMetrics::CountEvaluations(const engine::Profile& profile) {
  auto& counted = Of(profile.scheduler_name()).counted;
  size_t next = 0;
  profile.ForEachCount([&](engine::Step step, std::string_view plugin, uint64_t count) {
    if (next == counted.size()) {
      counted.emplace_back(&metrics_.plugin_evaluation.With(plugin, NameOf(step), profile.scheduler_name()), 0);
    }
    auto& [counter, before] = counted[next++];
    if (count != before) counter->Add(count - std::exchange(before, count));
  });
}

LoopMetrics::OfProfile& LoopMetrics::Of(const std::string& profile) {
  std::unique_ptr<OfProfile>& known = profiles_[profile];
  if (!known) known = std::make_unique<OfProfile>(*this, profile);
  return *known;
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

void LoopMetrics::OnWaited(framework::Code code, base::Duration waited) {
  metrics_.permit_wait_duration.With(framework::NameOf(code)).Observe(Seconds(waited));
}

void LoopMetrics::OnHint(const std::string& plugin, const framework::ClusterEvent& event, framework::QueueingHint hint,
                         base::Duration took) {
  metrics::Histogram*& histogram = hints_[HintKey(plugin, event.resource, event.action, hint)];
  if (!histogram) {
    const char* answer = hint == framework::QueueingHint::kQueue ? "Queue" : "QueueSkip";
    histogram = &metrics_.queueing_hint_execution_duration.With(plugin, event.Label(), answer);
  }
  histogram->Observe(Seconds(took));
}

void LoopMetrics::SetInFlight(const queue::SchedulingQueue& queue) {
  popped_.Set(static_cast<double>(queue.counts().in_flight));
  queue.ForEachInFlightEvent([&](const framework::ClusterEvent& event, size_t count) {
    metrics::Gauge*& gauge = in_flight_[{event.resource, event.action}];
    if (!gauge) gauge = &metrics_.inflight_events.With(event.Label());
    gauge->Set(static_cast<double>(count));
  });
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
  assumed_pods_.Set(static_cast<double>(cluster.assumed_count()));
}

}  // namespace berth::live
