// A recording as the input of a shadow.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "configuration_source.h"
#include "framework/registry.h"
#include "live/read_only.h"
#include "scheduler/driver.h"
#include "shadow/shadow.h"

namespace berth::cmd {

struct RecordedTimes {
  base::Time first{};
  base::Time last{};
};

class ShadowedRecording {
 public:
  // `setup` must outlive it.
  static Result<std::unique_ptr<ShadowedRecording>> Create(const SchedulerSetup& setup);

  scheduler::Driver& driver() { return *driver_; }
  // Feeds the last recording in the folder to the shadow, from beginning to end.
  Result<RecordedTimes> Feed(const std::string& folder, shadow::Shadow& shadow);

 private:
  explicit ShadowedRecording(const SchedulerSetup& setup) : setup_(setup) {}

  const SchedulerSetup& setup_;
  base::FakeClock clock_;
  live::ReadOnlyApi api_;
  scheduler::DriverObserver observer_;
  std::unique_ptr<scheduler::Driver> driver_;
};

}  // namespace berth::cmd
