// InputClock: the time of the input being processed. All decisions between the beginning and the end of one input use
// the same reading of the clock, so that a driver makes the same decisions when it is given its inputs again. Used on
// the scheduling thread only.
#pragma once

#include <optional>

#include "base/clock.h"

namespace berth::scheduler {

class InputClock final : public base::Clock {
 public:
  explicit InputClock(const base::Clock& clock) : clock_(clock) {}

  base::Time Now() const override { return held_ ? *held_ : clock_.Now(); }
  bool is_held() const { return held_.has_value(); }
  void Hold() { held_ = clock_.Now(); }
  void Release() { held_.reset(); }

 private:
  const base::Clock& clock_;
  std::optional<base::Time> held_;
};

}  // namespace berth::scheduler
