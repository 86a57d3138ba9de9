// InspectedCluster: a cluster that is only observed through its API, whichever scheduler runs there. What that
// scheduler does is what the API shows of it; the reasons are berth's own.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "live/foreign_history.h"
#include "live/inspected.h"

namespace berth::live {

class InspectedCluster final : public Inspected {
 public:
  struct Sources {
    const scheduler::Driver& driver;  // must outlive it, as must the next two
    const ForeignHistory& history;
    const base::Clock& clock;
    // Runs a function on the thread of the driver.
    std::function<void(std::function<void()>)> post;
    // Any thread: whether every kind has been listed.
    std::function<bool()> is_synced;
    std::string about;  // a line that describes what is shown
  };
  explicit InspectedCluster(Sources sources) : sources_(std::move(sources)) {}

  void Post(std::function<void()> look) override { sources_.post(std::move(look)); }
  std::string NotReady() const override { return sources_.is_synced() ? "" : "the cluster is still being read"; }
  base::Time Now() const override { return sources_.clock.Now(); }
  const scheduler::Driver& driver() const override { return sources_.driver; }
  const scheduler::AttemptJournal* journal() const override { return &sources_.history.journal(); }
  inspect::QueueView Queue(size_t limit, const std::string& name_space) const override;
  inspect::EventsView Events(uint64_t after, size_t limit) const override;
  std::optional<inspect::PodView> Pod(const inspect::PodQuestion& question) const override;

 private:
  const Sources sources_;
};

}  // namespace berth::live
