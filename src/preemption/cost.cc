#include "preemption/cost.h"

#include <algorithm>

#include "base/check.h"

namespace berth::preemption {

base::Time StartTimeOf(const framework::PodInfo& pod, base::Time now) { return pod.start_time().value_or(now); }

bool MoreImportant::operator()(const framework::PodInfo& a, const framework::PodInfo& b) const {
  if (a.priority() != b.priority()) return a.priority() > b.priority();
  return StartTimeOf(a, now) < StartTimeOf(b, now);
}

const framework::PodInfo& LongestRunningOfMostImportant(const framework::Victims& victims, base::Time now) {
  CHECK(!victims.pods.empty());
  return **std::min_element(victims.pods.begin(), victims.pods.end(), MoreImportant{now});
}

Cost CostOf(const framework::Victims& victims, base::Time now) {
  CHECK(!victims.pods.empty());
  constexpr int64_t kRaise = int64_t{1} << 31;
  Cost cost;
  cost.pdb_violations = static_cast<int32_t>(victims.pdb_violations);
  cost.highest_priority = victims.pods.front()->priority();
  for (const framework::PodInfoPtr& pod : victims.pods) cost.priority_sum += pod->priority() + kRaise;
  cost.victims = static_cast<uint32_t>(victims.pods.size());
  cost.earliest_start = StartTimeOf(LongestRunningOfMostImportant(victims, now), now);
  return cost;
}

}  // namespace berth::preemption
