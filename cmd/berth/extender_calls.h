// --extenders: whether a configuration's extenders are called in an in-memory run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/types.h"
#include "flags.h"
#include "live/http_extender.h"

namespace berth::cmd {

void AddExtendersFlag(FlagSet& flags, bool* wanted);

class ExtenderCalls {
 public:
  // Warns on standard error about extenders that are not called. Does not connect yet.
  static Result<ExtenderCalls> Make(const config::KubeSchedulerConfiguration& configuration, bool wanted);

  // For sim::Simulation; valid as long as this.
  std::vector<engine::Extender*> extenders() const;

 private:
  std::unique_ptr<const base::SystemClock> clock_ = std::make_unique<const base::SystemClock>();
  std::vector<std::unique_ptr<live::HttpExtender>> made_;
};

}  // namespace berth::cmd
