// EventMemory: which events have been seen recently, so that the next similar one becomes part of a series. Bounded in
// size; evicts the least recently seen first. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/coordination.h"
#include "base/clock.h"

namespace berth::client {

struct EventNote;

// Equal for similar events: a digest, because thousands of keys are kept for minutes.
using EventKey = std::array<unsigned char, 16>;
EventKey KeyOf(const EventNote& note, std::string_view reporting_instance);

// What is remembered about a set of similar events.
struct RememberedEvent {
  EventKey key{};
  base::Time time{};      // of the first, on the wall clock
  base::Duration seen{};  // the last one, in the loop's time
  std::string name{};     // "" if it can be derived from the event
  std::string note{};
  // Replaces name and note from the second event on. Allocated separately, because most never have one, and it is
  // large.
  std::unique_ptr<api::Event> series{};
  int32_t written = 0;  // the count that was last sent
};

class EventMemory {
 public:
  using Events = std::list<RememberedEvent>;

  explicit EventMemory(size_t limit) : limit_(limit) {}

  // Null if no similar event is remembered.
  RememberedEvent* Find(const EventKey& key);
  // The event has been seen again.
  void Touch(RememberedEvent& event, base::Duration now);
  void Add(RememberedEvent event);
  void Forget(const EventKey& key);
  bool full() const { return events_.size() >= limit_; }

  // The least recently seen first.
  Events& events() { return events_; }
  size_t size() const { return events_.size(); }

 private:
  struct Hash {
    size_t operator()(const EventKey& key) const {
      size_t hash = 0;
      std::memcpy(&hash, key.data(), sizeof(hash));
      return hash;
    }
  };

  const size_t limit_;
  Events events_;
  std::unordered_map<EventKey, Events::iterator, Hash> by_key_;
};

}  // namespace berth::client
