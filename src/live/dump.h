// Looks at a running scheduler from outside. Each asks the scheduling thread, which answers between two cycles.
#pragma once

#include "live/live_scheduler.h"
#include "serving/pod_resource_metrics.h"

namespace berth::live {

// Nodes, nominations and the queue go to the log. For messages.
void DumpToLog(const SchedulingLoop& loop);

// Every pod the scheduler knows, for /metrics/resources. Waits for the answer, a bounded time.
void WritePodResources(LiveScheduler& scheduler, serving::PodResourceWriter& writer);

}  // namespace berth::live
