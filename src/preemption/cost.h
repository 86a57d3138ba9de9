// Which of two running pods to spare first; and Cost: the cost of evicting a set of victims, compared member by member.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "framework/plugin.h"
#include "framework/pod_info.h"

namespace berth::preemption {

// A pod that has not started yet counts as starting now.
base::Time StartTimeOf(const framework::PodInfo& pod, base::Time now);

// A strict weak order: higher priority first, then the pod that has been running longer. `now` is read once per search,
// so that the order does not change while it is being used.
struct MoreImportant {
  base::Time now;

  bool operator()(const framework::PodInfo& a, const framework::PodInfo& b) const;
  bool operator()(const framework::PodInfoPtr& a, const framework::PodInfoPtr& b) const { return (*this)(*a, *b); }
};

// There must be at least one victim.
const framework::PodInfo& LongestRunningOfMostImportant(const framework::Victims& victims, base::Time now);

// Compared member by member, each deciding only among those that the ones before left equal; the smallest wins.
struct Cost {
  int64_t priority_sum = 0;      // each raised by 2^31, so that more victims never make it smaller
  base::Time earliest_start;     // of the most important victims; later is cheaper
  int32_t pdb_violations = 0;    // violated budgets; compared first
  int32_t highest_priority = 0;  // of the most important victim; compared second
  uint32_t victims = 0;          // compared after the sum

  friend bool operator==(const Cost&, const Cost&) = default;
  friend bool operator<(const Cost& a, const Cost& b) {
    // The later start is cheaper, hence b before a.
    return std::tie(a.pdb_violations, a.highest_priority, a.priority_sum, a.victims, b.earliest_start) <
           std::tie(b.pdb_violations, b.highest_priority, b.priority_sum, b.victims, a.earliest_start);
  }
};

// There must be at least one victim.
Cost CostOf(const framework::Victims& victims, base::Time now);

// The positions of the lowest of `count` costs.
template <class CostAt>
std::vector<size_t> Cheapest(size_t count, CostAt cost_at) {
  std::vector<size_t> best;
  Cost lowest;
  for (size_t i = 0; i < count; ++i) {
    const Cost cost = cost_at(i);
    if (best.empty() || cost < lowest) {
      best.assign(1, i);
      lowest = cost;
    } else if (cost == lowest) {
      best.push_back(i);
    }
  }
  return best;
}

}  // namespace berth::preemption
