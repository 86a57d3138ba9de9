#include "queue/in_flight_events.h"

#include <utility>

namespace berth::queue {

InFlightEvents::Cursor InFlightEvents::Begin() {
  ++in_flight_;
  ++begun_last_;
  return first_ + events_.size();
}

void InFlightEvents::End(Cursor cursor) {
  const size_t index = cursor - first_;
  --(index == events_.size() ? begun_last_ : events_[index].begun_before);
  --in_flight_;
  while (!events_.empty() && events_.front().begun_before == 0) {
    events_.pop_front();
    ++first_;
  }
}

void InFlightEvents::Record(HappenedEvent event) {
  if (in_flight_ == 0) return;
  events_.push_back({std::exchange(begun_last_, 0), std::move(event)});
}

}  // namespace berth::queue
