// SyncReport: which kinds a scheduler has not listed yet, or not again since it leads, for how long and why. For
// /readyz, and for one log line a minute as long as something is missing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/loop.h"
#include "client/reflector.h"

namespace berth::client {

class SyncReport {
 public:
  // `on_late` is called with what is missing, on the loop, one `patience` after Start and then as often. The reflectors
  // must outlive this.
  SyncReport(base::Loop& loop, std::vector<const Reflector*> reflectors,
             std::function<void(const std::string& missing)> on_late,
             base::Duration patience = std::chrono::minutes(1));
  ~SyncReport();  // `on_late` is not called after this has returned
  SyncReport(const SyncReport&) = delete;
  SyncReport& operator=(const SyncReport&) = delete;

  // Also starts over, when there is something to wait for again. Thread-safe; does not wait for the loop.
  void Start();

  // "pods (for 63s: pods is forbidden), nodes (for 63s)"; "" when every kind has been listed once, and has caught up
  // where that was asked for. Thread-safe.
  std::string Missing() const;

 private:
  void Look();

  base::Loop& loop_;
  const std::vector<const Reflector*> reflectors_;
  const std::function<void(const std::string& missing)> on_late_;
  const base::Duration patience_;
  // Used on the loop's thread only. Shared with what has been posted there.
  const std::shared_ptr<bool> stopped_ = std::make_shared<bool>(false);
  base::TimerId timer_ = 0;  // used on the loop's thread only
};

}  // namespace berth::client
