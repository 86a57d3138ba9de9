#include "preemption/victim_order.h"

#include <algorithm>

#include "base/check.h"

namespace berth::preemption {

base::Time StartTimeOf(const framework::PodInfo& pod, base::Time now) {
  return pod.pod().status.start_time.value_or(now);
}

bool MoreImportant::operator()(const framework::PodInfo& a, const framework::PodInfo& b) const {
  if (a.priority() != b.priority()) return a.priority() > b.priority();
  return StartTimeOf(a, now) < StartTimeOf(b, now);
}

const framework::PodInfo& LongestRunningOfMostImportant(const framework::Victims& victims, base::Time now) {
  CHECK(!victims.pods.empty());
  return **std::min_element(victims.pods.begin(), victims.pods.end(), MoreImportant{now});
}

}  // namespace berth::preemption
