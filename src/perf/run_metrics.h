// RunMetrics: the scheduler_* histograms of one run, recorded while a collection is active.
//
// Attempts and events are always timed. Plugins are timed in every tenth cycle, as upstream samples them, so that the
// timing does not distort the measurement.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "engine/plugin_observer.h"
#include "engine/profile.h"
#include "framework/events.h"
#include "perf/quantile_histogram.h"
#include "queue/scheduling_queue.h"
#include "scheduler/scheduler.h"

namespace berth::perf {

class RunMetrics final : private engine::PluginObserver {
 public:
  // The clock must outlive this.
  explicit RunMetrics(const base::Clock& clock) : clock_(clock) {}

  // Resets everything and starts; until Stop, everything below is recorded, otherwise nothing.
  void Start();
  void Stop() { on_ = false; }
  const Metrics& metrics() const { return metrics_; }

  void OnAttempt(scheduler::Outcome outcome, base::Duration took);
  void OnScheduled(base::Duration since_first_attempt);
  void OnEvent(const framework::ClusterEvent& event, base::Duration took);
  // Wraps the hooks so that every hint is timed.
  queue::ProfileHooks Timed(queue::ProfileHooks hooks);

  // Around one cycle of `profile`: its plugins are timed if the cycle is sampled.
  void BeginCycle(engine::Profile& profile);
  void EndCycle(engine::Profile& profile);

 private:
  // engine::PluginObserver, in a sampled cycle.
  bool times_plugins(engine::Step) const override { return true; }
  void OnPlugin(engine::Step step, std::string_view plugin, framework::Code code, base::Duration took,
                uint64_t count) override;
  void OnStep(engine::Step step, framework::Code code, base::Duration took) override;
  void OnError(engine::Step, std::string_view) override {}

  const base::Clock& clock_;
  bool on_ = false;
  bool sampling_ = false;
  uint64_t cycle_ = 0;
  Metrics metrics_;
  std::array<QuantileHistogram*, 3> attempts_{};  // scheduled, unschedulable, error
  QuantileHistogram* sli_ = nullptr;
  std::array<std::unordered_map<const char*, QuantileHistogram*>, engine::kStepCount> plugins_;  // by name's address
  std::unordered_map<uint64_t, QuantileHistogram*> events_;  // by resource and action
};

}  // namespace berth::perf
