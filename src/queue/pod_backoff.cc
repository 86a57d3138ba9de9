#include "queue/pod_backoff.h"

namespace berth::queue {

base::Time PodBackoff::EndOf(QueuedPod& pod) const {
  const base::Time end = EndOf(static_cast<const QueuedPod&>(pod));
  if (end != base::Time::min()) pod.backoff_ends = end;
  return end;
}

base::Time PodBackoff::EndOf(const QueuedPod& pod) const {
  const int failures = pod.consecutive_errors > 0 ? pod.consecutive_errors : pod.unschedulable_count;
  if (max_ == base::Duration::zero() || failures == 0) return base::Time::min();
  return pod.backoff_ends ? *pod.backoff_ends : Window(pod.timestamp + After(failures));
}

base::Duration PodBackoff::After(int failures) const {
  if (failures == 0) return base::Duration::zero();
  base::Duration wait = initial_;
  for (int i = 1; i < failures && wait < max_; ++i) wait *= 2;
  return wait < max_ ? wait : max_;
}

}  // namespace berth::queue
