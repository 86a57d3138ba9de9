#include "queue/in_flight_events.h"

#include <algorithm>
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
    --CountOf(events_.front().event.event);
    events_.pop_front();
    ++first_;
  }
}

size_t& InFlightEvents::CountOf(const framework::ClusterEvent& event) {
  const auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& kind) { return kind.first == event; });
  return known != kinds_.end() ? known->second : kinds_.emplace_back(event, 0).second;
}

void InFlightEvents::Record(HappenedEvent event) {
  if (in_flight_ == 0) return;
  ++CountOf(event.event);
  events_.push_back({std::exchange(begun_last_, 0), std::move(event)});
}

}  // namespace berth::queue
