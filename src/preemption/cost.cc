#include "preemption/cost.h"

#include "base/check.h"
#include "preemption/victim_order.h"

namespace berth::preemption {

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
