// CustomWatch: passes what a reflector reports about a resource that plugins watch to the scheduling loop. Unread
// changes are bounded by the number of objects, as for other kinds (ChangeBacklog). Thread-safe.
#pragma once

#include <utility>
#include <vector>

#include "client/object_change.h"
#include "framework/custom_objects.h"
#include "live/change_backlog.h"
#include "live/scheduling_loop.h"

namespace berth::live {

class CustomWatch final : public client::ChangeSink {
 public:
  // The loop must not run messages after this is destroyed.
  CustomWatch(SchedulingLoop& loop, framework::EventResource resource) : loop_(loop), resource_(resource) {}

  void OnListing(api::Kind kind, std::vector<client::ObjectChange> changes) override {
    Add(kind, std::move(changes), false);
  }
  void OnChanges(api::Kind kind, std::vector<client::ObjectChange> changes) override {
    Add(kind, std::move(changes), true);
  }
  void OnNotServed(api::Kind) override {
    loop_.Post([this] { loop_.ApplyCustom(resource_, {.is_whole = true}); });
  }

 private:
  void Add(api::Kind kind, std::vector<client::ObjectChange> changes, bool is_whole) {
    if (!backlog_.Add(kind, std::move(changes), is_whole)) return;
    loop_.Post([this, kind] { loop_.ApplyCustom(resource_, backlog_.Take(kind)); });
  }

  SchedulingLoop& loop_;
  const framework::EventResource resource_;
  ChangeBacklog backlog_;
};

}  // namespace berth::live
