#include "live/lane_metrics.h"

#include <chrono>

namespace berth::live {

namespace {

std::string_view WayName(scheduler::Way way) {
  switch (way) {
    case scheduler::Way::kLane:
      return "lane";
    case scheduler::Way::kSample:
      return "sample";
    case scheduler::Way::kScratch:
    case scheduler::Way::kNone:
      break;
  }
  return "scratch";
}

}  // namespace

void LaneMetrics::Observe(engine::Profile& profile) {
  if (!metrics_) return;
  profile.set_lane_observer(
      [this](engine::LaneWork work, config::ExtensionPoint point, std::string_view plugin, base::Duration took) {
        const std::tuple<std::string_view, config::ExtensionPoint, engine::LaneWork> key(plugin, point, work);
        auto it = plugins_.find(key);
        if (it == plugins_.end()) {
          const std::string_view point_name = point == config::ExtensionPoint::kFilter ? "Filter" : "Score";
          const std::string_view work_name = work == engine::LaneWork::kBuild ? "build" : "catch_up";
          it = plugins_.emplace(key, &metrics_->lane_plugin_duration.With(plugin, point_name, work_name)).first;
        }
        it->second->Observe(std::chrono::duration<double>(took).count());
      });
}

void LaneMetrics::OnDecided(const scheduler::Attempt& attempt) {
  if (!metrics_ || attempt.way == scheduler::Way::kNone) return;
  const std::pair<std::string, scheduler::Way> key(attempt.pod->pod().spec.scheduler_name, attempt.way);
  auto it = decisions_.find(key);
  if (it == decisions_.end()) {
    it = decisions_.emplace(key, &metrics_->decisions.With(key.first, WayName(key.second))).first;
  }
  it->second->Add();
}

}  // namespace berth::live
