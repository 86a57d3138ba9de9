// Violation: an invariant that does not hold.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"

namespace berth::storm {

struct Violation {
  std::string invariant;  // the same text for every failure of its kind
  std::string message;
  std::vector<std::string> subjects{};  // what to search the trace for
  base::Duration at{};
};

}  // namespace berth::storm
