// Timeline: the single order in which everything in a storm happens. Virtual time only moves to the next event; events
// of the same moment happen in the order they were added. Not thread-safe: a storm is one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace berth::storm {

class Timeline {
 public:
  using Task = std::function<void()>;

  // Since the beginning of the storm.
  base::Duration Now() const { return now_; }
  // A time in the past counts as now.
  void At(base::Duration when, Task task);
  void After(base::Duration delay, Task task) { At(now_ + delay, std::move(task)); }

  // False if nothing is left to happen before `until`; then the time is `until`.
  bool RunOne(base::Duration until);
  void RunUntil(base::Duration until) {
    while (RunOne(until)) continue;
  }
  uint64_t events() const { return events_; }

  // The process whose code is running; "" for the world's own.
  std::string_view actor() const { return actor_; }
  void set_actor(std::string_view actor) { actor_ = actor; }

 private:
  struct Event {
    base::Duration when;
    uint64_t order;
    Task task;
  };
  static bool IsLater(const Event& a, const Event& b) { return a.when != b.when ? a.when > b.when : a.order > b.order; }

  base::Duration now_{};
  uint64_t last_order_ = 0;
  uint64_t events_ = 0;
  std::string_view actor_;
  std::vector<Event> heap_;  // the earliest first
};

}  // namespace berth::storm
