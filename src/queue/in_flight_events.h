// InFlightEvents: what happened in the cluster while pods were being scheduled. A pod that fails is checked against the
// events since it was popped, so that nothing that happens during a cycle is lost.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "framework/events.h"

namespace berth::queue {

struct HappenedEvent {
  framework::ClusterEvent event;
  framework::EventObject before;
  framework::EventObject after;
  // Keep the objects alive for as long as somebody may ask.
  std::shared_ptr<const void> before_owner;
  std::shared_ptr<const void> after_owner;
};

class InFlightEvents {
 public:
  void Begin(const std::string& uid);
  // Forgets the pod, and the events nobody needs any more.
  void End(const std::string& uid);
  bool Contains(const std::string& uid) const { return begun_.contains(uid); }

  // Dropped when no pod is in flight.
  void Record(HappenedEvent event);
  // What happened since the pod's Begin, oldest first; stop by returning false.
  void ForEachSince(const std::string& uid, const std::function<bool(const HappenedEvent&)>& visit) const;
  size_t size() const { return events_.size(); }

 private:
  uint64_t first_ = 0;  // number of events_.front()
  std::deque<HappenedEvent> events_;
  std::unordered_map<std::string, uint64_t> begun_;  // by UID: number of the first event it may have missed
  std::multiset<uint64_t> starts_;
};

}  // namespace berth::queue
