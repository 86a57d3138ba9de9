#include "perf/run_metrics.h"

namespace berth::perf {

namespace {

constexpr uint64_t kCyclesPerSample = 10;
constexpr char kAttempt[] = "scheduler_scheduling_attempt_duration_seconds";

double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void RunMetrics::Start() {
  metrics_.Reset();
  attempts_ = {&metrics_.At(kAttempt, {{"result", "scheduled"}}), &metrics_.At(kAttempt, {{"result", "unschedulable"}}),
               &metrics_.At(kAttempt, {{"result", "error"}})};
  sli_ = &metrics_.At("scheduler_pod_scheduling_sli_duration_seconds", {});
  cycle_ = 0;
  on_ = true;
}

void RunMetrics::OnAttempt(scheduler::Outcome outcome, base::Duration took) {
  if (!on_) return;
  switch (outcome) {
    case scheduler::Outcome::kBound:
      return attempts_[0]->Observe(Seconds(took));
    case scheduler::Outcome::kUnschedulable:
      return attempts_[1]->Observe(Seconds(took));
    case scheduler::Outcome::kError:
      return attempts_[2]->Observe(Seconds(took));
    case scheduler::Outcome::kBinding:
    case scheduler::Outcome::kWaiting:
      return;  // not over yet
  }
}

void RunMetrics::OnScheduled(base::Duration since_first_attempt) {
  if (on_) sli_->Observe(Seconds(since_first_attempt));
}

void RunMetrics::OnEvent(const framework::ClusterEvent& event, base::Duration took) {
  if (!on_) return;
  QuantileHistogram*& place =
      events_[static_cast<uint64_t>(event.resource) << 32 | static_cast<uint64_t>(event.action)];
  if (!place) place = &metrics_.At("scheduler_event_handling_duration_seconds", {{"event", event.Label()}});
  place->Observe(Seconds(took));
}

queue::ProfileHooks RunMetrics::Timed(queue::ProfileHooks hooks) {
  for (auto& [plugin, events] : hooks.events) {
    for (framework::ClusterEventWithHint& entry : events) {
      if (!entry.hint) continue;
      QuantileHistogram& histogram = metrics_.At("scheduler_queueing_hint_execution_duration_seconds",
                                                 {{"plugin", plugin}, {"event", entry.event.Label()}});
      entry.hint = [this, &histogram, hint = std::move(entry.hint)](const framework::PodInfo& pod,
                                                                    const framework::EventObject& before,
                                                                    const framework::EventObject& after) {
        if (!on_) return hint(pod, before, after);
        const base::Time start = clock_.Now();
        const framework::QueueingHint answer = hint(pod, before, after);
        histogram.Observe(Seconds(clock_.Now() - start));
        return answer;
      };
    }
  }
  return hooks;
}

void RunMetrics::BeginCycle(engine::Profile& profile) {
  sampling_ = on_ && cycle_++ % kCyclesPerSample == 0;
  if (sampling_) profile.set_observer(this);
}

void RunMetrics::EndCycle(engine::Profile& profile) {
  if (!sampling_) return;
  sampling_ = false;
  profile.set_observer(nullptr);
}

void RunMetrics::OnStep(engine::Step step, framework::Code, base::Duration took) {
  metrics_
      .At("scheduler_framework_extension_point_duration_seconds",
          {{"extension_point", std::string(engine::NameOf(step))}})
      .Observe(Seconds(took));
}

void RunMetrics::OnPlugin(engine::Step step, std::string_view plugin, framework::Code, base::Duration took,
                          uint64_t count) {
  QuantileHistogram*& place = plugins_[static_cast<size_t>(step)][plugin.data()];
  if (!place) {
    place = &metrics_.At("scheduler_plugin_execution_duration_seconds",
                         {{"plugin", std::string(plugin)}, {"extension_point", std::string(engine::NameOf(step))}});
  }
  for (uint64_t i = 0; i < count; ++i) place->Observe(Seconds(took));
}

}  // namespace berth::perf
