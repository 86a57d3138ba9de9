#include "queue/waiting_pod.h"

#include <utility>

namespace berth::queue {

bool LineOrder::operator()(WaitingPod* a, WaitingPod* b) const {
  if (state_ == PodState::kActive) return ActiveLess(*a, *b);
  if (state_ == PodState::kUnschedulable) {
    const base::Time since_a = a->asleep_since(), since_b = b->asleep_since();
    return since_a != since_b ? since_a < since_b : a->sequence < b->sequence;
  }
  const base::Time ends_a = backoff_->EndOf(*a), ends_b = backoff_->EndOf(*b);
  if (ends_a != ends_b) return ends_a < ends_b;
  return state_ == PodState::kBackoff ? ActiveLess(*a, *b) : a->sequence < b->sequence;
}

bool LineOrder::ActiveLess(const WaitingPod& a, const WaitingPod& b) const {
  const framework::QueuedPodView view_a{*a.pod, a.timestamp}, view_b{*b.pod, b.timestamp};
  if (sort_->Less(view_a, view_b)) return true;
  if (sort_->Less(view_b, view_a)) return false;
  return a.sequence < b.sequence;
}

// Most pods arrived last and belong at the end, so that is tried first.
void EnterLine(Line& line, WaitingPod& pod) {
  pod.position = pod.node.empty() ? line.insert(line.end(), &pod) : line.insert(line.end(), std::move(pod.node));
}

void LeaveLine(Line& line, WaitingPod& pod) { pod.node = line.extract(pod.position); }

}  // namespace berth::queue
