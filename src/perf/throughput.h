// SchedulingThroughput: how many pods were scheduled per second, from the times at which they were.
//
// The time runs from the creation of the first of these pods (or from the start of the collection, for pods that
// existed already) until the last one was scheduled, and Average is all pods divided by that time. It includes failed
// attempts, preemption and waiting.
//
// Upstream samples once a second. Here a whole workload may take milliseconds, so the interval depends on how long it
// took: the longest of 1 s, 100 ms, … 10 µs that yields at least ten intervals. An interval without a pod is merged
// into the next one that has some, which then counts once for each, and percentiles use complete intervals only, both
// as upstream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace berth::perf {

struct ThroughputSummary {
  size_t pods = 0;
  base::Duration span{};      // from the first pod created to the last one scheduled
  base::Duration interval{};  // of the samples
  double average = 0;         // pods/s, as are the percentiles
  double perc50 = 0, perc90 = 0, perc95 = 0, perc99 = 0;
};

// When each pod was scheduled, counted from when the first was created; ascending.
ThroughputSummary SummarizeThroughput(const std::vector<base::Duration>& moments);

}  // namespace berth::perf
