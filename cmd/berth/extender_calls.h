// --extenders: whether the extenders of a configuration are asked in a run that happens in memory.
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
  // Warns on standard error about what is not called. Nothing is connected yet.
  static Result<ExtenderCalls> Make(const config::KubeSchedulerConfiguration& configuration, bool wanted);

  // For sim::Simulation; they live as long as this.
  std::vector<engine::Extender*> extenders() const;

 private:
  std::unique_ptr<const base::SystemClock> clock_ = std::make_unique<const base::SystemClock>();
  std::vector<std::unique_ptr<live::HttpExtender>> made_;
};

}  // namespace berth::cmd
