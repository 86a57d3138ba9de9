// LaneMetrics: fills in EngineMetrics from what profiles and attempts report. Used on the scheduling thread.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "engine/profile.h"
#include "metrics/engine_metrics.h"
#include "scheduler/attempt.h"

namespace berth::live {

class LaneMetrics {
 public:
  // `metrics` may be null: nothing is counted then.
  explicit LaneMetrics(metrics::EngineMetrics* metrics) : metrics_(metrics) {}

  // Must outlive the profile's use.
  void Observe(engine::Profile& profile);
  void OnDecided(const scheduler::Attempt& attempt);

 private:
  metrics::EngineMetrics* const metrics_;
  // Looked up once.
  std::map<std::pair<std::string, scheduler::Way>, metrics::Counter*, std::less<>> decisions_;
  std::map<std::tuple<std::string, config::ExtensionPoint, engine::LaneWork>, metrics::Histogram*, std::less<>>
      plugins_;
};

}  // namespace berth::live
