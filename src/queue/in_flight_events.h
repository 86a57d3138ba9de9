// InFlightEvents: cluster events received while pods were being scheduled. A pod that fails is checked against the
// events since it was popped, so that no event during a cycle is lost.
//
// Events are numbered. Each records how many pods were popped just before it, so that the oldest event can be dropped
// once no pod popped before it is in flight; every call but ForEachSince takes constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "framework/events.h"

namespace berth::queue {

// A cluster event with the objects it is about.
struct HappenedEvent {
  framework::ClusterEvent event;
  framework::EventObject before;
  framework::EventObject after;
  // Keep the objects alive while hints may read them.
  std::shared_ptr<const void> before_owner;
  std::shared_ptr<const void> after_owner;
};

class InFlightEvents {
 public:
  using Cursor = uint64_t;  // number of the first event the holder may have missed

  Cursor Begin();
  // Ends the flight and drops the events that no pod needs any more.
  void End(Cursor cursor);

  // Dropped when no pod is in flight.
  void Record(HappenedEvent event);
  // The events since Begin, oldest first; `visit` stops by returning false.
  template <class Visit>
  void ForEachSince(Cursor cursor, Visit visit) const {
    for (size_t i = cursor - first_; i < events_.size(); ++i) {
      if (!visit(events_[i].event)) return;
    }
  }
  // How many events of each kind are kept: visit(const ClusterEvent&, size_t). Kinds remain listed with a count of 0.
  template <class Visit>
  void ForEachKind(Visit&& visit) const {
    for (const auto& [event, count] : kinds_) visit(event, count);
  }
  size_t size() const { return events_.size(); }
  size_t in_flight() const { return in_flight_; }

 private:
  size_t& CountOf(const framework::ClusterEvent& event);

  struct Recorded {
    size_t begun_before = 0;  // still in flight, of those that began between the previous event and this one
    HappenedEvent event;
  };

  Cursor first_ = 0;  // number of events_.front()
  std::deque<Recorded> events_;
  size_t begun_last_ = 0;  // still in flight, of those that began after the last event
  size_t in_flight_ = 0;
  std::vector<std::pair<framework::ClusterEvent, size_t>> kinds_;  // a handful
};

}  // namespace berth::queue
