// process_*: what the operating system says about this process, read when somebody asks.
#pragma once

#include "metrics/registry.h"

namespace berth::metrics {

void AddProcessMetrics(Registry& registry);

// When the process began, in seconds since 1970; 0 where /proc does not tell.
double ProcessStartTime();

}  // namespace berth::metrics
