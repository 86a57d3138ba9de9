// Inspected: the subject of the pages below /debug/berth/: a running scheduler, a cluster that is only observed, or a
// recording that is replayed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "inspect/collect.h"
#include "inspect/views.h"
#include "live/scheduling_loop.h"
#include "scheduler/attempt_journal.h"
#include "scheduler/driver.h"

namespace berth::live {

class Inspected {
 public:
  virtual ~Inspected() = default;

  // Any thread: `look` runs on the thread that owns the driver, between cycles.
  virtual void Post(std::function<void()> look) = 0;
  // Any thread: why there is nothing to show yet; empty if there is.
  virtual std::string NotReady() const = 0;

  // Called in looks only.
  virtual base::Time Now() const = 0;
  virtual const scheduler::Driver& driver() const = 0;
  virtual const scheduler::AttemptJournal* journal() const = 0;  // null if none is kept
  virtual inspect::QueueView Queue(size_t limit, const std::string& name_space) const {
    return inspect::CollectQueue(driver(), Now(), limit, name_space);
  }
  virtual inspect::EventsView Events(uint64_t after, size_t limit) const {
    return inspect::CollectEvents(driver(), journal(), Now(), after, limit);
  }
  virtual std::optional<inspect::PodView> Pod(const inspect::PodQuestion& question) const {
    return inspect::CollectPod(driver(), journal(), Now(), question);
  }
};

// A running scheduler.
class InspectedLoop final : public Inspected {
 public:
  // The loop must outlive it.
  explicit InspectedLoop(SchedulingLoop& loop) : loop_(loop) {}

  void Post(std::function<void()> look) override { loop_.Post(std::move(look)); }
  std::string NotReady() const override {
    return loop_.synced() ? "" : "the scheduler has not read the whole cluster yet";
  }
  base::Time Now() const override { return loop_.Now(); }
  const scheduler::Driver& driver() const override { return loop_.driver(); }
  const scheduler::AttemptJournal* journal() const override { return loop_.journal(); }

 private:
  SchedulingLoop& loop_;
};

}  // namespace berth::live
