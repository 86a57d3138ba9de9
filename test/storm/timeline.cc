#include "storm/timeline.h"

#include <algorithm>
#include <utility>

namespace berth::storm {

void Timeline::At(base::Duration when, Task task) {
  heap_.push_back({std::max(when, now_), ++last_order_, std::move(task)});
  std::push_heap(heap_.begin(), heap_.end(), IsLater);
}

bool Timeline::RunOne(base::Duration until) {
  if (heap_.empty() || heap_.front().when > until) {
    now_ = std::max(now_, until);
    return false;
  }
  std::pop_heap(heap_.begin(), heap_.end(), IsLater);
  const Event event = std::move(heap_.back());
  heap_.pop_back();
  now_ = event.when;
  ++events_;
  event.task();
  return true;
}

}  // namespace berth::storm
