#include "queue/in_flight_events.h"

#include <algorithm>

namespace berth::queue {

void InFlightEvents::Begin(const std::string& uid) {
  const uint64_t now = first_ + events_.size();
  if (begun_.emplace(uid, now).second) starts_.insert(now);
}

void InFlightEvents::End(const std::string& uid) {
  const auto it = begun_.find(uid);
  if (it == begun_.end()) return;
  starts_.erase(starts_.find(it->second));
  begun_.erase(it);
  const uint64_t needed_from = starts_.empty() ? first_ + events_.size() : *starts_.begin();
  while (first_ < needed_from) {
    events_.pop_front();
    ++first_;
  }
}

void InFlightEvents::Record(HappenedEvent event) {
  if (!begun_.empty()) events_.push_back(std::move(event));
}

void InFlightEvents::ForEachSince(const std::string& uid,
                                  const std::function<bool(const HappenedEvent&)>& visit) const {
  const auto it = begun_.find(uid);
  if (it == begun_.end()) return;
  for (uint64_t number = it->second; number < first_ + events_.size(); ++number) {
    if (!visit(events_[number - first_])) return;
  }
}

}  // namespace berth::queue
