// Which of two running pods is to be spared first.
#pragma once

#include "base/clock.h"
#include "framework/plugin.h"
#include "framework/pod_info.h"

namespace berth::preemption {

// A pod that has not started yet counts as starting now.
base::Time StartTimeOf(const framework::PodInfo& pod, base::Time now);

// A strict weak order: higher priority first, then whoever has been running longer. `now` is read once per search, so
// that the order does not change while it is being used.
struct MoreImportant {
  base::Time now;

  bool operator()(const framework::PodInfo& a, const framework::PodInfo& b) const;
  bool operator()(const framework::PodInfoPtr& a, const framework::PodInfoPtr& b) const { return (*this)(*a, *b); }
};

// There is at least one victim.
const framework::PodInfo& LongestRunningOfMostImportant(const framework::Victims& victims, base::Time now);

}  // namespace berth::preemption
