// process_*: what the operating system reports about this process, read at each exposition.
#pragma once

#include "metrics/registry.h"

namespace berth::metrics {

void AddProcessMetrics(Registry& registry);

// Start of the process in seconds since 1970; 0 if /proc does not have it.
double ProcessStartTime();

}  // namespace berth::metrics
