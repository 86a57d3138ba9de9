// PodBackoff: how long a failed pod must wait before its next attempt: 1 s, 2 s, 4 s, … up to a limit, by how often
// it failed. Ends are rounded down to whole seconds, so that pods whose backoffs end in the same second are taken by
// priority, not by a race of milliseconds.
#pragma once

#include <chrono>

#include "queue/queued_pod.h"

namespace berth::queue {

class PodBackoff {
 public:
  PodBackoff(const base::Clock& clock, base::Duration initial, base::Duration max)
      : clock_(&clock), initial_(initial), max_(max) {}

  // When the pod's backoff ends; Time::min() when it has none.
  base::Time EndOf(QueuedPod& pod) const;
  // The same, without caching it in the pod.
  base::Time EndOf(const QueuedPod& pod) const;
  bool IsBackingOff(QueuedPod& pod) const { return EndOf(pod) >= Window(clock_->Now()); }
  base::Duration After(int failures) const;

  // The first moment at which a backoff that ends at `end` is over.
  static base::Time OverAt(base::Time end) { return end + kWindow; }

 private:
  static constexpr base::Duration kWindow = std::chrono::seconds(1);
  static base::Time Window(base::Time time) { return std::chrono::floor<std::chrono::seconds>(time); }

  const base::Clock* clock_;
  base::Duration initial_;
  base::Duration max_;
};

}  // namespace berth::queue
