// SchedulingThroughput: how many pods were scheduled a second, from the moments at which each was.
//
// The time runs from the first of these pods that was created (or from the start of the collection, for pods that were
// there already) to the last that was scheduled, and Average is all pods divided by all that time. Attempts that
// failed, preemption and waiting are part of it.
//
// Upstream looks once a second. Here a whole workload may last some milliseconds, so the interval follows from how long
// it lasted: the longest of 1 s, 100 ms, … 10 µs that gives at least ten. An interval without a pod takes part in the
// next one that has some, which then counts once for each, and percentiles are of whole intervals only, both as
// upstream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace berth::perf {

struct ThroughputSummary {
  size_t pods = 0;
  base::Duration span{};      // from the first pod there was to the last that was scheduled
  base::Duration interval{};  // of the samples
  double average = 0;         // pods/s, as are the percentiles
  double perc50 = 0, perc90 = 0, perc95 = 0, perc99 = 0;
};

// When each pod was scheduled, counted from when the first was created; ascending.
ThroughputSummary SummarizeThroughput(const std::vector<base::Duration>& moments);

}  // namespace berth::perf
